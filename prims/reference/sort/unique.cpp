// Distinct entries along the first dim: all of them in order, or the first of each run.
#include <algorithm>
#include <numeric>

#include "prims/reference/operation.h"

namespace primset::prims::reference {
namespace {

class Entries {
 public:
  explicit Entries(const Array& x)
      : x_(x),
        count_(static_cast<size_t>(x.shape[0])),
        width_(count_ ? x.data.size() / count_ : 0) {}

  size_t count() const { return count_; }
  size_t width() const { return width_; }
  const Element& at(size_t i, size_t k) const { return x_.data[i * width_ + k]; }

  // Whether what is computed from numbers is known: a number of which no bits are known may be any.
  bool known() const {
    return std::ranges::none_of(x_.data,
                                [](const Element& e) { return e.undecided || e.error != 0; });
  }

  // NaN is equal to nothing.
  bool equal(size_t i, size_t j) const {
    for (size_t k = 0; k < width_; ++k) {
      const Element &a = at(i, k), &b = at(j, k);
      if (is_nan(a) || is_nan(b) || less(a, b) || less(b, a)) return false;
    }
    return true;
  }

  // Lexicographically, NaN behind all others; what is equal or both NaN keeps its order.
  bool before(size_t i, size_t j) const {
    for (size_t k = 0; k < width_; ++k) {
      const Element &a = at(i, k), &b = at(j, k);
      if (is_nan(a) || is_nan(b)) {
        if (is_nan(a) && is_nan(b)) return i < j;
        return is_nan(b);
      }
      if (less(a, b)) return true;
      if (less(b, a)) return false;
    }
    return i < j;
  }

 private:
  bool less(const Element& a, const Element& b) const { return reference::less(x_.dtype, a, b); }

  const Array& x_;
  size_t count_, width_;
};

template <bool kSorted>
std::vector<Array> unique(NodeRun& run) {
  const Entries x(run.x(0));
  Array entries = run.result(0), inverse = run.result(1), counts = run.result(2),
        count = run.result(3);
  forget(entries), forget(inverse), forget(counts);
  if (!x.known()) return forget(count), std::vector{entries, inverse, counts, count};
  std::vector<size_t> order(x.count());
  std::iota(order.begin(), order.end(), size_t{0});
  if (kSorted) std::ranges::sort(order, [&](size_t i, size_t j) { return x.before(i, j); });
  size_t runs = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !x.equal(order[i - 1], order[i])) {
      for (size_t k = 0; k < x.width(); ++k) entries.data[runs * x.width() + k] = x.at(order[i], k);
      counts.data[runs++] = integer_element(0);
    }
    ++counts.data[runs - 1].integer;
    inverse.data[order[i]] = integer_element(static_cast<int64_t>(runs) - 1);
  }
  count.data[0] = integer_element(static_cast<int64_t>(runs));
  if (!run.flag("return_inverse")) forget(inverse);
  if (!run.flag("return_counts")) forget(counts);
  return {entries, inverse, counts, count};
}

}  // namespace

void add_unique_operations(OperationTable& t) {
  t.set(Prim::unique, unique<true>);
  t.set(Prim::unique_consecutive, unique<false>);
}

}  // namespace primset::prims::reference
