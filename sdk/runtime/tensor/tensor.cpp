#include "primset/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sdk/base/small_vector.h"
#include "sdk/runtime/device/pinned_pool.h"
#include "sdk/runtime/graph/capture.h"
#include "sdk/runtime/support/host_state.h"
#include "sdk/runtime/tensor/device_copy.h"
#include "sdk/runtime/tensor/host_copy.h"
#include "sdk/runtime/tensor/scalar_memory.h"
#include "sdk/runtime/tensor/sparse_tensor.h"
#include "sdk/runtime/tensor/tensor_impl.h"

namespace primset {

using runtime::DeviceState;
using runtime::TensorImpl;
using Dims = SmallVector<int64_t, runtime::kInlineRank>;

namespace {

DeviceState& device_for(Device device, DType dtype) {
  DeviceState& state = runtime::device_state(device);
  if (!state.supports(dtype))
    throw Error(ErrorCode::not_implemented,
                fmt::format("{} has no tensors of dtype {}", device.to_string(), name(dtype)));
  return state;
}

Dims dense_strides(IntList sizes) {
  Dims strides;
  strides.resize_uninitialized(sizes.size());
  runtime::contiguous_strides(sizes, strides.span());
  return strides;
}

Tensor make(DeviceState& state, IntList sizes, IntList strides, DType dtype) {
  const uint64_t bytes = runtime::bytes_to_end(sizes, strides, 0, dtype);
  return Tensor(runtime::new_tensor(runtime::new_storage(state, bytes), dtype, sizes, strides, 0));
}

int64_t wrap(int64_t dim, int64_t rank) {
  const int64_t n = std::max<int64_t>(rank, 1);
  if (dim < -n || dim >= n)
    throw Error(ErrorCode::index,
                fmt::format("Dimension out of range (expected to be in range of [{}, {}], but got "
                            "{})",
                            -n, n - 1, dim));
  return dim < 0 ? dim + n : dim;
}

}  // namespace

// --- handles -------------------------------------------------------------------------------------

Tensor::Tensor(const Tensor& o) : impl_(o.impl_) {
  if (impl_) impl_->retain();
}
Tensor::~Tensor() {
  if (impl_) impl_->release();
}

// --- making --------------------------------------------------------------------------------------

Storage Storage::wrap(void* data, uint64_t bytes, Device device, ForeignMemory foreign) {
  DeviceState& state = runtime::device_state(device);
  if (state.is_meta()) throw Error(ErrorCode::value, "from_memory: the meta device has no memory");
  if (!data && bytes != 0) throw Error(ErrorCode::value, "from_memory: data is null");
  return Storage(runtime::import_storage(state, data, bytes, std::move(foreign)));
}

Tensor Tensor::empty(IntList sizes, DType dtype, Device device) {
  return make(device_for(device, dtype), sizes, dense_strides(sizes), dtype);
}

Tensor Tensor::empty_strided(IntList sizes, IntList strides, DType dtype, Device device) {
  return make(device_for(device, dtype), sizes, strides, dtype);
}

Tensor Tensor::from_memory(void* data, IntList sizes, IntList strides, DType dtype, Device device,
                           ForeignMemory foreign) {
  const uint64_t bytes = runtime::bytes_to_end(sizes, strides, 0, dtype);
  const size_t alignment = byte_size(real_type(dtype));
  if (reinterpret_cast<uintptr_t>(data) % alignment != 0)
    throw Error(ErrorCode::value, fmt::format("from_memory: address {} is not a multiple of {}, as "
                                              "{} needs",
                                              data, alignment, name(dtype)));
  device_for(device, dtype);
  return view_of(Storage::wrap(data, bytes, device, std::move(foreign)), dtype, sizes, strides, 0);
}

Tensor Tensor::from_memory(void* data, IntList sizes, DType dtype, Device device,
                           ForeignMemory foreign) {
  return from_memory(data, sizes, dense_strides(sizes), dtype, device, std::move(foreign));
}

Tensor Tensor::view_of(const Storage& storage, DType dtype, IntList sizes, IntList strides,
                       int64_t offset, bool conj, bool neg) {
  runtime::check_extent(sizes, strides, offset, dtype, storage.byte_size());
  storage.impl()->retain();
  TensorImpl* t = runtime::new_tensor(storage.impl(), dtype, sizes, strides, offset);
  t->conj = conj;
  t->neg = neg;
  return Tensor(t);
}

Tensor Tensor::from_host(const void* data, IntList sizes, DType dtype, Device device) {
  Tensor t = empty(sizes, dtype, device);
  if (!t.device().is_meta()) runtime::write_tensor(*t.impl(), static_cast<const std::byte*>(data));
  return t;
}

Tensor Tensor::wrapped_number(const Scalar& value) {
  const DType dtype = runtime::scalar_dtype(value);
  Tensor t = empty({}, dtype, Device::cpu());
  const runtime::DefaultFloatingPoint scope;
  std::byte bytes[16];
  runtime::store_scalar(dtype, value, bytes);
  runtime::write_tensor(*t.impl(), bytes);
  t.impl()->wrapped_number = true;
  return t;
}

void Tensor::check_count(IntList sizes, size_t count) {
  const int64_t expected = runtime::element_count(sizes);
  if (expected != static_cast<int64_t>(count))
    throw Error(ErrorCode::value, fmt::format("Tensor::of: {} values for sizes {}, which need {}",
                                              count, runtime::list_text(sizes), expected));
}

namespace {

const TensorImpl* strided(const TensorImpl* t, std::string_view what) {
  if (t->sparse) [[unlikely]]
    throw Error(ErrorCode::runtime,
                fmt::format("a tensor of layout {} has no {}; take its parts (indices(), values(), "
                            "crow_indices() ...) or to_dense()",
                            layout_name(t->layout()), what));
  return t;
}

// A graph being captured must know that the program saw its sizes.
const TensorImpl* observed(const TensorImpl* t) {
  if (t->captured) [[unlikely]] {
    if (runtime::Capture* capture = runtime::Capture::active()) capture->observe_geometry(*t);
  }
  return t;
}

}  // namespace

// --- queries -------------------------------------------------------------------------------------

Device Tensor::device() const {
  return impl_->device().device();
}
Layout Tensor::layout() const {
  return impl_->layout();
}
DType Tensor::dtype() const {
  return impl_->dtype;
}
int64_t Tensor::dim() const {
  return impl_->rank;
}
std::span<const int64_t> Tensor::sizes() const {
  return observed(impl_)->sizes();
}
std::span<const int64_t> Tensor::strides() const {
  return observed(strided(impl_, "strides"))->strides();
}
int64_t Tensor::size(int64_t d) const {
  return sizes()[static_cast<size_t>(wrap(d, dim()))];
}
int64_t Tensor::stride(int64_t d) const {
  return strides()[static_cast<size_t>(wrap(d, dim()))];
}
int64_t Tensor::numel() const {
  return observed(impl_)->numel();
}
int64_t Tensor::storage_offset() const {
  if (impl_->captured) [[unlikely]] {
    if (runtime::Capture* capture = runtime::Capture::active()) capture->observe_offset(*impl_);
  }
  return impl_->offset;
}
bool Tensor::is_conj() const {
  return impl_->conj;
}
bool Tensor::is_neg() const {
  return impl_->neg;
}
bool Tensor::is_wrapped_number() const {
  return impl_->wrapped_number;
}

namespace {

// Dense with the dims in this order, innermost first; an empty tensor, too, if its strides say so.
bool dense_in_order(const Tensor& t, std::span<const int64_t> order) {
  int64_t step = 1;
  for (int64_t d : order) {
    if (t.size(d) == 1) continue;
    if (t.stride(d) != step) return false;
    step *= t.size(d);
  }
  return true;
}

}  // namespace

bool Tensor::is_contiguous(MemoryFormat format) const {
  switch (format) {
    case MemoryFormat::contiguous:
      return runtime::is_contiguous(sizes(), strides());
    case MemoryFormat::channels_last:
      return dim() == 4 && dense_in_order(*this, std::array<int64_t, 4>{1, 3, 2, 0});
    case MemoryFormat::channels_last_3d:
      return dim() == 5 && dense_in_order(*this, std::array<int64_t, 5>{1, 4, 3, 2, 0});
    case MemoryFormat::preserve:
      break;
  }
  throw Error(ErrorCode::runtime,
              "preserve memory format is unsupported by the contiguous operator");
}

bool Tensor::is_non_overlapping_and_dense() const {
  return internal_overlap() == Overlap::none;
}

Storage Tensor::storage() const {
  strided(impl_, "storage");
  impl_->storage->retain();
  return Storage(impl_->storage);
}
bool Tensor::is_alias_of(const Tensor& o) const {
  return !impl_->sparse && !o.impl_->sparse && impl_->storage == o.impl_->storage;
}
Overlap Tensor::internal_overlap() const {
  return runtime::internal_overlap(*strided(impl_, "strides"));
}
Overlap Tensor::overlap(const Tensor& o) const {
  return runtime::overlap(*strided(impl_, "storage"), *strided(o.impl_, "storage"));
}

// --- data ----------------------------------------------------------------------------------------

void* Tensor::data_ptr() const {
  strided(impl_, "memory of its own");
  if (impl_->captured)
    throw Error(ErrorCode::runtime,
                "a tensor has no memory while a graph is captured; return it instead");
  std::byte* host = impl_->host();
  if (!host && numel() != 0)
    throw Error(ErrorCode::runtime,
                fmt::format("the CPU cannot address memory of {}; use copy_to_host() or cpu()",
                            device().to_string()));
  if (runtime::StreamState* stream = impl_->storage->stream.load();
      stream && !impl_->device().runs_inline())
    stream->synchronize();
  return host;
}

void Tensor::check_dtype(DType expected) const {
  if (dtype() != expected)
    throw Error(ErrorCode::type, fmt::format("expected scalar type {} but found {}",
                                             info(expected).torch_name, info(dtype()).torch_name));
}

void Tensor::copy_to_host(void* target, uint64_t bytes) const {
  strided(impl_, "memory of its own");
  const uint64_t needed = runtime::packed_bytes(sizes(), dtype());
  if (bytes != needed)
    throw Error(ErrorCode::value,
                fmt::format("copy_to_host: the tensor has {} bytes; the target {}", needed, bytes));
  runtime::read_tensor(*impl_, static_cast<std::byte*>(target));
}

void Tensor::copy_from_host(const void* source, uint64_t bytes) {
  strided(impl_, "memory of its own");
  const uint64_t needed = runtime::packed_bytes(sizes(), dtype());
  if (bytes != needed)
    throw Error(ErrorCode::value, fmt::format("copy_from_host: the tensor has {} bytes; the source "
                                              "{}",
                                              needed, bytes));
  runtime::write_tensor(*impl_, static_cast<const std::byte*>(source));
}

Scalar Tensor::item() const {
  if (numel() != 1)
    throw Error(ErrorCode::runtime,
                fmt::format("a Tensor with {} elements cannot be converted to Scalar", numel()));
  std::byte bytes[16];
  copy_to_host(bytes, byte_size(dtype()));
  return runtime::load_scalar(dtype(), bytes);
}

namespace {

// Of a copy without gaps: in the tensor's order of dims where it has one.
Dims copy_strides(const Tensor& t) {
  Dims strides = dense_strides(t.sizes());
  if (t.is_non_overlapping_and_dense()) strides.assign(t.strides());
  return strides;
}

}  // namespace

Tensor Tensor::to(Device target, bool non_blocking) const {
  if (target == device()) return *this;
  if (impl_->sparse) return runtime::sparse_on(*this, target);
  const Dims strides = copy_strides(*this);
  DeviceState& state = impl_->device();
  const bool pinned =
      non_blocking && target.is_cpu() && !state.is_meta() && state.plugin().pinned_memory();
  Tensor out = pinned ? runtime::empty_pinned(sizes(), strides, dtype(), state)
                      : empty_strided(sizes(), strides, dtype(), target);
  if (target.is_meta()) return out;
  runtime::copy_values(*this, out, non_blocking);
  out.impl_->wrapped_number = impl_->wrapped_number;
  return out;
}

Tensor Tensor::pin_memory(Device for_device) const {
  strided(impl_, "memory of its own");
  if (!device().is_cpu())
    throw Error(ErrorCode::runtime,
                fmt::format("cannot pin a tensor of {}: only dense CPU tensors can be pinned",
                            device().to_string()));
  if (is_pinned()) return *this;
  Tensor out = runtime::empty_pinned(sizes(), copy_strides(*this), dtype(),
                                     runtime::device_state(for_device));
  runtime::copy_values(*this, out, false);
  return out;
}

bool Tensor::is_pinned() const {
  if (impl_->sparse || impl_->captured || !device().is_cpu()) return false;
  const std::byte* first = impl_->host();
  return first && runtime::is_pinned_memory(first, runtime::packed_bytes(sizes(), dtype()));
}

Tensor Tensor::as_strided(IntList sizes, IntList strides, int64_t offset) const {
  return view_of(storage(), dtype(), sizes, strides, offset, is_conj(), is_neg());
}

// --- text ----------------------------------------------------------------------------------------

namespace {

struct Printer {
  const Tensor& tensor;
  const std::vector<std::byte>& bytes;
  std::string out;
  size_t next = 0;
  static constexpr int64_t kEdge = 6;  // longer rows show as many at each end

