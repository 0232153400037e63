#include "sdk/runtime/tensor/tensor_impl.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "sdk/base/small_vector.h"

namespace primset::runtime {

std::string list_text(std::span<const int64_t> values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

void TensorImpl::set_rank(size_t r) {
  if (r > kMaxRank)
    throw Error(ErrorCode::runtime,
                fmt::format("a tensor has at most {} dimensions; got {}", kMaxRank, r));
  if (r > kInlineRank) {
    heap_ = std::make_unique<int64_t[]>(2 * r);
  } else {
    heap_.reset();
  }
  rank = static_cast<uint8_t>(r);
  layout_class.store(0, std::memory_order_relaxed);
}

void TensorImpl::set_geometry(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                              int64_t storage_offset) {
  SmallVector<int64_t, 2 * kInlineRank> copy(sizes);  // the spans may be this tensor's own
  copy.append(strides);
  set_rank(sizes.size());
  std::copy(copy.begin(), copy.end(), dims());
  offset = storage_offset;
}

int64_t TensorImpl::numel() const {
  uint64_t n = 1;  // beside a size of 0, others may multiply to anything
  for (int64_t s : sizes()) n *= static_cast<uint64_t>(s);
  return std::ranges::find(sizes(), 0) == sizes().end() ? static_cast<int64_t>(n) : 0;
}

Tensor handle_of(const TensorImpl& t) {
  auto& impl = const_cast<TensorImpl&>(t);
  impl.retain();
  return Tensor(&impl);
}

TensorImpl* new_tensor(StorageImpl* storage, DType dtype, std::span<const int64_t> sizes,
                       std::span<const int64_t> strides, int64_t offset) {
  const auto release = [](TensorImpl* made) { made->release(); };  // the storage with it
  std::unique_ptr<TensorImpl, decltype(release)> t(new TensorImpl);
  t->storage = storage;
  t->dtype = dtype;
  t->set_rank(sizes.size());
  std::copy(sizes.begin(), sizes.end(), t->mutable_sizes().begin());
  std::copy(strides.begin(), strides.end(), t->mutable_strides().begin());
  t->offset = offset;
  return t.release();
}

TensorImpl* new_view(const TensorImpl& base, std::span<const int64_t> sizes,
                     std::span<const int64_t> strides, int64_t offset) {
  base.storage->retain();
  TensorImpl* t = new_tensor(base.storage, base.dtype, sizes, strides, offset);
  t->conj = base.conj;
  t->neg = base.neg;
  return t;
}

int64_t element_count(std::span<const int64_t> sizes) {
  int64_t n = 1;
  bool overflow = false;
  for (int64_t s : sizes) {
    if (s < 0)
      throw Error(ErrorCode::runtime, fmt::format("Trying to create tensor with negative "
                                                  "dimension {}: {}",
                                                  s, list_text(sizes)));
    overflow |= __builtin_mul_overflow(n, s, &n);
  }
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  if (overflow)
    throw Error(
        ErrorCode::runtime,
        fmt::format("numel: integer multiplication overflow for sizes {}", list_text(sizes)));
  return n;
}

int64_t extent(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  if (sizes.size() != strides.size())
    throw Error(ErrorCode::runtime,
                fmt::format("mismatch in length of strides and shape: {} and {}",
                            list_text(strides), list_text(sizes)));
  if (element_count(sizes) == 0) return 0;
  int64_t last = 0;
  bool overflow = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (strides[d] < 0)
      throw Error(ErrorCode::runtime,
                  fmt::format("as_strided: Negative strides are not supported at the moment, got "
                              "strides: {}",
                              list_text(strides)));
    int64_t reach = 0;
    overflow |= __builtin_mul_overflow(sizes[d] - 1, strides[d], &reach);
    overflow |= __builtin_add_overflow(last, reach, &last);
  }
  if (overflow || last == INT64_MAX)
    throw Error(ErrorCode::runtime, fmt::format("sizes {} with strides {} reach beyond 64 bits",
                                                list_text(sizes), list_text(strides)));
  return last + 1;
}

uint64_t bytes_to_end(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                      int64_t offset, DType dtype) {
  if (offset < 0)
    throw Error(ErrorCode::runtime, fmt::format("Tensor: invalid storage offset {}", offset));
  const int64_t reach = extent(sizes, strides);
  if (reach == 0) return 0;
  int64_t bytes = 0;
  if (__builtin_add_overflow(reach, offset, &bytes) ||
      __builtin_mul_overflow(bytes, static_cast<int64_t>(byte_size(dtype)), &bytes))
    throw Error(ErrorCode::runtime,
                fmt::format("Storage size calculation overflowed with sizes={}, strides={}, "
                            "storage_offset={} and dtype {}",
                            list_text(sizes), list_text(strides), offset, info(dtype).name));
  return static_cast<uint64_t>(bytes);
}

// Without strides that are 0, elements are more than what memory has.
uint64_t packed_bytes(std::span<const int64_t> sizes, DType dtype) {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(element_count(sizes), static_cast<int64_t>(byte_size(dtype)), &bytes))
    throw Error(ErrorCode::out_of_memory,
                fmt::format("the elements of sizes {} and dtype {} do not fit any memory",
                            list_text(sizes), info(dtype).name));
  return static_cast<uint64_t>(bytes);
}

