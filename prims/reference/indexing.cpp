#include <algorithm>
#include <map>

#include "prims/reference/accumulate.h"
#include "prims/reference/elementwise.h"
#include "prims/reference/operation.h"

namespace primset::prims::reference {
namespace {

enum class Place { inside, outside, unknown };

// The rows of x that the index operands [1, 1 + dims) name: finds where an element of the gathered
// shape (B, then the dims not indexed) lies in x.
class Indexer {
 public:
  explicit Indexer(const NodeRun& run)
      : run_(run), dims_(run.ints("dims")), batch_rank_(run.x(1).shape.size()) {
    for (size_t d = 0; d < run.x(0).shape.size(); ++d) {
      if (!contains(dims_, static_cast<int64_t>(d))) rest_.push_back(d);
    }
  }

  Place find(const Ints& index, Ints& in_x) const {
    Ints batch(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(batch_rank_));
    auto at = static_cast<size_t>(offset_of(batch, run_.x(1).shape));
    in_x.resize(run_.x(0).shape.size());
    for (size_t k = 0; k < dims_.size(); ++k) {
      const Element& i = run_.x(1 + k).data[at];
      if (i.undecided) return Place::unknown;
      auto d = static_cast<size_t>(dims_[k]);
      if (i.integer < 0 || i.integer >= run_.x(0).shape[d]) {
        report(i, d);
        return Place::outside;
      }
      in_x[d] = i.integer;
    }
    for (size_t k = 0; k < rest_.size(); ++k) in_x[rest_[k]] = index[batch_rank_ + k];
    return Place::inside;
  }

 private:
  // Where the graph promised that there is none such, nobody checks, and it is the graph's mistake.
  void report(const Element& index, size_t dim) const {
    run_.fail(run_.node.attr<bool>("in_bounds") ? "internal" : "index",
              "index " + std::to_string(index.integer) + " of '" + run_.text("argument") +
                  "' is out of bounds for dimension " + std::to_string(dim) + " with size " +
                  std::to_string(run_.x(0).shape[dim]),
              index);
  }

  const NodeRun& run_;
  const Ints& dims_;
  size_t batch_rank_;
  std::vector<size_t> rest_;
};

std::vector<Array> gather(NodeRun& run) {
  const Array& x = run.x(0);
  Array r = run.result(0);
  Indexer indexer(run);
  Ints from;
  for_each_index(r.shape, [&](const Ints& index, size_t at) {
    Place place = indexer.find(index, from);
    if (place == Place::inside) r.data[at] = x.data[static_cast<size_t>(offset_of(from, x.shape))];
    if (place == Place::unknown) r.data[at] = undecided_element();
  });
  return {std::move(r)};
}

// The updates of each element of x that has any, in row-major order. False: nobody knows which.
bool collect_updates(const NodeRun& run, std::map<size_t, std::vector<Element>>& updates) {
  const Array& values = *run.operands.back();
  Indexer indexer(run);
  Ints to;
  bool known = true;
  for_each_index(values.shape, [&](const Ints& index, size_t at) {
    Place place = indexer.find(index, to);
    known = known && place != Place::unknown;
    if (place != Place::inside) return;
    updates[static_cast<size_t>(offset_of(to, run.x(0).shape))].push_back(values.data[at]);
  });
  return known;
}

template <typename F>
std::vector<Array> scatter_with(NodeRun& run, F combine) {
  Array r = run.x(0);
  std::map<size_t, std::vector<Element>> updates;
  if (!collect_updates(run, updates)) {
    std::fill(r.data.begin(), r.data.end(), undecided_element());
    return {std::move(r)};
  }
  ElementOp op = run.op(r.dtype);
  for (const auto& [at, values] : updates) r.data[at] = combine(op, r.data[at], values);
  return {std::move(r)};
}

std::vector<Array> scatter(NodeRun& run) {
  bool ordered = run.flag("ordered");
  return scatter_with(
      run, [&](const ElementOp&, const Element&, const std::vector<Element>& values) {
        for (const Element& v : values) {
          bool competes = !equal(v, values.back()) || v.error != values.back().error || v.undecided;
          if (competes && !ordered && !(is_nan(v) && is_nan(values.back())))
            return undecided_element();
        }
        return values.back();
      });
}

Element add_all(const ElementOp& op, const Element& x, const std::vector<Element>& values) {
  Sum sum;
  sum.add(x);
  for (const Element& v : values) sum.add(v);
  return sum.finish(op);
}

Element multiply_all(const ElementOp& op, const Element& x, const std::vector<Element>& values) {
  Product product;
  product.add(op, x);
  for (const Element& v : values) product.add(op, v);
  return product.finish(op);
}

template <Prim P>
Element fold_all(const ElementOp& op, const Element& x, const std::vector<Element>& values) {
  Element r = x;
  for (const Element& v : values) {
    Element pair[] = {r, v};
    r = find_elementwise(P)(op, pair);
  }
  return r;
}

// Behind `count` packed holds anything.
std::vector<Array> compact(NodeRun& run) {
  const Array &x = run.x(0), &mask = run.x(1);
  Array packed = run.result(0), count = run.result(1);
  std::fill(packed.data.begin(), packed.data.end(), undecided_element());
  size_t n = 0;
  for (size_t i = 0; i < x.data.size(); ++i) {
    if (mask.data[i].undecided) {
      std::fill(packed.data.begin(), packed.data.end(), undecided_element());
      count.data[0] = undecided_element();
      return {std::move(packed), std::move(count)};
    }
    if (mask.data[i].integer) packed.data[n++] = x.data[i];
  }
  count.data[0] = integer_element(static_cast<int64_t>(n));
  return {std::move(packed), std::move(count)};
}

}  // namespace

void add_indexing_operations(OperationTable& t) {
  t.set(Prim::gather, gather);
  t.set(Prim::scatter, scatter);
  t.set(Prim::scatter_add, [](NodeRun& run) { return scatter_with(run, add_all); });
  t.set(Prim::scatter_mul, [](NodeRun& run) { return scatter_with(run, multiply_all); });
  t.set(Prim::scatter_min, [](NodeRun& run) { return scatter_with(run, fold_all<Prim::min>); });
  t.set(Prim::scatter_max, [](NodeRun& run) { return scatter_with(run, fold_all<Prim::max>); });
  t.set(Prim::compact, compact);
}

}  // namespace primset::prims::reference
