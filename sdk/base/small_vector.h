// A vector of trivially copyable elements with inline storage for N: keys, sizes and launch tables
// of ordinary calls allocate no heap memory.
#ifndef PRIMSET_SDK_BASE_SMALL_VECTOR_H_
#define PRIMSET_SDK_BASE_SMALL_VECTOR_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>

namespace primset {

template <typename T, size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SmallVector() : data_(inline_data()) {}
  explicit SmallVector(std::span<const T> values) : SmallVector() { append(values); }
  SmallVector(std::initializer_list<T> values) : SmallVector() {
    append(std::span<const T>(values.begin(), values.size()));
  }
  SmallVector(const SmallVector& o) : SmallVector(std::span<const T>(o)) {}
  SmallVector(SmallVector&& o) noexcept : SmallVector() { take(o); }
  template <typename Iterator>
  SmallVector(Iterator begin, Iterator end) : SmallVector() {
    for (; begin != end; ++begin) push_back(*begin);
  }
  SmallVector& operator=(const SmallVector& o) {
    if (this != &o) assign(o);
    return *this;
  }
  SmallVector& operator=(SmallVector&& o) noexcept {
    if (this != &o) take(o);
    return *this;
  }

  void push_back(const T& value) {
    if (size_ == capacity_) [[unlikely]] {
      const T copy = value;
      grow(size_ + 1);
      data_[size_++] = copy;
      return;
    }
    data_[size_++] = value;
  }
  // New elements are left unset.
  void resize_uninitialized(size_t size) {
    if (size > capacity_) grow(size);
    size_ = size;
  }
  void resize(size_t size, T value = T{}) {
    const size_t old = size_;
    resize_uninitialized(size);
    if (size > old) std::fill(data_ + old, data_ + size, value);
  }
  void append(std::span<const T> values) {
    const size_t old = size_;
    resize_uninitialized(size_ + values.size());
    if (!values.empty()) std::memcpy(data_ + old, values.data(), values.size() * sizeof(T));
  }
  void assign(std::span<const T> values) {
    size_ = 0;
    append(values);
  }
  void clear() { size_ = 0; }
  void pop_back() { --size_; }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  const T* end() const { return data_ + size_; }
  operator std::span<const T>() const { return {data_, size_}; }  // NOLINT
  std::span<T> span() { return {data_, size_}; }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  T* inline_data() { return reinterpret_cast<T*>(inline_); }
  // What `o` has, which is empty then.
  void take(SmallVector& o) noexcept {
    if (o.heap_) {
      heap_ = std::move(o.heap_);
      data_ = heap_.get();
      capacity_ = o.capacity_;
      size_ = o.size_;
      o.data_ = o.inline_data();
      o.capacity_ = N;
    } else {
      // Capacity is N at least, so nothing is allocated.
      size_ = o.size_;
      std::memcpy(data_, o.data_, size_ * sizeof(T));
    }
    o.size_ = 0;
  }
  void grow(size_t needed) {
    const size_t capacity = std::max(needed, capacity_ * 2);
    std::unique_ptr<T[]> heap(new T[capacity]);
    if (size_) std::memcpy(heap.get(), data_, size_ * sizeof(T));
    heap_ = std::move(heap);
    data_ = heap_.get();
    capacity_ = capacity;
  }

  T* data_;
  size_t size_ = 0, capacity_ = N;
  std::unique_ptr<T[]> heap_;
  alignas(T) std::byte inline_[N * sizeof(T)];
};

}  // namespace primset

#endif  // PRIMSET_SDK_BASE_SMALL_VECTOR_H_