  void element() {
    const size_t width = byte_size(tensor.dtype());
    const Scalar v = runtime::load_scalar(tensor.dtype(), bytes.data() + next++ * width);
    if (tensor.dtype() == DType::u64) {
      out += std::to_string(static_cast<uint64_t>(v.to_int()));
    } else {
      out += v.is_floating() ? fmt::format("{:.6g}", v.to_double()) : to_string(v);
    }
  }
  void row(int64_t d) {
    if (d == tensor.dim()) return element();
    const int64_t n = tensor.size(d);
    size_t below = 1;
    for (int64_t i = d + 1; i < tensor.dim(); ++i) below *= static_cast<size_t>(tensor.size(i));
    out += '[';
    for (int64_t i = 0; i < n; ++i) {
      if (n > 2 * kEdge && i == kEdge) {
        out += ", ...";
        next += below * static_cast<size_t>(n - 2 * kEdge);
        i = n - kEdge;
      }
      if (i > 0) out += ", ";
      row(d + 1);
    }
    out += ']';
  }
};

}  // namespace

std::string to_string(const Tensor& t) {
  if (!t.defined()) return "None";
  if (t.impl()->sparse) return runtime::sparse_text(t);
  std::string type = fmt::format("{}{} on {}", name(t.dtype()), runtime::list_text(t.sizes()),
                                 t.device().to_string());
  if (t.device().is_meta()) return type;
  std::vector<std::byte> bytes(runtime::packed_bytes(t.sizes(), t.dtype()));
  runtime::read_tensor(*t.impl(), bytes.data());
  Printer printer{t, bytes, {}, 0};
  printer.row(0);
  return printer.out + "  " + type;
}

}  // namespace primset
