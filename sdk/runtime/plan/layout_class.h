// The layout class of a tensor: which of its sizes and strides are constants of the plan, which
// follow from others, and which are symbols that each call gives a value. It is part of a plan's
// key.
//
//   sizes    0 and 1 are constants of the class, any other is a symbol
//   strides  0 and 1 are constants; a stride equal to stride * size of the next inner dim follows
//            from it (contiguous memory: everything follows); any other is a symbol
//   order    the dims by decreasing stride
#ifndef PRIMSET_SDK_RUNTIME_PLAN_LAYOUT_CLASS_H_
#define PRIMSET_SDK_RUNTIME_PLAN_LAYOUT_CLASS_H_

#include <cstdint>
#include <span>

#include "sdk/runtime/tensor/tensor_impl.h"

namespace primset::runtime {

struct DimClass {
  enum class Size : uint8_t { zero = 0, one = 1, symbol = 2 };
  enum class Stride : uint8_t { zero = 0, one = 1, merged = 2, symbol = 3 };
  Size size = Size::symbol;
  Stride stride = Stride::symbol;
  uint8_t position = 0;  // in the order of decreasing strides

  constexpr uint64_t packed() const {
    return uint64_t{position} << 4 | uint64_t(stride) << 2 | uint64_t(size);
  }
};

// One entry a dim. `order`, of the same length, receives the dims from outermost to innermost.
void classify(std::span<const int64_t> sizes, std::span<const int64_t> strides,
              std::span<DimClass> classes, std::span<uint8_t> order);

// All dims of a tensor of rank up to 8 in one word, never 0. Cached in the tensor.
uint64_t packed_layout(const TensorImpl& tensor);

// The numbers of a tensor that its class leaves symbolic.
enum class NumberKind : uint8_t { size, stride, offset };

// Calls f(kind, dim, value) for each of them, in the order of a call's numbers. packed(d): the
// class of dim d (DimClass::packed), with anything above its seven bits.
template <typename Packed, typename F>
void for_each_number(const TensorImpl& t, bool with_offset, Packed packed, F f) {
  for (size_t d = 0; d < t.rank; ++d) {
    if ((packed(d) & 3) == static_cast<uint64_t>(DimClass::Size::symbol))
      f(NumberKind::size, d, t.sizes()[d]);
  }
  for (size_t d = 0; d < t.rank; ++d) {
    if ((packed(d) >> 2 & 3) == static_cast<uint64_t>(DimClass::Stride::symbol))
      f(NumberKind::stride, d, t.strides()[d]);
  }
  if (with_offset) f(NumberKind::offset, 0, t.offset);
}

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_PLAN_LAYOUT_CLASS_H_
