#include "sdk/runtime/tensor/device_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "sdk/runtime/call/dispatch.h"
#include "sdk/runtime/device/pinned_pool.h"
#include "sdk/runtime/device/stream_order.h"
#include "sdk/runtime/graph/capture.h"
#include "sdk/runtime/support/process_end.h"
#include "sdk/runtime/tensor/host_copy.h"

namespace primset::runtime {
namespace {

// What a device without a way to another one copies at a time: while one piece is written to the
// target, the next is read from the source.
constexpr uint64_t kPieceBytes = 4 << 20;

// Memory of a tensor from its first element on.
struct Place {
  explicit Place(const TensorImpl& t)
      : storage(t.storage), offset(t.storage->block.offset + t.byte_offset()) {}

  primset_buffer buffer() const { return storage->block.buffer; }
  DeviceState& device() const { return *storage->device; }

  StorageImpl* storage;
  uint64_t offset;
};

bool is_on_host(const TensorImpl& t) {
  return t.device().runs_inline() && t.host();
}

// Work of the place's device in order after what used it last: f(stream), under its lock.
template <typename F>
void enqueue(const Place& place, F f) {
  StreamState& stream = place.device().current_stream();
  StreamLock lock(stream);
  StorageImpl* storages[] = {place.storage};
  order_after_last_use(lock, stream, storages);
  f(stream);
  stream.hazards().restart({}, false);
}

// --- by the host ---------------------------------------------------------------------------------

void write_from(const std::byte* source, const Place& target, uint64_t bytes, bool non_blocking) {
  PinnedPool& pinned = target.device().pinned();
  const bool only_enqueued = non_blocking && pinned.contains(source, bytes);
  enqueue(target, [&](StreamState& stream) {
    if (!only_enqueued)
      return stream.handle().copy_in(target.buffer(), target.offset, source, bytes);
    stream.handle().copy_in_pinned(target.buffer(), target.offset, source, bytes);
    pinned.used_by(source, stream.handle());
  });
}

// Enqueues the copy to pinned memory; false where the memory is not.
bool enqueue_read(const Place& source, std::byte* target, uint64_t bytes) {
  PinnedPool& pinned = source.device().pinned();
  if (!pinned.contains(target, bytes)) return false;
  enqueue(source, [&](StreamState& stream) {
    stream.handle().copy_out_pinned(source.buffer(), source.offset, target, bytes);
    pinned.used_by(target, stream.handle());
  });
  return true;
}

// --- between devices -----------------------------------------------------------------------------

// In order on both sides: what uses the source later, or its memory, waits for the copy.
void copy_from_peer(const Place& source, const Place& target, uint64_t bytes) {
  StreamState& from = source.device().current_stream();
  {
    StreamLock lock(from);
    StorageImpl* storages[] = {source.storage};
    order_after_last_use(lock, from, storages);
  }
  StreamState& to = target.device().current_stream();
  StreamLock lock(to);
  StorageImpl* storages[] = {target.storage};
  order_after_last_use(lock, to, storages);
  StreamState* others[] = {&from};
  lock.with(others, [&] {
    to.wait_for(from);
    to.handle().copy_from_peer(target.buffer(), target.offset, source.buffer(), source.offset,
                               bytes);
    to.hazards().restart({}, false);
    from.follow(to);
    from.hazards().restart({}, false);
  });
}

// Two pieces of memory of the host: pinned where the source's device has such.
class Pieces {
 public:
  Pieces(DeviceState& device, uint64_t bytes) : device_(device) {
    for (std::byte*& piece : pieces_) {
      if (device.plugin().pinned_memory())
        piece = device.pinned().allocate(bytes);
      else
        piece = memory_.emplace_back(new std::byte[bytes]).get();
    }
  }
  ~Pieces() {
    for (std::byte* piece : pieces_)
      if (memory_.empty() && piece) device_.pinned().release(piece);
  }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  std::byte* operator[](uint64_t i) const { return pieces_[i % 2]; }

