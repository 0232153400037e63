// Kernel IR's types and constants in SPIR-V, with the capabilities that they need.
//
// A value of up to four lanes is one SPIR-V scalar or vector. A wider one is several vectors of
// four: its *pieces*. Lanes are powers of two, so every piece of a value is equally wide.
#ifndef PRIMSET_CODEGEN_EMIT_SPIRV_TYPES_H_
#define PRIMSET_CODEGEN_EMIT_SPIRV_TYPES_H_

#include <cstdint>

#include "codegen/emit/spirv/module.h"
#include "codegen/kernel/ir/ir.h"

namespace primset::emit::spirv {

enum class Flavour : uint8_t { vulkan, kernel };

inline constexpr uint32_t kMaxPieceLanes = 4;
constexpr uint32_t piece_lanes(kir::Type t) {
  return t.lanes < kMaxPieceLanes ? t.lanes : kMaxPieceLanes;
}
constexpr uint32_t piece_count(kir::Type t) {
  return t.lanes / piece_lanes(t);
}

class Types {
 public:
  Types(Module& module, Flavour flavour) : m_(module), flavour_(flavour) {}

  Id scalar(kir::Scalar s);
  Id vector(kir::Scalar s, uint32_t lanes) { return m_.type_vector(scalar(s), lanes); }
  // A pointer to global memory is a 64-bit address in Vulkan and a pointer to bytes in the Kernel
  // flavour. Workgroup and private pointers are no values in SPIR-V: internal error.
  Id piece(kir::Type t);

  // The element's bit pattern, in every lane.
  Id constant(kir::Scalar s, uint64_t bits);
  Id constant(kir::Scalar s, uint32_t lanes, uint64_t bits);
  // The same of a piece; of pointers and matrices there are zeros only.
  Id constant(kir::Type t, uint64_t bits);

  // Float widths that the module uses, as the sum 16 | 32 | 64.
  uint32_t float_widths() const { return float_widths_; }

 private:
  Id pointer(kir::AddressSpace space);
  Id matrix(kir::Scalar element, kir::MatrixUse use);

  Module& m_;
  Flavour flavour_;
  uint32_t float_widths_ = 0;
};

}  // namespace primset::emit::spirv

#endif  // PRIMSET_CODEGEN_EMIT_SPIRV_TYPES_H_
