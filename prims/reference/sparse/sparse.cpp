// Sparse arrays entry by entry.
#include <algorithm>
#include <map>

#include "prims/reference/accumulate.h"
#include "prims/reference/operation.h"

namespace primset::prims::reference {
namespace {

bool known(const Array& a) {
  return std::ranges::none_of(a.data, &Element::undecided);
}

int64_t integer_at(const Array& a, int64_t i) {
  return a.data[static_cast<size_t>(i)].integer;
}

bool ascends(std::span<const Element> numbers) {
  return std::ranges::is_sorted(numbers, {}, &Element::integer);
}

// Pointers of rows that share all entries among them.
bool share_entries(const Array& pointers, int64_t entries) {
  return known(pointers) && ascends(pointers.data) && !pointers.data.empty() &&
         pointers.data.front().integer == 0 && pointers.data.back().integer == entries;
}

// Of numbers that do not ascend it is what some binary search finds.
std::vector<Array> compress_rows(NodeRun& run) {
  Array pointers = run.result(0);
  if (!known(run.x(0)) || !ascends(run.x(0).data))
    return forget(pointers), std::vector{std::move(pointers)};
  int64_t row = 0;
  for (Element& p : pointers.data) {
    const auto less = [&](const Element& e) { return e.integer < row; };
    p.integer = std::ranges::count_if(run.x(0).data, less);
    ++row;
  }
  return {std::move(pointers)};
}

// The row of each entry by the pointers of one matrix: how many begin at it or before, but one.
std::vector<int64_t> rows_of_entries(std::span<const Element> pointers, int64_t entries) {
  std::vector<int64_t> rows;
  for (int64_t e = 0; e < entries; ++e) {
    const auto begins = [&](const Element& p) { return p.integer <= e; };
    rows.push_back(std::ranges::count_if(pointers, begins) - 1);
  }
  return rows;
}

std::vector<Array> expand_rows(NodeRun& run) {
  const Array& pointers = run.x(0);
  Array rows = run.result(0);
  if (!known(pointers)) return forget(rows), std::vector{std::move(rows)};
  const auto length = static_cast<size_t>(pointers.shape.back());
  const int64_t entries = run.size("entries");
  for (size_t matrix = 0; entries > 0 && matrix * length < pointers.data.size(); ++matrix) {
    const std::span line(pointers.data.begin() + static_cast<std::ptrdiff_t>(matrix * length),
                         length);
    if (!ascends(line)) return forget(rows), std::vector{std::move(rows)};
    for (int64_t e = 0; const int64_t row : rows_of_entries(line, entries))
      rows.data[matrix * static_cast<size_t>(entries) + static_cast<size_t>(e++)].integer = row;
  }
  return {std::move(rows)};
}

// No index is out of range but by the graph's mistake: devices do not look.
bool inside(const NodeRun& run, const Element& index, int64_t size) {
  if (index.integer >= 0 && index.integer < size) return true;
  run.fail("internal", "index " + std::to_string(index.integer) + " is out of range", index);
  return false;
}

std::vector<Array> coo_coalesce(NodeRun& run) {
  const Array &indices = run.x(0), &values = run.x(1);
  Array merged = run.result(0), sums = run.result(1), count = run.result(2);
  const Ints sizes = run.sizes("sizes");
  const auto entries = static_cast<size_t>(indices.shape[1]);
  const size_t width = entries ? values.data.size() / entries : 0;
  forget(merged), forget(sums);
  std::map<Ints, std::vector<size_t>> places;
  bool decided = known(indices);
  for (size_t e = 0; decided && e < entries; ++e) {
    Ints place;
    for (size_t d = 0; d < sizes.size(); ++d) {
      const Element& index = indices.data[d * entries + e];
      decided = inside(run, index, sizes[d]) && decided;
      place.push_back(index.integer);
    }
    places[place].push_back(e);
  }
  if (!decided) return forget(count), std::vector{merged, sums, count};
  const ElementOp op = make_op(run.node, values.dtype, values.dtype, run.op(DType::i64).deviations);
  size_t at = 0;
  for (const auto& [place, members] : places) {
    for (size_t d = 0; d < sizes.size(); ++d)
      merged.data[d * entries + at] = integer_element(place[d]);
    for (size_t w = 0; w < width; ++w) {
      Sum sum;
      bool any = false;
      for (const size_t e : members) {
        sum.add(values.data[e * width + w]);
        any = any || values.data[e * width + w].integer != 0;
      }
      sums.data[at * width + w] = is_bool(values.dtype) ? integer_element(any) : sum.finish(op);
    }
    ++at;
  }
  count.data[0] = integer_element(static_cast<int64_t>(at));
  return {std::move(merged), std::move(sums), std::move(count)};
}

// --- products ---

// What the products of a row's entries with a column come to.
class Reduction {
 public:
  Reduction(const ElementOp& op, std::string_view kind) : op_(op), kind_(kind) {}

  void add(const Element& x, const Element& y) {
    sum_.add_product(op_, x, y);
    ++count_;
    if (kind_ == "sum" || kind_ == "mean") return;
    Sum one;
    one.add_product(op_, x, y);
    const Element product = one.finish(op_);
    const long double error = std::max(extremum_.error, product.error);
    if (count_ == 1 || wins(product)) extremum_ = product;
    extremum_.error = error;
    undecided_ = undecided_ || product.undecided;
  }

  Element finish() const {
    if (kind_ == "sum" || count_ == 0) return sum_.finish(op_);
    if (kind_ != "mean") return undecided_ ? undecided_element() : extremum_;
    ElementOp wide = op_;
    wide.to = op_.compute;
    const Element sum = sum_.finish(wide);
    if (sum.undecided) return sum;
    const long double mean = sum.re / static_cast<long double>(count_);
    return rounded(op_, mean, sum.error / static_cast<long double>(count_));
  }

