// libFuzzer: sizes, strides and offsets of tensors and views, on the device without memory. Where a
// tensor is small, what is said of its memory is held against all its elements one by one.
#include <fuzzer/FuzzedDataProvider.h>
#include <primset/device.h>
#include <primset/error.h>
#include <primset/tensor.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "sdk/runtime/tensor/tensor_impl.h"

namespace primset::runtime {
namespace {

using Numbers = std::vector<int64_t>;
constexpr int64_t kFewElements = 4096;

Numbers numbers(FuzzedDataProvider& in, size_t count) {
  Numbers out(count);
  for (int64_t& n : out)
    n = in.ConsumeBool() ? in.ConsumeIntegralInRange<int64_t>(-1, 12)
                         : in.ConsumeIntegral<int64_t>();
  return out;
}

DType any_dtype(FuzzedDataProvider& in) {
  const auto t = static_cast<DType>(in.ConsumeIntegralInRange<int>(0, kDTypeCodes - 1));
  return info(t).bits == 0 ? DType::f32 : t;
}

// Where each element lies, in row-major order.
Numbers offsets_of(const Tensor& t) {
  Numbers out{0};
  for (int64_t d = 0; d < t.dim(); ++d) {
    Numbers next;
    for (const int64_t base : out)
      for (int64_t i = 0; i < t.size(d); ++i)
        next.push_back(base + i * t.strides()[static_cast<size_t>(d)]);
    out = std::move(next);
  }
  return out;
}

void check_elements(const Tensor& t) {
  const bool dense = t.is_contiguous();
  const Overlap overlap = t.internal_overlap();
  if (t.numel() == 0 || t.numel() > kFewElements) return;
  Numbers offsets = offsets_of(t);
  Numbers row(offsets.size());
  for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<int64_t>(i);
  if (dense != (offsets == row)) std::abort();
  std::ranges::sort(offsets);
  if (extent(t.sizes(), t.strides()) != offsets.back() + 1) std::abort();
  const bool distinct = std::ranges::adjacent_find(offsets) == offsets.end();
  if (overlap == Overlap::none && !distinct) std::abort();
  if (overlap == Overlap::full && distinct) std::abort();
}

Tensor any_tensor(FuzzedDataProvider& in) {
  const auto rank = static_cast<size_t>(in.ConsumeIntegralInRange<int>(0, 10));
  const Numbers sizes = numbers(in, rank);
  const DType dtype = any_dtype(in);
  if (in.ConsumeBool()) return Tensor::empty(sizes, dtype, Device::meta());
  // Seldom of another length than the sizes.
  return Tensor::empty_strided(sizes, numbers(in, rank + (in.ConsumeIntegral<uint8_t>() == 1)),
                               dtype, Device::meta());
}

void views_of(FuzzedDataProvider& in, const Tensor& base) {
  while (in.remaining_bytes() > 0) {
    try {
      const auto rank = static_cast<size_t>(in.ConsumeIntegralInRange<int>(0, 5));
      const Numbers sizes = numbers(in, rank), strides = numbers(in, rank);
      const Tensor view = base.as_strided(sizes, strides, numbers(in, 1)[0]);
      check_elements(view);
      view.overlap(base);
      to_string(view);
    } catch (const Error&) {
      // Refused with an error: that is the contract.
    }
  }
}

}  // namespace
}  // namespace primset::runtime

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace primset;
  FuzzedDataProvider in(data, size);
  try {
    const Tensor t = runtime::any_tensor(in);
    runtime::check_elements(t);
    t.is_contiguous(MemoryFormat::channels_last);
    t.is_contiguous(MemoryFormat::channels_last_3d);
    runtime::views_of(in, t);
  } catch (const Error&) {
    // Refused with an error: that is the contract.
  }
  return 0;
}
