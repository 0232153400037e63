// Random nodes with bodies: programs over numbers, combiners, loops and branches.
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "codegen/schedule/testing/random/random_nodes.h"
#include "prims/graph/signature.h"
#include "prims/graph/traits.h"

namespace primset::schedule {
namespace {

using prims::Prim;
using prims::Region;
using prims::SymInts;
using prims::ValueId;
using prims::ValueType;
using Values = prims::Builder::Values;
using Parameters = std::span<const ValueId>;

std::vector<ValueType> numbers(RandomValues& v, std::span<const ValueId> like) {
  std::vector<ValueType> out;
  for (ValueId x : like) out.push_back({v.dtype(x), {}});
  return out;
}

std::vector<ValueType> types(RandomValues& v, std::span<const ValueId> like) {
  std::vector<ValueType> out;
  for (ValueId x : like) out.push_back({v.dtype(x), v.shape(x)});
  return out;
}

// Operands of one shape, and of dtypes that are computed with.
Values operands_of_one_shape(RandomNodes& nodes, DTypeSet set, size_t most) {
  RandomValues& v = nodes.values();
  const auto x = v.any([&](ValueId u) {
    return set.contains(v.dtype(u)) && v.rank(u) > 0 && RandomValues::fits(v.shape(u));
  });
  if (!x) return {};
  Values in{*x};
  const size_t more = nodes.random().below(most);
  for (size_t i = 0; i < more; ++i) in.push_back(v.like(v.any_dtype(set), v.shape(*x)));
  return in;
}

// --- programs over numbers -----------------------------------------------------------------------

void map_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  if (v.in_scalar_region()) return;
  const Values in = operands_of_one_shape(nodes, prims::signature(Prim::eq).operands[0].dtypes, 3);
  if (in.empty()) return;
  Region body = v.scalar_region(numbers(v, in), [&](Parameters params) {
    nodes.add(1 + nodes.random().below(5));
    Values results{nodes.elementwise(v.dtype(params[0]), {})};
    if (nodes.random().chance(30)) results.push_back(v.number(v.dtype(params[0])));
    return results;
  });
  v.add(p, in, {}, {std::move(body)});
}

// --- combiners -----------------------------------------------------------------------------------

int64_t greatest(DType t) {
  const int width = bits(t) - (is_signed_integer(t) ? 1 : 0);
  return static_cast<int64_t>(~uint64_t{0} >> (64 - width));
}

// The number that a combiner leaves others as they are with.
std::optional<Scalar> neutral(prims::Combiner combiner, DType t) {
  using enum prims::Combiner;
  switch (combiner) {
    case add:
    case bit_or:
    case bit_xor:
      return Scalar(0);
    case mul:
      return Scalar(1);
    case min:
      return is_bool(t) ? Scalar(true) : Scalar(greatest(t));
    case max:
      return is_bool(t) ? Scalar(false) : Scalar(is_signed_integer(t) ? -greatest(t) - 1 : 0);
    case bit_and:
      return is_bool(t) ? Scalar(true) : Scalar(is_signed_integer(t) ? -1 : greatest(t));
    default:
      return std::nullopt;
  }
}

struct NamedCombiner {
  Prim prim;
  Scalar neutral;
};

// Of integers and bools: their order of combination does not show. Taken from the reductions that
// have one.
std::optional<NamedCombiner> any_combiner(RandomNodes& nodes, DType t) {
  std::vector<NamedCombiner> fitting;
  for (int i = 0; i < prims::prim_count(); ++i) {
    const auto p = static_cast<Prim>(i);
    const auto combined = prims::combiner_prim(p);
    if (!prims::is_reduction(p) || !combined) continue;
    if (!prims::signature(p).operands[0].dtypes.contains(t)) continue;
    if (const auto n = neutral(prims::traits(p).combiner, t)) fitting.push_back({*combined, *n});
  }
  if (fitting.empty()) return std::nullopt;
  return nodes.random().pick(fitting);
}

// Each of the values is combined on its own.
void combined_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  if (v.in_scalar_region()) return;
  using enum DType;
  Values in = operands_of_one_shape(nodes, {i32, i64, u8, i8, i16, u32, boolean}, 2);
  if (in.empty()) return;
  const size_t n = in.size();
  std::vector<Prim> combiners;
  std::vector<ValueType> params;
  for (size_t k = 0; k < n; ++k) {
    const auto c = any_combiner(nodes, v.dtype(in[k]));
    if (!c) return;
    combiners.push_back(c->prim);
    params.push_back({v.dtype(in[k]), {}});
    in.push_back(
        v.add(Prim::constant, {},
              {{"value", c->neutral}, {"dtype", v.dtype(in[k])}, {"shape", SymInts{}}})[0]);
  }
  params.insert(params.end(), params.begin(), params.begin() + static_cast<std::ptrdiff_t>(n));
  Region body = v.scalar_region(params, [&](Parameters values) {
    Values out;
    for (size_t k = 0; k < n; ++k)
      out.push_back(v.add(combiners[k], {values[k], values[n + k]})[0]);
    return out;
  });
  std::vector<prims::Attr> attrs;
  const size_t rank = v.rank(in[0]);
  if (prims::is_reduction(p))
    attrs = {{"dims", v.any_dims(rank, rank)}};
  else
    attrs = {{"dim", static_cast<int64_t>(nodes.random().below(rank))},
             {"ordered", nodes.random().chance(30)}};
  v.add(p, std::move(in), std::move(attrs), {std::move(body)});
}

