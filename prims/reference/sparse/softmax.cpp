// softmax over what is stored of a sparse array, one group of entries after another.
#include <algorithm>
#include <cmath>
#include <map>

#include "prims/reference/float_format.h"
#include "prims/reference/interpreter.h"
#include "prims/reference/operation.h"

namespace primset::prims::reference {
namespace {

// Which entries have all their indices but that along `dim` in common. Empty where an index is out
// of range, which a device reports, or not known.
std::vector<std::vector<size_t>> groups_of_entries(const NodeRun& run, const Array& indices) {
  const Ints sizes = run.sizes("sizes");
  const auto entries = static_cast<size_t>(indices.shape[1]);
  std::map<Ints, std::vector<size_t>> groups;
  for (size_t e = 0; e < entries; ++e) {
    Ints place;
    for (size_t d = 0; d < sizes.size(); ++d) {
      const Element& index = indices.data[d * entries + e];
      if (index.undecided) return {};
      if (index.integer < 0 || index.integer >= sizes[d]) {
        run.fail("index", "index " + std::to_string(index.integer) + " is out of range", index);
        return {};
      }
      if (static_cast<int64_t>(d) != run.integer("dim")) place.push_back(index.integer);
    }
    groups[place].push_back(e);
  }
  std::vector<std::vector<size_t>> out;
  for (auto& [place, members] : groups) out.push_back(std::move(members));
  return out;
}

// One value of each entry of a group.
class Row {
 public:
  Row(ElementOp op, bool log) : op_(std::move(op)), log_(log) {}

  void add(const Element& x) {
    undecided_ |= x.undecided;
    error_ = std::max(error_, x.error);
    values_.push_back(x.re);
  }

  // Of the exponents a device rounds x less the maximum, then their exponentials, the sum over all
  // of them and the quotient: an error of each to `factor` in the compute dtype.
  std::vector<Element> finish() const {
    if (undecided_) return std::vector(values_.size(), undecided_element());
    long double greatest = values_[0], sum = 0, reach = 0;
    for (const long double v : values_) greatest = v > greatest || std::isnan(v) ? v : greatest;
    for (const long double v : values_) sum += std::exp(v - greatest);
    for (const long double v : values_)
      if (std::isfinite(v - greatest)) reach = std::max(reach, greatest - v);
    const auto count = static_cast<long double>(values_.size());
    const long double steps = count + 4 + reach + std::fabs(std::log(sum));
    const long double spread =
        2 * error_ + op_.tolerance.number * steps * unit_roundoff(op_.compute);
    std::vector<Element> out;
    for (const long double v : values_) {
      const long double s = v - greatest;
      const long double y = log_ ? s - std::log(sum) : std::exp(s) / sum;
      out.push_back(rounded_once(y, log_ ? spread : std::fabs(y) * std::expm1(spread)));
    }
    return out;
  }

 private:
  Element rounded_once(long double y, long double error) const {
    ElementOp op = op_;
    op.tolerance = {ToleranceKind::rounded, 0};
    return rounded(op, y, std::isfinite(y) ? error : 0);
  }

  ElementOp op_;
  bool log_;
  bool undecided_ = false;
  long double error_ = 0;
  std::vector<long double> values_;
};

std::vector<Array> sparse_softmax(NodeRun& run) {
  const Array &indices = run.x(0), &values = run.x(1);
  Array y = run.result(0);
  std::ranges::fill(y.data, undecided_element());
  const auto entries = static_cast<size_t>(indices.shape[1]);
  const size_t width = entries > 0 ? values.data.size() / entries : 0;
  const ElementOp op = make_op(run.node, values.dtype, y.dtype, run.interpreter.deviations());
  for (const std::vector<size_t>& members : groups_of_entries(run, indices)) {
    for (size_t w = 0; w < width; ++w) {
      Row row(op, run.flag("log"));
      for (const size_t e : members) row.add(values.data[e * width + w]);
      const std::vector<Element> made = row.finish();
      for (size_t i = 0; i < members.size(); ++i) y.data[members[i] * width + w] = made[i];
    }
  }
  return {std::move(y)};
}

}  // namespace

void add_sparse_softmax_operations(OperationTable& t) {
  t.set(Prim::sparse_softmax, sparse_softmax);
}

}  // namespace primset::prims::reference