 private:
  DeviceState& device_;
  std::array<std::byte*, 2> pieces_{};
  std::vector<std::unique_ptr<std::byte[]>> memory_;
};

void copy_by_pieces(Place source, Place target, uint64_t bytes) {
  const Pieces pieces(source.device(), std::min(bytes, kPieceBytes));
  const uint64_t first_source = source.offset, first_target = target.offset;
  const auto size_of = [&](uint64_t i) { return std::min(kPieceBytes, bytes - i * kPieceBytes); };
  const uint64_t count = (bytes + kPieceBytes - 1) / kPieceBytes;
  const auto read = [&](uint64_t i) {
    source.offset = first_source + i * kPieceBytes;
    if (enqueue_read(source, pieces[i], size_of(i))) return;
    enqueue(source, [&](StreamState& stream) {
      stream.handle().copy_out(source.buffer(), source.offset, pieces[i], size_of(i));
    });
  };
  read(0);
  for (uint64_t i = 0; i < count; ++i) {
    // The piece is there, and errors of the work that made the source are known.
    source.device().current_stream().synchronize();
    if (i + 1 < count) read(i + 1);
    target.offset = first_target + i * kPieceBytes;
    write_from(pieces[i], target, size_of(i), false);
  }
}

}  // namespace

bool same_bytes(const TensorImpl& source, const TensorImpl& target) {
  return source.dtype == target.dtype && !source.sparse && !target.sparse &&
         source.conj == target.conj && source.neg == target.neg &&
         std::ranges::equal(source.sizes(), target.sizes()) &&
         std::ranges::equal(source.strides(), target.strides()) &&
         internal_overlap(source) == Overlap::none;
}

void copy_bytes(const TensorImpl& source, const TensorImpl& target, bool non_blocking) {
  const CallScope scope;
  require_data(source);
  const uint64_t bytes = packed_bytes(source.sizes(), source.dtype);
  if (bytes == 0) {
    std::byte nothing;
    return read_tensor(source, &nothing);  // its errors are told
  }
  if (is_on_host(source)) {
    if (is_on_host(target))
      return static_cast<void>(std::memcpy(target.host(), source.host(), bytes));
    return write_from(source.host(), Place(target), bytes, non_blocking);
  }
  const Place from(source);
  if (is_on_host(target)) {
    if (non_blocking && enqueue_read(from, target.host(), bytes)) return;
    return read_extent(source, target.host());
  }
  if (from.device().plugin().reaches(target.device().plugin()))
    return copy_from_peer(from, Place(target), bytes);
  copy_by_pieces(from, Place(target), bytes);
}

void copy_values(const Tensor& source, const Tensor& target, bool non_blocking) {
  const bool as_it_lies = source.numel() == 0 || same_bytes(*source.impl(), *target.impl());
  const Tensor values = as_it_lies ? source : dense_copy(source);
  copy_bytes(*values.impl(), *target.impl(), non_blocking);
}

Tensor dense_copy(const Tensor& tensor) {
  const TensorImpl& t = *tensor.impl();
  require_data(t);
  const bool dense = internal_overlap(t) == Overlap::none;
  if (!Capture::active()) {
    try {
      const Arg args[] = {tensor, dense ? MemoryFormat::preserve : MemoryFormat::contiguous};
      return call_operator("clone", args);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::not_implemented && e.code() != ErrorCode::out_of_memory) throw;
    }
  }
  std::vector<std::byte> packed(packed_bytes(t.sizes(), t.dtype));
  read_tensor(t, packed.data());
  Tensor out = dense ? Tensor::empty_strided(t.sizes(), t.strides(), t.dtype, Device::cpu())
                     : Tensor::empty(t.sizes(), t.dtype, Device::cpu());
  write_tensor(*out.impl(), packed.data());
  return out;
}

Tensor empty_pinned(IntList sizes, IntList strides, DType dtype, DeviceState& device) {
  const uint64_t bytes = std::max<uint64_t>(1, bytes_to_end(sizes, strides, 0, dtype));
  device.current_stream();  // throws in a child of the process that opened the device
  PinnedPool& pool = device.pinned();
  // The tensor's memory of now: it may grow.
  auto memory = std::make_shared<std::byte*>(pool.allocate(bytes));
  ForeignMemory foreign;
  foreign.deleter = [&pool, memory] { pool.release(*memory); };
  foreign.grow = [&pool, memory, had = bytes](uint64_t wanted) mutable -> void* {
    std::byte* const bigger = pool.allocate(wanted);
    std::memcpy(bigger, *memory, std::min(had, wanted));
    pool.release(std::exchange(*memory, bigger));
    had = wanted;
    return bigger;
  };
  return Tensor::from_memory(*memory, sizes, strides, dtype, Device::cpu(), std::move(foreign));
}

}  // namespace primset::runtime
