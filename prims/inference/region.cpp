#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

using Ints = Attr::Ints;

const ValueType& param(const Call& c, size_t region, size_t i) {
  return c.graph.type(c.regions[region].params[i]);
}
const ValueType& result(const Call& c, size_t region, size_t i) {
  return c.graph.type(c.regions[region].results[i]);
}
bool equal_types(const ValueType& a, const ValueType& b) {
  return a.dtype == b.dtype && equal_shapes(a.shape, b.shape);
}

Types map(const Call& c) {
  c.require(c.count() > 0, "map_c0: at least one operand");
  const Region& r = c.regions[0];
  c.require(r.params.size() == c.count(), "map_c1: the region has one parameter an operand");
  for (size_t i = 0; i < c.count(); ++i) {
    c.require(equal_shapes(c.shape(i), c.shape(0)), "map_c2: operands have one shape");
    c.require(param(c, 0, i).rank() == 0 && param(c, 0, i).dtype == c.dtype(i),
              "map_c3: a parameter is a number of its operand's dtype");
  }
  Types types;
  for (size_t i = 0; i < r.results.size(); ++i) {
    c.require(result(c, 0, i).rank() == 0, "map_c4: the region's results are numbers");
    types.push_back({result(c, 0, i).dtype, c.shape(0)});
  }
  return types;
}

// reduce and scan: xs, inits (as many, rank 0) and a combiner of two tuples. Returns their number.
size_t require_combiner(const Call& c) {
  c.require_shared(c.count() > 0 && c.count() % 2 == 0, "_c0: as many inits as operands");
  size_t n = c.count() / 2;
  const Region& r = c.regions[0];
  c.require_shared(r.params.size() == 2 * n && r.results.size() == n,
                   "_c1: the combiner joins two tuples of values into one");
  for (size_t i = 0; i < n; ++i) {
    c.require_shared(equal_shapes(c.shape(i), c.shape(0)), "_c2: operands have one shape");
    c.require_shared(c.rank(n + i) == 0 && c.dtype(n + i) == c.dtype(i),
                     "_c3: an init is a number of its operand's dtype");
    ValueType number{c.dtype(i), {}};
    c.require_shared(equal_types(param(c, 0, i), number) &&
                         equal_types(param(c, 0, n + i), number) &&
                         equal_types(result(c, 0, i), number),
                     "_c4: the combiner's values are numbers of the operands' dtypes");
  }
  return n;
}

Types reduce(const Call& c) {
  size_t n = require_combiner(c);
  const Ints& dims = c.attr<Ints>("dims");
  c.require(valid_dims(dims, c.rank(0)), "reduce_c5: dims are dims of the operands");
  Types types;
  for (size_t i = 0; i < n; ++i) types.push_back({c.dtype(i), without_dims(c.shape(0), dims)});
  return types;
}

Types scan(const Call& c) {
  size_t n = require_combiner(c);
  c.require(valid_dims({c.attr<int64_t>("dim")}, c.rank(0)),
            "scan_c5: dim is a dim of the operands");
  Types types;
  for (size_t i = 0; i < n; ++i) types.push_back(c.type(i));
  return types;
}

// Parameters [first, ...) of a region and the operands [from, ...) have the same types.
void require_params(const Call& c, size_t region, size_t first, size_t from) {
  size_t n = c.count() - from;
  c.require_shared(c.regions[region].params.size() == first + n,
                   "_c1: regions have a parameter for each carried value");
  for (size_t i = 0; i < n; ++i) {
    c.require_shared(equal_types(param(c, region, first + i), c.type(from + i)),
                     "_c2: a parameter has its carried value's type");
  }
}

void require_carried_results(const Call& c, size_t region) {
  for (size_t i = 0; i < c.count(); ++i) {
    c.require_shared(equal_types(result(c, region, i), c.type(i)),
                     "_c3: the body returns the carried values with their types");
  }
}

Types for_loop(const Call& c) {
  const Region& r = c.regions[0];
  require_params(c, 0, 1, 0);
  c.require(equal_types(param(c, 0, 0), {DType::i64, {}}),
            "for_loop_c4: the first parameter is the i64 counter");
  c.require(c.attr<int64_t>("stacked") >= 0, "for_loop_c7: stacked is not negative");
  auto stacked = static_cast<size_t>(c.attr<int64_t>("stacked"));
  c.require(r.results.size() == c.count() + stacked,
            "for_loop_c5: the body returns the carried values, then the stacked ones");
  require_carried_results(c, 0);
  const SymInt& count = c.attr<SymInt>("count");
  c.require(count.hint() >= 0, "for_loop_c6: count is not negative");
  Types types;
  for (size_t i = 0; i < c.count(); ++i) types.push_back(c.type(i));
  for (size_t i = c.count(); i < r.results.size(); ++i) {
    ValueType t = result(c, 0, i);
    t.shape.insert(t.shape.begin(), count);
    types.push_back(std::move(t));
  }
  return types;
}

Types while_loop(const Call& c) {
  require_params(c, 0, 0, 0);
  require_params(c, 1, 0, 0);
  c.require(c.regions[0].results.size() == 1 && equal_types(result(c, 0, 0), {DType::boolean, {}}),
            "while_loop_c4: the condition is one bool");
  c.require(c.regions[1].results.size() == c.count(),
            "while_loop_c5: the body returns the carried values");
  require_carried_results(c, 1);
  Types types;
  for (size_t i = 0; i < c.count(); ++i) types.push_back(c.type(i));
  return types;
}

Types cond(const Call& c) {
  c.require(c.count() > 0 && c.rank(0) == 0 && is_bool(c.dtype(0)), "cond_c3: p is one bool");
  require_params(c, 0, 0, 1);
  require_params(c, 1, 0, 1);
  size_t n = c.regions[0].results.size();
  c.require(c.regions[1].results.size() == n, "cond_c4: both regions return as many values");
  Types types;
  for (size_t i = 0; i < n; ++i) {
    c.require(equal_types(result(c, 0, i), result(c, 1, i)),
              "cond_c5: both regions return the same types");
    types.push_back(result(c, 0, i));
  }
  return types;
}

}  // namespace

void add_region_rules(RuleTable& t) {
  t.set(Prim::map, map);
  t.set(Prim::reduce, reduce);
  t.set(Prim::scan, scan);
  t.set(Prim::for_loop, for_loop);
  t.set(Prim::while_loop, while_loop);
  t.set(Prim::cond, cond);
}

}  // namespace primset::prims