void contiguous_strides(std::span<const int64_t> sizes, std::span<int64_t> strides) {
  int64_t step = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = step;
    // Sizes whose product is too large are refused where the elements are counted.
    if (__builtin_mul_overflow(step, std::max<int64_t>(sizes[d], 1), &step)) step = INT64_MAX;
  }
}

bool is_contiguous(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  int64_t step = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 0) return true;
  }
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 1) continue;
    if (strides[d] != step) return false;
    step *= sizes[d];
  }
  return true;
}

void check_extent(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset,
                  DType dtype, uint64_t storage_bytes) {
  const uint64_t bytes = bytes_to_end(sizes, strides, offset, dtype);
  if (bytes > storage_bytes)
    throw Error(ErrorCode::runtime,
                fmt::format("setStorage: sizes {}, strides {}, storage offset {}, and itemsize {} "
                            "requiring a storage size of {} are out of bounds for storage of size "
                            "{}",
                            list_text(sizes), list_text(strides), offset, byte_size(dtype), bytes,
                            storage_bytes));
}

bool same_view(const TensorImpl& a, const TensorImpl& b) {
  if (&a == &b) return true;
  return a.storage == b.storage && a.offset == b.offset && a.dtype == b.dtype && a.conj == b.conj &&
         a.neg == b.neg && std::ranges::equal(a.sizes(), b.sizes()) &&
         std::ranges::equal(a.strides(), b.strides());
}

namespace {

bool non_overlapping_and_dense(const TensorImpl& t) {
  SmallVector<int64_t, kInlineRank> order;
  for (int64_t d = 0; d < t.rank; ++d) {
    if (t.sizes()[d] == 0) return true;
    if (t.sizes()[d] != 1) order.push_back(d);
  }
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return t.strides()[a] < t.strides()[b]; });
  int64_t step = 1;
  for (int64_t d : order) {
    if (t.strides()[d] != step) return false;
    step *= t.sizes()[d];
  }
  return true;
}

}  // namespace

// As ATen's has_internal_overlap: certain answers only for the common cases.
Overlap internal_overlap(const TensorImpl& t) {
  if (non_overlapping_and_dense(t)) return Overlap::none;
  for (size_t d = 0; d < t.rank; ++d) {
    if (t.strides()[d] == 0 && t.sizes()[d] > 1) return Overlap::full;
  }
  return Overlap::unknown;
}

// As ATen's get_overlap_status.
Overlap overlap(const TensorImpl& a, const TensorImpl& b) {
  if (&a == &b) return Overlap::full;
  if (a.storage != b.storage || a.numel() == 0 || b.numel() == 0) return Overlap::none;
  if (!non_overlapping_and_dense(a) || !non_overlapping_and_dense(b)) {
    if (same_view(a, b)) return Overlap::full;
    return Overlap::unknown;
  }
  auto begin = [](const TensorImpl& t) { return t.byte_offset(); };
  auto end = [](const TensorImpl& t) {
    return t.byte_offset() + static_cast<uint64_t>(t.numel()) * byte_size(t.dtype);
  };
  if (begin(a) == begin(b) && end(a) == end(b))
    return std::ranges::equal(a.strides(), b.strides()) ? Overlap::full : Overlap::partial;
  return begin(a) < end(b) && begin(b) < end(a) ? Overlap::partial : Overlap::none;
}

}  // namespace primset::runtime
