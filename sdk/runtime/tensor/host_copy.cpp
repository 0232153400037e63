#include "sdk/runtime/tensor/host_copy.h"
#include "sdk/runtime/support/process_end.h"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "sdk/runtime/device/stream_order.h"
#include "sdk/runtime/tensor/scalar_memory.h"

namespace primset::runtime {
namespace {

// Calls f(packed element index, element offset in memory, run length) for each innermost run.
template <typename F>
void for_each_run(std::span<const int64_t> sizes, std::span<const int64_t> strides, F f) {
  for (int64_t s : sizes) {
    if (s == 0) return;
  }
  if (sizes.empty()) return f(int64_t{0}, int64_t{0}, int64_t{1}, int64_t{1});
  const size_t inner = sizes.size() - 1;
  std::vector<int64_t> index(sizes.size(), 0);
  int64_t packed = 0, offset = 0;
  for (;;) {
    f(packed, offset, sizes[inner], strides[inner]);
    packed += sizes[inner];
    size_t d = inner;
    while (d-- > 0) {
      offset += strides[d];
      if (++index[d] < sizes[d]) break;
      offset -= strides[d] * sizes[d];
      index[d] = 0;
    }
    if (d == SIZE_MAX) return;
  }
}

template <bool kPack>
void copy_strided(const std::byte* from, std::span<const int64_t> sizes,
                  std::span<const int64_t> strides, size_t bytes, std::byte* to) {
  for_each_run(sizes, strides, [&](int64_t packed, int64_t offset, int64_t count, int64_t stride) {
    const auto width = static_cast<int64_t>(bytes);
    const std::byte* source = from + (kPack ? offset : packed) * width;
    std::byte* target = to + (kPack ? packed : offset) * width;
    if (stride == 1) {
      std::memcpy(target, source, static_cast<size_t>(count) * bytes);
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(target + (kPack ? i : i * stride) * width,
                  source + (kPack ? i * stride : i) * width, bytes);
    }
  });
}

void apply_bits(const TensorImpl& t, std::byte* packed) {
  if (!t.conj && !t.neg) return;
  const size_t bytes = byte_size(t.dtype);
  for (int64_t i = 0, n = t.numel(); i < n; ++i, packed += bytes) {
    const Scalar v = load_scalar(t.dtype, packed);
    std::complex<double> z = v.to_complex();
    if (t.conj) z = std::conj(z);
    if (t.neg) z = -z;
    if (v.is_complex())
      store_scalar(t.dtype, Scalar(z), packed);
    else if (v.is_floating())
      store_scalar(t.dtype, Scalar(z.real()), packed);
    else
      store_scalar(t.dtype, Scalar(-v.to_int()), packed);
  }
}

uint64_t extent_bytes(const TensorImpl& t) {
  return bytes_to_end(t.sizes(), t.strides(), 0, t.dtype);
}

void write_extent(const TensorImpl& t, const std::byte* from) {
  StreamState& stream = t.device().current_stream();
  StreamLock lock(stream);
  StorageImpl* storages[] = {t.storage};
  order_after_last_use(lock, stream, storages);
  stream.handle().copy_in(t.storage->block.buffer, t.storage->block.offset + t.byte_offset(), from,
                          extent_bytes(t));
  stream.hazards().restart({}, false);
}

}  // namespace

void require_data(const TensorImpl& t) {
  if (t.captured)
    throw Error(ErrorCode::runtime,
                "a tensor's values are not known while a graph is captured; return it instead");
  if (t.device().is_meta())
    throw Error(ErrorCode::not_implemented, "Cannot copy out of meta tensor; no data!");
}

void read_extent(const TensorImpl& t, std::byte* to) {
  StreamState& stream = t.device().current_stream();
  {
    StreamLock lock(stream);
    StorageImpl* storages[] = {t.storage};
    order_after_last_use(lock, stream, storages);
    if (const uint64_t bytes = extent_bytes(t)) {
      stream.handle().copy_out(t.storage->block.buffer, t.storage->block.offset + t.byte_offset(),
                               to, bytes);
    } else {
      stream.handle().synchronize();
    }
    stream.hazards().clear();
    stream.report_errors();
  }
  stream.report_awaited_errors();
}

void pack(const std::byte* from, std::span<const int64_t> sizes, std::span<const int64_t> strides,
          size_t element_bytes, std::byte* to) {
  copy_strided<true>(from, sizes, strides, element_bytes, to);
}

void unpack(const std::byte* from, std::span<const int64_t> sizes, std::span<const int64_t> strides,
            size_t element_bytes, std::byte* to) {
  copy_strided<false>(from, sizes, strides, element_bytes, to);
}

void read_tensor(const TensorImpl& t, std::byte* to) {
  const CallScope scope;
  require_data(t);
  const size_t bytes = byte_size(t.dtype);
  if (t.numel() == 0) {
    if (!t.device().runs_inline()) read_extent(t, to);
    return;
  }
  if (t.device().runs_inline() && t.host()) {
    pack(t.host(), t.sizes(), t.strides(), bytes, to);
  } else if (is_contiguous(t.sizes(), t.strides())) {
    read_extent(t, to);
  } else {
    std::vector<std::byte> memory(extent_bytes(t));
    read_extent(t, memory.data());
    pack(memory.data(), t.sizes(), t.strides(), bytes, to);
  }
  apply_bits(t, to);
}

void write_tensor(const TensorImpl& t, const std::byte* from) {
  const CallScope scope;
  require_data(t);
  if (t.numel() == 0) return;
  const size_t bytes = byte_size(t.dtype);
  std::vector<std::byte> turned;
  if (t.conj || t.neg) {
    turned.assign(from, from + packed_bytes(t.sizes(), t.dtype));
    apply_bits(t, turned.data());  // both bits undo themselves
    from = turned.data();
  }
  if (t.device().runs_inline() && t.host()) {
    unpack(from, t.sizes(), t.strides(), bytes, t.host());
  } else if (is_contiguous(t.sizes(), t.strides())) {
    write_extent(t, from);
  } else {
    // The gaps belong to other tensors: they are read and written back as they are.
    std::vector<std::byte> memory(extent_bytes(t));
    read_extent(t, memory.data());
    unpack(from, t.sizes(), t.strides(), bytes, memory.data());
    write_extent(t, memory.data());
  }
}

}  // namespace primset::runtime