// --- control flow --------------------------------------------------------------------------------

constexpr size_t kDeepest = 2;

Values carried_values(RandomNodes& nodes) {
  RandomValues& v = nodes.values();
  Values out;
  const size_t count = 1 + nodes.random().below(3);
  for (size_t i = 0; i < count; ++i) {
    const auto x = v.any([&](ValueId u) { return !v.is_dynamic(v.shape(u)); });
    if (x) out.push_back(*x);
  }
  return out;
}

// What a body makes, of these types: mostly of what it has just made.
Values body_results(RandomNodes& nodes, std::span<const ValueType> wanted) {
  Values out;
  for (const ValueType& t : wanted) {
    out.push_back(nodes.random().chance(70) ? nodes.elementwise(t.dtype, t.shape)
                                            : nodes.values().like(t.dtype, t.shape));
  }
  return out;
}

size_t body_length(RandomNodes& nodes) {
  return nodes.random().below(5);
}

void for_loop_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  if (v.depth() >= kDeepest || v.in_scalar_region()) return;
  const Values carried = carried_values(nodes);
  std::vector<ValueType> results = types(v, carried), params = results;
  params.insert(params.begin(), {DType::i64, {}});
  const auto stacked = static_cast<int64_t>(nodes.random().below(3));
  Region body = v.region(params, [&](Parameters) {
    nodes.add(body_length(nodes));
    Values out = body_results(nodes, results);
    for (int64_t k = 0; k < stacked; ++k) {
      const auto x = v.any([&](ValueId u) {
        return RandomValues::elements(v.shape(u)) <= 300 && !v.is_dynamic(v.shape(u));
      });
      out.push_back(x ? *x : out[0]);
    }
    return out;
  });
  if (carried.empty() && stacked == 0) return;
  v.add(p, carried,
        {{"count", v.launch_number(nodes.random().between(0, 4))}, {"stacked", stacked}},
        {std::move(body)});
}

// A counter and others, for a few rounds.
void while_loop_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  if (v.depth() >= kDeepest || v.in_scalar_region()) return;
  const auto number = [&](int64_t n) {
    return v.add(Prim::constant, {},
                 {{"value", Scalar(n)}, {"dtype", DType::i64}, {"shape", SymInts{}}})[0];
  };
  Values carried = carried_values(nodes);
  carried.insert(carried.begin(), number(0));
  const std::vector<ValueType> params = types(v, carried);
  const int64_t rounds = nodes.random().between(0, 3);
  Region test = v.region(params, [&](Parameters values) {
    return Values{v.add(Prim::lt, {values[0], number(rounds)})[0]};
  });
  Region body = v.region(params, [&](Parameters values) {
    nodes.add(body_length(nodes));
    Values out = body_results(nodes, std::span(params).subspan(1));
    out.insert(out.begin(), v.add(Prim::add, {values[0], number(1)})[0]);
    return out;
  });
  v.add(p, std::move(carried), {}, {std::move(test), std::move(body)});
}

void cond_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  if (v.depth() >= kDeepest || v.in_scalar_region()) return;
  Values in = carried_values(nodes);
  const std::vector<ValueType> params = types(v, in);
  std::vector<ValueType> results = params;
  if (results.empty() || nodes.random().chance(30)) {
    const SymInts shape = v.any_shape();
    results.push_back({v.any_dtype(prims::signature(Prim::eq).operands[0].dtypes), shape});
  }
  std::vector<Region> branches;
  for (int i = 0; i < 2; ++i) {
    branches.push_back(v.region(params, [&](Parameters) {
      nodes.add(body_length(nodes));
      return body_results(nodes, results);
    }));
  }
  in.insert(in.begin(), v.number(DType::boolean));
  v.add(p, std::move(in), {}, std::move(branches));
}

}  // namespace

void add_region_rules(NodeRules& t) {
  t.set(Prim::map, map_node);
  t.set(Prim::reduce, combined_node);
  t.set(Prim::scan, combined_node);
  t.set(Prim::for_loop, for_loop_node);
  t.set(Prim::while_loop, while_loop_node);
  t.set(Prim::cond, cond_node);
}

}  // namespace primset::schedule
