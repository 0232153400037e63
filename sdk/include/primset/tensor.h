// Tensors: a handle to memory of a device with a dtype, sizes and strides.
//
//   float data[6] = {1, 2, 3, 4, 5, 6};
//   Tensor a = Tensor::from_memory(data, {2, 3}, DType::f32);        // no copy
//   Tensor b = Tensor::of<float>({10, 20, 30}, {3}, "vulkan:0");     // copied to the device
//   std::vector<float> host = b.to_vector<float>();
//
// Copying a Tensor copies the handle. Views share the Storage of their base. Strides and offsets
// count elements. Threads: any number of threads may copy handles and read tensors; a write to a
// tensor needs the caller's synchronisation, as with any object.
#ifndef PRIMSET_TENSOR_H_
#define PRIMSET_TENSOR_H_

#include <primset/device.h>
#include <primset/dtype.h>
#include <primset/error.h>
#include <primset/export.h>
#include <primset/formats.h>
#include <primset/list.h>
#include <primset/scalar.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace primset {

namespace runtime {
struct StorageImpl;
struct TensorImpl;
}  // namespace runtime

// The dtype that holds values of the C++ type T.
template <typename T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::boolean;
  else if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::f64;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return DType::c64;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return DType::c128;
  else {
    static_assert(std::is_integral_v<T>, "no dtype holds this type");
    constexpr bool is_signed = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1)
      return is_signed ? DType::i8 : DType::u8;
    else if constexpr (sizeof(T) == 2)
      return is_signed ? DType::i16 : DType::u16;
    else if constexpr (sizeof(T) == 4)
      return is_signed ? DType::i32 : DType::u32;
    else
      return is_signed ? DType::i64 : DType::u64;
  }
}

// Callbacks for wrapped memory, all optional.
struct ForeignMemory {
  // Called once, when the last tensor on the memory is gone and no device work uses it.
  std::function<void()> deleter;
  // Called when an out= operator needs more bytes: returns memory of at least that size that begins
  // with the old contents. Without it, growing is an error.
  std::function<void*(uint64_t bytes)> grow;
};

// Typeless memory of one device. Two tensors with the same Storage are views of each other.
class PRIMSET_API Storage {
 public:
  Storage() = default;
  explicit Storage(runtime::StorageImpl* impl);  // takes over one reference
  Storage(const Storage& o);
  Storage(Storage&& o) noexcept : impl_(std::exchange(o.impl_, nullptr)) {}
  Storage& operator=(Storage o) noexcept {
    std::swap(impl_, o.impl_);
    return *this;
  }
  ~Storage();

  // Wraps memory of the caller, who keeps it alive; see Tensor::from_memory.
  static Storage wrap(void* data, uint64_t bytes, Device device, ForeignMemory foreign = {});

  bool defined() const { return impl_ != nullptr; }
  Device device() const;
  uint64_t byte_size() const;
  // Does it wrap memory of the caller?
  bool is_foreign() const;
  // The CPU's address of the first byte; null where the CPU cannot reach it.
  void* host_address() const;
  runtime::StorageImpl* impl() const { return impl_; }
  friend bool operator==(const Storage& a, const Storage& b) { return a.impl_ == b.impl_; }

 private:
  runtime::StorageImpl* impl_ = nullptr;
};

enum class Overlap : uint8_t { none, full, partial, unknown };

class PRIMSET_API Tensor {
 public:
  // An undefined tensor: None, where an operator takes Tensor?.
  Tensor() = default;
  explicit Tensor(runtime::TensorImpl* impl) : impl_(impl) {}  // takes over one reference
  Tensor(const Tensor& o);
  Tensor(Tensor&& o) noexcept : impl_(std::exchange(o.impl_, nullptr)) {}
  Tensor& operator=(Tensor o) noexcept {
    std::swap(impl_, o.impl_);
    return *this;
  }
  ~Tensor();

  // --- making tensors ----------------------------------------------------------------------------
  // Contents are undefined.
  static Tensor empty(IntList sizes, DType dtype, Device device = current_device());
  static Tensor empty_strided(IntList sizes, IntList strides, DType dtype,
                              Device device = current_device());
  // Wraps memory of the caller, who keeps it alive (or passes a deleter). The device is the CPU, or
  // one that imports host memory; else Error{not_implemented}. `data` is the first element, aligned
  // to the dtype; strides are not negative.
  static Tensor from_memory(void* data, IntList sizes, IntList strides, DType dtype,
                            Device device = Device::cpu(), ForeignMemory foreign = {});
  static Tensor from_memory(void* data, IntList sizes, DType dtype, Device device = Device::cpu(),
                            ForeignMemory foreign = {});
  // A tensor on a storage with this geometry; the offset counts elements from the storage's start.
  static Tensor view_of(const Storage& storage, DType dtype, IntList sizes, IntList strides,
                        int64_t offset, bool conj = false, bool neg = false);
  // Copies packed row-major elements to the device.
  static Tensor from_host(const void* data, IntList sizes, DType dtype,
                          Device device = current_device());
  template <typename T>
  static Tensor of(std::initializer_list<T> values, IntList sizes,
                   Device device = current_device()) {
    return of(std::span<const T>(values.begin(), values.size()), sizes, device);
  }
  template <typename T>
  static Tensor of(std::span<const T> values, IntList sizes, Device device = current_device()) {
    check_count(sizes, values.size());
    return from_host(values.data(), sizes, dtype_of<T>(), device);
  }
  // A Scalar passed where an operator takes a tensor: rank 0, on the CPU, with the lowest priority
  // in promotion.
  static Tensor wrapped_number(const Scalar& value);

