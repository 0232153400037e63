// The four types that factorizations and triangular systems are computed in. Libraries have a
// function for each.
#ifndef PRIMSET_BACKENDS_CUDA_LIBRARIES_NUMBER_TYPE_H_
#define PRIMSET_BACKENDS_CUDA_LIBRARIES_NUMBER_TYPE_H_

#include <primset/plugin.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "backends/cuda/libraries/data_type.h"

namespace primset_cuda {

struct NumberType {
  size_t index;  // S, D, C, Z
  DataType type, real;
  int64_t words;       // of 32 bits, of an element
  int64_t part_words;  // of its real part

  int64_t bytes() const { return 4 * words; }
  int64_t real_bytes() const { return 4 * part_words; }
  bool is_complex() const { return words != part_words; }
};

inline std::optional<NumberType> number_type(uint32_t dtype) {
  switch (dtype) {
    case PRIMSET_F32:
      return NumberType{0, DataType::f32, DataType::f32, 1, 1};
    case PRIMSET_F64:
      return NumberType{1, DataType::f64, DataType::f64, 2, 2};
    case PRIMSET_C64:
      return NumberType{2, DataType::c64, DataType::f32, 2, 1};
    case PRIMSET_C128:
      return NumberType{3, DataType::c128, DataType::f64, 4, 2};
    default:
      return std::nullopt;
  }
}

// A function for each type. All take pointers to numbers as pointers to anything.
template <typename Function>
using ForEachType = std::array<Function*, 4>;

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_LIBRARIES_NUMBER_TYPE_H_
