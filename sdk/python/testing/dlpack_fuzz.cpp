// libFuzzer: the struct of a DLPack capsule, its every member chosen by the input; where it is
// taken over, a tensor of that geometry, on the device without memory.
#include <fuzzer/FuzzedDataProvider.h>
#include <primset/device.h>
#include <primset/error.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "sdk/python/dlpack_import.h"

namespace primset::python {
namespace {

std::vector<int64_t> numbers(FuzzedDataProvider& in, size_t count) {
  std::vector<int64_t> out(count);
  for (int64_t& n : out)
    n = in.ConsumeBool() ? in.ConsumeIntegralInRange<int64_t>(-1, 5)
                         : in.ConsumeIntegral<int64_t>();
  return out;
}

void take_over(const dlpack::Tensor& d) {
  const ImportedGeometry g = imported_geometry(d);
  const Tensor t = Tensor::empty_strided(g.sizes, g.strides, g.dtype, Device::meta());
  if ((t.numel() == 0) != g.empty()) std::abort();
  t.is_contiguous();
  t.is_non_overlapping_and_dense();
  to_string(t);
}

}  // namespace
}  // namespace primset::python

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace primset::python;
  FuzzedDataProvider in(data, size);
  dlpack::Tensor d{};
  d.device = {in.ConsumeBool() ? int32_t{1} : in.ConsumeIntegral<int32_t>(), 0};
  d.ndim =
      in.ConsumeBool() ? in.ConsumeIntegralInRange<int32_t>(0, 6) : in.ConsumeIntegral<int32_t>();
  d.dtype = {in.ConsumeIntegralInRange<uint8_t>(0, 20), in.ConsumeIntegral<uint8_t>(),
             static_cast<uint16_t>(in.ConsumeIntegralInRange<int>(0, 2))};
  d.byte_offset = in.ConsumeBool() ? 0 : in.ConsumeIntegral<uint64_t>();
  // Just as long as ndim says, so that a read behind the end is seen; a rank that nobody may
  // believe has no lists at all.
  const size_t rank = d.ndim >= 0 && d.ndim <= 64 ? static_cast<size_t>(d.ndim) : 0;
  std::vector<int64_t> shape = numbers(in, rank), strides = numbers(in, rank);
  int64_t memory = 0;
  d.shape = in.ConsumeBool() || rank == 0 ? shape.data() : nullptr;
  d.strides = in.ConsumeBool() ? strides.data() : nullptr;
  d.data = in.ConsumeBool() ? &memory : nullptr;
  try {
    take_over(d);
  } catch (const primset::Error&) {
    // Refused with an error: that is the contract.
  }
  return 0;
}
