#include "sdk/runtime/plan/layout_class.h"

#include <array>

namespace primset::runtime {

void classify(std::span<const int64_t> sizes, std::span<const int64_t> strides,
              std::span<DimClass> classes, std::span<uint8_t> order) {
  const size_t rank = sizes.size();
  // Insertion sort: ranks are small and memory is mostly in order. Equal strides keep their order.
  for (size_t d = 0; d < rank; ++d) {
    size_t at = d;
    for (; at > 0 && strides[order[at - 1]] < strides[d]; --at) order[at] = order[at - 1];
    order[at] = static_cast<uint8_t>(d);
  }
  int64_t step = 1;  // stride * size of the next inner dim that is neither of size 1 nor expanded
  for (size_t p = rank; p-- > 0;) {
    const size_t d = order[p];
    DimClass& c = classes[d];
    c.position = static_cast<uint8_t>(p);
    c.size = sizes[d] == 0   ? DimClass::Size::zero
             : sizes[d] == 1 ? DimClass::Size::one
                             : DimClass::Size::symbol;
    c.stride = strides[d] == 0      ? DimClass::Stride::zero
               : strides[d] == 1    ? DimClass::Stride::one
               : strides[d] == step ? DimClass::Stride::merged
                                    : DimClass::Stride::symbol;
    if (c.stride != DimClass::Stride::zero && c.size == DimClass::Size::symbol)
      step = strides[d] * sizes[d];
  }
}

uint64_t packed_layout(const TensorImpl& tensor) {
  uint64_t packed = tensor.layout_class.load(std::memory_order_relaxed);
  if (packed != 0) return packed;
  std::array<DimClass, kInlineRank> classes;
  std::array<uint8_t, kInlineRank> order;
  const size_t rank = tensor.rank;
  classify(tensor.sizes(), tensor.strides(), std::span(classes).first(rank),
           std::span(order).first(rank));
  packed = uint64_t{1} << 63;
  for (size_t d = 0; d < rank; ++d) packed |= classes[d].packed() << (7 * d);
  tensor.layout_class.store(packed, std::memory_order_relaxed);
  return packed;
}

}  // namespace primset::runtime
