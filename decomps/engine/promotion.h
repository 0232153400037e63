// ATen's type promotion.
#ifndef PRIMSET_DECOMPS_ENGINE_PROMOTION_H_
#define PRIMSET_DECOMPS_ENGINE_PROMOTION_H_

#include <cstdint>
#include <span>

#include "primset/dtype.h"

namespace primset::decomps {

// ATen's result_type over the categories dimensioned tensor, rank-0 tensor, wrapped number.
struct PromotionOperand {
  DType dtype;
  enum class Category : uint8_t { dimensioned, zero_dim, number } category;
};
DType result_type(std::span<const PromotionOperand> operands);
DType promote_types(DType a, DType b);

bool can_cast(DType from, DType to);  // complex > floating > integral > bool

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_PROMOTION_H_
