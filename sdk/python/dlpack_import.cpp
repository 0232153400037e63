#include "sdk/python/dlpack_import.h"

#include <primset/device.h>

#include <algorithm>
#include <string>

namespace primset::python {
namespace {

bool reads_as_cpu(dlpack::Device d) {
  return d.type == dlpack::kCpu || d.type == dlpack::kCudaHost;
}

void check_claims(const dlpack::Tensor& d) {
  constexpr int32_t kMostDims = 64;
  constexpr uint64_t kMostBytes = uint64_t{1} << 47;  // of a process's address space
  if (d.ndim < 0 || d.ndim > kMostDims)
    throw Error(ErrorCode::value, "from_dlpack: " + std::to_string(d.ndim) +
                                      " dims; expected 0 to " + std::to_string(kMostDims));
  if (d.ndim > 0 && !d.shape)
    throw Error(ErrorCode::value, "from_dlpack: " + std::to_string(d.ndim) + " dims and no shape");
  for (int32_t i = 0; i < d.ndim; ++i) {
    if (d.shape[i] < 0)
      throw Error(ErrorCode::value, "from_dlpack: the size of dim " + std::to_string(i) + " is " +
                                        std::to_string(d.shape[i]));
  }
  const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(d.data));
  if (d.byte_offset > kMostBytes || address + d.byte_offset > kMostBytes)
    throw Error(ErrorCode::value, "from_dlpack: a byte offset of " + std::to_string(d.byte_offset) +
                                      " leads out of the address space");
}

}  // namespace

dlpack::DataType to_dlpack_type(DType t) {
  return {info(t).dlpack_code, static_cast<uint8_t>(bits(t)), 1};
}

DType from_dlpack_type(dlpack::DataType t) {
  if (t.lanes == 1) {
    for (int code = 0; code < kDTypeCodes; ++code) {
      const auto candidate = static_cast<DType>(code);
      if (info(candidate).bits == 0) continue;
      const dlpack::DataType d = to_dlpack_type(candidate);
      if (d.code == t.code && d.bits == t.bits) return candidate;
    }
  }
  throw Error(ErrorCode::type, "from_dlpack: no dtype holds DLPack's type code " +
                                   std::to_string(t.code) + " of " + std::to_string(t.bits) +
                                   " bits and " + std::to_string(t.lanes) + " lanes");
}

bool ImportedGeometry::empty() const {
  return std::ranges::find(sizes, 0) != sizes.end();
}

ImportedGeometry imported_geometry(const dlpack::Tensor& d) {
  if (!reads_as_cpu(d.device))
    throw Error(ErrorCode::runtime, "from_dlpack: the tensor is on a device of DLPack's type " +
                                        std::to_string(d.device.type) +
                                        "; only CPU memory (1) can be taken over");
  check_claims(d);
  ImportedGeometry g{from_dlpack_type(d.dtype), nullptr, {}, {}};
  if (d.ndim > 0) g.sizes = {d.shape, static_cast<size_t>(d.ndim)};
  g.strides.resize(g.sizes.size());
  if (d.strides)
    std::copy_n(d.strides, g.sizes.size(), g.strides.begin());
  else if (d.ndim > 0)
    std::ranges::copy(Tensor::empty(g.sizes, g.dtype, primset::Device::meta()).strides(),
                      g.strides.begin());
  if (g.empty()) return g;
  if (!d.data) throw Error(ErrorCode::value, "from_dlpack: elements and no memory: data is null");
  g.data = static_cast<char*>(d.data) + d.byte_offset;
  return g;
}

}  // namespace primset::python
