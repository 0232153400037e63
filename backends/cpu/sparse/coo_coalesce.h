// The primitive coo_coalesce: entries sorted by their place among all elements, digit by digit, and
// those of one place added up in the order that they came in.
#ifndef PRIMSET_BACKENDS_CPU_SPARSE_COO_COALESCE_H_
#define PRIMSET_BACKENDS_CPU_SPARSE_COO_COALESCE_H_

#include <bit>
#include <numeric>

#include "backends/cpu/sparse/sampled_matmul.h"

namespace primset_cpu {

// An entry's place in the dense tensor, and which entry it is.
struct PlacedEntry {
  uint64_t place;
  int64_t number;
};

// By place, of which `most` is the greatest: from the last digit to the first, each in a pass that
// keeps the order of equal ones.
inline void sort_by_place(std::vector<PlacedEntry>& entries, uint64_t most) {
  constexpr int kBits = 11;
  constexpr uint64_t kDigits = uint64_t{1} << kBits;
  if (std::ranges::is_sorted(entries, {}, &PlacedEntry::place)) return;
  std::vector<PlacedEntry> other(entries.size());
  for (int shift = 0; shift < static_cast<int>(std::bit_width(most)); shift += kBits) {
    std::vector<int64_t> next(kDigits + 1);
    const auto digit = [&](const PlacedEntry& e) { return (e.place >> shift) & (kDigits - 1); };
    for (const PlacedEntry& e : entries) ++next[digit(e) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (const PlacedEntry& e : entries) other[static_cast<size_t>(next[digit(e)]++)] = e;
    entries.swap(other);
  }
}

template <typename T, typename Index>
class CooCoalesceCall {
 public:
  explicit CooCoalesceCall(const primset_primitive_call& call)
      : indices_(call.operands[0]),
        values_(call.operands[1]),
        merged_(data_at<int64_t>(call.results[0])),
        sums_(data_at<T>(call.results[1])),
        count_(data_at<int64_t>(call.results[2])),
        dims_(indices_.sizes[0]),
        entries_(indices_.sizes[1]) {
    for (uint32_t d = 1; d < values_.rank; ++d) width_ *= values_.sizes[d];
    for (uint32_t i = 0; i < call.attr_count; ++i)
      if (std::string_view(call.attrs[i].name) == "sizes") sizes_ = call.attrs[i].value.ints;
  }

  void run(ThreadPool&) {
    find_places();
    sort_by_place(sorted_, most_);
    primset_backend::Dims all(values_.rank);
    std::iota(all.begin(), all.end(), 0);
    const std::vector<int64_t> offsets =
        is_dense(values_) ? std::vector<int64_t>() : primset_backend::offsets_of(values_, all);
    int64_t groups = 0;
    for (int64_t i = 0; i < entries_; ++i) {
      const PlacedEntry& e = sorted_[static_cast<size_t>(i)];
      const bool begins = i == 0 || e.place != sorted_[static_cast<size_t>(i) - 1].place;
      if (begins) copy_indices(e.number, groups++);
      add_values(e.number, groups - 1, begins, offsets);
    }
    *count_ = groups;
    // What is behind them is defined nowhere, but a bool's byte is 0 or 1.
    std::fill(sums_ + groups * width_, sums_ + entries_ * width_, T{});
    for (int64_t d = 0; d < dims_; ++d)
      std::fill(merged_ + d * entries_ + groups, merged_ + (d + 1) * entries_, 0);
  }

 private:
  Index index(int64_t dim, int64_t entry) const {
    return data_at<const Index>(indices_)[dim * indices_.strides[0] + entry * indices_.strides[1]];
  }

  void find_places() {
    sorted_.resize(static_cast<size_t>(entries_));
    for (int64_t i = 0; i < entries_; ++i) {
      uint64_t place = 0;
      for (int64_t d = 0; d < dims_; ++d)
        place = place * static_cast<uint64_t>(sizes_[d]) + static_cast<uint64_t>(index(d, i));
      sorted_[static_cast<size_t>(i)] = {place, i};
      most_ = std::max(most_, place);
    }
  }

  void copy_indices(int64_t from, int64_t to) {
    for (int64_t d = 0; d < dims_; ++d) merged_[d * entries_ + to] = index(d, from);
  }

  void add_values(int64_t from, int64_t to, bool begins, const std::vector<int64_t>& offsets) {
    const T* const data = data_at<const T>(values_);
    for (int64_t w = 0; w < width_; ++w) {
      const int64_t at = from * width_ + w;
      const T& x = data[offsets.empty() ? at : offsets[static_cast<size_t>(at)]];
      T& sum = sums_[to * width_ + w];
      if (begins)
        sum = x;
      else if constexpr (std::is_same_v<T, uint8_t>)
        sum = values_.dtype == PRIMSET_BOOL ? sum | x : static_cast<T>(sum + x);
      else
        add_to(sum, x);
    }
  }

  const primset_tensor &indices_, &values_;
  int64_t* const merged_;
  T* const sums_;
  int64_t* const count_;
  const int64_t dims_, entries_;
  const int64_t* sizes_ = nullptr;
  int64_t width_ = 1;  // elements of an entry
  uint64_t most_ = 0;  // the greatest place
  std::vector<PlacedEntry> sorted_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SPARSE_COO_COALESCE_H_
