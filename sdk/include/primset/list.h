// Parameters of operators that are lists: views of the caller's memory, as std::span.
#ifndef PRIMSET_LIST_H_
#define PRIMSET_LIST_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

namespace primset {

// Binds to {2, 3}, vectors, arrays and spans. Use it for parameters only: what it binds to must
// outlive the call.
template <typename T>
class List {
 public:
  constexpr List() = default;
  List(std::initializer_list<T> list) : List(std::span<const T>(list.begin(), list.size()), 0) {}
  template <typename Range>
    requires std::convertible_to<const Range&, std::span<const T>>
  List(const Range& r) : List(std::span<const T>(r), 0) {}  // NOLINT: any list of T
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](size_t i) const { return data_[i]; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  operator std::span<const T>() const { return {data_, size_}; }  // NOLINT

 private:
  List(std::span<const T> s, int) : data_(s.data()), size_(s.size()) {}

  const T* data_ = nullptr;
  size_t size_ = 0;
};

using IntList = List<int64_t>;  // sizes, strides, dims

// A list that may be absent: nullopt, or whatever a List binds to.
template <typename T>
class OptionalList : public std::optional<List<T>> {
 public:
  constexpr OptionalList() = default;
  constexpr OptionalList(std::nullopt_t) {}  // NOLINT: as all below
  OptionalList(std::initializer_list<T> list) : std::optional<List<T>>(List<T>(list)) {}
  OptionalList(const List<T>& list) : std::optional<List<T>>(list) {}
  template <typename Range>
    requires std::convertible_to<const Range&, std::span<const T>>
  OptionalList(const Range& r) : std::optional<List<T>>(List<T>(r)) {}
};

}  // namespace primset

#endif  // PRIMSET_LIST_H_
