// Intrinsics that answer a question about tensors, dtypes and numbers: without a plan, and inside
// of a captured graph, too, which has the geometry of its tensors.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "decomps/engine/promotion.h"
#include "sdk/runtime/call/call.h"
#include "sdk/runtime/call/intrinsics.h"
#include "sdk/runtime/plan/key.h"
#include "sdk/runtime/tensor/scalar_memory.h"

namespace primset::runtime {
namespace {

const TensorImpl& self(const Call& call) {
  return *call.tensor(0);
}

Tensor self_handle(const Call& call) {
  return handle_of(self(call));
}

// The dim that a call names, from the end where it is negative.
size_t named_dim(const Call& call) {
  const int64_t dim = call.args[1].integer, rank = self(call).rank;
  if (rank == 0)
    throw Error(ErrorCode::index,
                fmt::format("Dimension specified as {} but tensor has no dimensions", dim));
  if (dim < -rank || dim >= rank)
    throw Error(ErrorCode::index, fmt::format("Dimension out of range (expected to be in range of "
                                              "[{}, {}], but got {})",
                                              -rank, rank - 1, dim));
  return static_cast<size_t>(dim < 0 ? dim + rank : dim);
}

DType dtype_argument(const Call& call, size_t i) {
  return static_cast<DType>(call.args[i].integer);
}

decomps::PromotionOperand promoted(const Call& call, size_t i) {
  using Category = decomps::PromotionOperand::Category;
  const TensorImpl* t = call.tensor(i);
  if (!t) return {scalar_dtype(scalar_of(call.args[i])), Category::number};
  if (t->wrapped_number) return {t->dtype, Category::number};
  return {t->dtype, t->rank == 0 ? Category::zero_dim : Category::dimensioned};
}

}  // namespace

void intrinsics::dim(Call& call) {
  call.value = Value(int64_t{self(call).rank});
}
void intrinsics::numel(Call& call) {
  call.value = Value(self(call).numel());
}
void intrinsics::size(Call& call) {
  call.value = Value(self(call).sizes()[named_dim(call)]);
}
void intrinsics::stride(Call& call) {
  call.value = Value(self(call).strides()[named_dim(call)]);
}
void intrinsics::storage_offset(Call& call) {
  call.value = Value(self(call).offset);
}
void intrinsics::is_contiguous(Call& call) {
  const auto format = call.args.size() > 1 ? static_cast<MemoryFormat>(call.args[1].integer)
                                           : MemoryFormat::contiguous;
  call.value = Value(format != MemoryFormat::preserve && self_handle(call).is_contiguous(format));
}
void intrinsics::is_same_size(Call& call) {
  call.value = Value(std::ranges::equal(self(call).sizes(), call.tensor(1)->sizes()));
}

void intrinsics::is_complex(Call& call) {
  call.value = Value(primset::is_complex(self(call).dtype));
}
void intrinsics::is_floating_point(Call& call) {
  call.value = Value(is_floating(self(call).dtype));
}
void intrinsics::is_signed(Call& call) {
  const DType t = self(call).dtype;
  const bool no_sign = is_floating(t) && !info(t).format.has_sign();
  call.value = Value(!is_bool(t) && !is_unsigned_integer(t) && !no_sign);
}
void intrinsics::is_conj(Call& call) {
  call.value = Value(self(call).conj);
}
void intrinsics::is_neg(Call& call) {
  call.value = Value(self(call).neg);
}

void intrinsics::can_cast(Call& call) {
  call.value = Value(decomps::can_cast(dtype_argument(call, 0), dtype_argument(call, 1)));
}
void intrinsics::promote_types(Call& call) {
  call.value = Value(decomps::promote_types(dtype_argument(call, 0), dtype_argument(call, 1)));
}
void intrinsics::result_type(Call& call) {
  const std::array operands = {promoted(call, 0), promoted(call, 1)};
  call.value = Value(decomps::result_type(operands));
}

}  // namespace primset::runtime