 private:
  // A device may see another one win where bounds of error overlap: the greatest of them holds for
  // whichever wins.
  bool wins(const Element& product) const {
    if (is_nan(extremum_)) return false;
    if (is_nan(product)) return true;
    return kind_ == "amax" ? product.re > extremum_.re : product.re < extremum_.re;
  }

  const ElementOp op_;
  const std::string_view kind_;
  Sum sum_;
  Element extremum_;
  int64_t count_ = 0;
  bool undecided_ = false;
};

std::vector<Array> sparse_matmul(NodeRun& run) {
  const Array &values = run.x(0), &pointers = run.x(1), &columns = run.x(2), &dense = run.x(3);
  Array y = run.result(0);
  if (!share_entries(pointers, columns.shape[0]) || !known(columns))
    return forget(y), std::vector{std::move(y)};
  const bool transpose = run.flag("transpose");
  const auto width = static_cast<size_t>(dense.shape.size() == 2 ? dense.shape[1] : 1);
  std::vector<Reduction> elements(y.data.size(), {run.op(y.dtype), run.text("reduce")});
  const auto rows = rows_of_entries(pointers.data, columns.shape[0]);
  for (size_t e = 0; e < rows.size(); ++e) {
    if (!inside(run, columns.data[e], run.size("size"))) return forget(y), std::vector{y};
    auto from = static_cast<size_t>(columns.data[e].integer), to = static_cast<size_t>(rows[e]);
    if (transpose) std::swap(from, to);
    for (size_t w = 0; w < width; ++w)
      elements[to * width + w].add(values.data[e], dense.data[from * width + w]);
  }
  for (size_t i = 0; i < elements.size(); ++i) y.data[i] = elements[i].finish();
  return {std::move(y)};
}

std::vector<Array> sampled_matmul(NodeRun& run) {
  const Array &a = run.x(0), &b = run.x(1), &pointers = run.x(2), &columns = run.x(3);
  Array values = run.result(0);
  if (!share_entries(pointers, columns.shape[0]) || !known(columns))
    return forget(values), std::vector{std::move(values)};
  const ElementOp op = run.op(values.dtype);
  const auto rows = rows_of_entries(pointers.data, columns.shape[0]);
  for (size_t e = 0; e < rows.size(); ++e) {
    if (!inside(run, columns.data[e], b.shape[1])) return forget(values), std::vector{values};
    Sum sum;
    for (int64_t k = 0; k < b.shape[0]; ++k)
      sum.add_product(op, a.data[static_cast<size_t>(rows[e] * a.shape[1] + k)],
                      b.data[static_cast<size_t>(k * b.shape[1] + columns.data[e].integer)]);
    values.data[e] = sum.finish(op);
  }
  return {std::move(values)};
}

bool below(const Array& columns, int64_t size) {
  return known(columns) && std::ranges::all_of(columns.data, [&](const Element& e) {
           return e.integer >= 0 && e.integer < size;
         });
}

// Row by row, as Gustavson (Two fast algorithms for sparse matrices, 1978).
std::vector<Array> sparse_sparse_matmul(NodeRun& run) {
  const Array &a = run.x(0), &a_pointers = run.x(1), &a_columns = run.x(2);
  const Array &b = run.x(3), &b_pointers = run.x(4), &b_columns = run.x(5);
  Array values = run.result(0), pointers = run.result(1), columns = run.result(2);
  forget(values), forget(columns);
  const auto unknown = [&] { return forget(pointers), std::vector{values, pointers, columns}; };
  if (!share_entries(a_pointers, a.shape[0]) || !share_entries(b_pointers, b.shape[0]) ||
      !below(a_columns, b_pointers.shape[0] - 1) || !below(b_columns, run.size("size")))
    return unknown();
  const ElementOp op = run.op(values.dtype);
  size_t at = 0;
  int64_t products = 0;
  for (int64_t row = 0; row + 1 < a_pointers.shape[0]; ++row) {
    std::map<int64_t, Sum> sums;
    for (int64_t i = integer_at(a_pointers, row); i < integer_at(a_pointers, row + 1); ++i) {
      const int64_t k = integer_at(a_columns, i);
      for (int64_t j = integer_at(b_pointers, k); j < integer_at(b_pointers, k + 1); ++j) {
        sums[integer_at(b_columns, j)].add_product(op, a.data[static_cast<size_t>(i)],
                                                   b.data[static_cast<size_t>(j)]);
        ++products;
      }
    }
    if (at + sums.size() > values.data.size()) return unknown();
    for (const auto& [column, sum] : sums) {
      columns.data[at] = integer_element(column);
      values.data[at++] = sum.finish(op);
    }
    pointers.data[static_cast<size_t>(row) + 1] = integer_element(static_cast<int64_t>(at));
  }
  if (products != run.size("products")) return forget(values), forget(columns), unknown();
  return {std::move(values), std::move(pointers), std::move(columns)};
}

}  // namespace

void add_sparse_operations(OperationTable& t) {
  t.set(Prim::compress_rows, compress_rows);
  t.set(Prim::expand_rows, expand_rows);
  t.set(Prim::coo_coalesce, coo_coalesce);
  t.set(Prim::sparse_matmul, sparse_matmul);
  t.set(Prim::sampled_matmul, sampled_matmul);
  t.set(Prim::sparse_sparse_matmul, sparse_sparse_matmul);
}

}  // namespace primset::prims::reference