  // --- what it is --------------------------------------------------------------------------------
  bool defined() const { return impl_ != nullptr; }
  explicit operator bool() const { return defined(); }
  Device device() const;
  DType dtype() const;
  int64_t dim() const;
  std::span<const int64_t> sizes() const;
  std::span<const int64_t> strides() const;  // in elements
  int64_t size(int64_t dim) const;           // dim may be negative
  int64_t stride(int64_t dim) const;
  int64_t numel() const;
  int64_t storage_offset() const;  // of the first element, in elements
  // Tensors of another layout than strided are made of others, which the operators indices, values,
  // crow_indices and so on give. They have no strides, no storage and no memory of their own: what
  // asks for these throws Error{runtime}.
  Layout layout() const;
  bool is_conj() const;  // values are the conjugates of those in memory
  bool is_neg() const;   // values are the negatives of those in memory
  bool is_wrapped_number() const;
  bool is_contiguous(MemoryFormat format = MemoryFormat::contiguous) const;
  // Each element has memory of its own and there are no gaps, in whatever order of dims.
  bool is_non_overlapping_and_dense() const;
  Storage storage() const;
  bool is_alias_of(const Tensor& other) const;  // same Storage
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }

  // Two elements of this tensor may share memory (expanded, as_strided).
  Overlap internal_overlap() const;
  // Memory shared with another tensor; `full` when both see exactly the same elements.
  Overlap overlap(const Tensor& other) const;

  // --- data --------------------------------------------------------------------------------------
  // The CPU's address of the first element, after waiting for the device; throws Error{runtime}
  // where the CPU cannot reach it.
  void* data_ptr() const;
  template <typename T>
  T* data() const {
    check_dtype(dtype_of<T>());
    return static_cast<T*>(data_ptr());
  }
  // Copies the elements, packed row-major; conj and neg bits are applied. Waits for the device.
  void copy_to_host(void* target, uint64_t bytes) const;
  void copy_from_host(const void* source, uint64_t bytes);
  template <typename T>
  std::vector<T> to_vector() const {
    check_dtype(dtype_of<T>());
    std::vector<T> out(static_cast<size_t>(numel()));
    copy_to_host(out.data(), out.size() * sizeof(T));
    return out;
  }
  // The value of a tensor of one element.
  Scalar item() const;
  // A copy on another device, dense, in the same order of dims; this tensor itself if it is there
  // already. With non_blocking a copy from pinned memory returns before it is done, and so does one
  // to the CPU, into memory that is pinned: do not write the one nor read the other before the
  // device was synchronized.
  Tensor to(Device device, bool non_blocking = false) const;
  // A copy of a CPU tensor in page-locked memory that `device` copies from and to by itself; this
  // tensor itself if its memory is pinned already, for any device. Throws Error{not_implemented}
  // where the device's plugin has none (PRIMSET_EXT_PINNED_MEMORY).
  Tensor pin_memory(Device device) const;
  bool is_pinned() const;
  Tensor cpu() const { return to(Device::cpu()); }
  // Another view of the same memory; the offset counts from the storage's start.
  Tensor as_strided(IntList sizes, IntList strides, int64_t offset) const;

  runtime::TensorImpl* impl() const { return impl_; }
  runtime::TensorImpl* release() { return std::exchange(impl_, nullptr); }

 private:
  static void check_count(IntList sizes, size_t count);
  void check_dtype(DType expected) const;

  runtime::TensorImpl* impl_ = nullptr;
};

// The values in rows, with dtype, sizes and device.
PRIMSET_API std::string to_string(const Tensor& tensor);

template <>
inline std::vector<bool> Tensor::to_vector<bool>() const {
  check_dtype(DType::boolean);
  std::vector<uint8_t> bytes(static_cast<size_t>(numel()));
  copy_to_host(bytes.data(), bytes.size());
  return {bytes.begin(), bytes.end()};
}

}  // namespace primset

#endif  // PRIMSET_TENSOR_H_
