// What a Tensor handle points to. Sizes and strides up to rank 8 are inside.
#ifndef PRIMSET_SDK_RUNTIME_TENSOR_TENSOR_IMPL_H_
#define PRIMSET_SDK_RUNTIME_TENSOR_TENSOR_IMPL_H_

#include <primset/tensor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/tensor/sparse_parts.h"
#include "sdk/runtime/tensor/storage.h"

namespace primset::runtime {

inline constexpr size_t kInlineRank = 8;
inline constexpr size_t kMaxRank = 64;  // as ATen's

struct TensorImpl {
  std::atomic<uint32_t> references{1};
  DType dtype = DType::f32;
  bool conj = false, neg = false, wrapped_number = false;
  bool captured = false;  // stands for a value of the graph being captured; has no memory
  uint8_t rank = 0;
  // The layout class as layout_class.h packs it; 0: not computed yet. Of ranks up to 8.
  mutable std::atomic<uint64_t> layout_class{0};
  StorageImpl* storage = nullptr;  // owns one reference
  int64_t offset = 0;              // of the first element, in elements
  // Of a tensor whose layout is sparse, which is made of other tensors; null where it is strided.
  // Its own storage is empty and says the device; its strides mean nothing.
  std::unique_ptr<SparseParts> sparse;

  std::span<const int64_t> sizes() const { return {dims(), rank}; }
  std::span<const int64_t> strides() const { return {dims() + rank, rank}; }
  std::span<int64_t> mutable_sizes() { return {dims(), rank}; }
  std::span<int64_t> mutable_strides() { return {dims() + rank, rank}; }
  // Changes the rank; sizes and strides are then unset.
  void set_rank(size_t r);
  void set_geometry(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                    int64_t storage_offset);

  int64_t numel() const;
  Layout layout() const { return sparse ? sparse->layout : Layout::strided; }
  uint64_t byte_offset() const { return static_cast<uint64_t>(offset) * byte_size(dtype); }
  DeviceState& device() const { return *storage->device; }
  std::byte* host() const {
    return storage->block.host ? storage->block.host + byte_offset() : nullptr;
  }

  void retain() { references.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      storage->release();
      delete this;
    }
  }

 private:
  int64_t* dims() { return heap_ ? heap_.get() : inline_; }
  const int64_t* dims() const { return heap_ ? heap_.get() : inline_; }

  int64_t inline_[2 * kInlineRank];
  std::unique_ptr<int64_t[]> heap_;
};

// Another handle on the tensor, which is counted; the tensor itself is not copied.
Tensor handle_of(const TensorImpl& t);

// Takes over one reference of `storage`. The geometry must fit the storage: see check_extent.
TensorImpl* new_tensor(StorageImpl* storage, DType dtype, std::span<const int64_t> sizes,
                       std::span<const int64_t> strides, int64_t offset);
// A new handle on the same memory, with another geometry.
TensorImpl* new_view(const TensorImpl& base, std::span<const int64_t> sizes,
                     std::span<const int64_t> strides, int64_t offset);

// Every tensor's geometry passes through one of these. They throw Error{runtime} where a size
// or stride is negative, lists differ in length, or a number does not fit 64 bits.
int64_t element_count(std::span<const int64_t> sizes);
// Elements from the first to one past the last reachable; 0 for an empty tensor.
int64_t extent(std::span<const int64_t> sizes, std::span<const int64_t> strides);
// Bytes of memory from its beginning to the last element; 0 for an empty tensor.
uint64_t bytes_to_end(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                      int64_t offset, DType dtype);
// Bytes of all elements one after another, those that strides of 0 repeat as well.
uint64_t packed_bytes(std::span<const int64_t> sizes, DType dtype);

void contiguous_strides(std::span<const int64_t> sizes, std::span<int64_t> strides);
bool is_contiguous(std::span<const int64_t> sizes, std::span<const int64_t> strides);
// And when elements lie outside `storage_bytes`.
void check_extent(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset,
                  DType dtype, uint64_t storage_bytes);
Overlap internal_overlap(const TensorImpl& t);
Overlap overlap(const TensorImpl& a, const TensorImpl& b);
// The very same elements seen the same way.
bool same_view(const TensorImpl& a, const TensorImpl& b);

// "[2, 3]"
std::string list_text(std::span<const int64_t> values);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_TENSOR_TENSOR_IMPL_H_
