// Random reads and writes at computed places, and sizes that only the run knows.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "codegen/schedule/testing/random/random_nodes.h"
#include "prims/graph/signature.h"
#include "prims/graph/traits.h"

namespace primset::schedule {
namespace {

using prims::Prim;
using prims::SymInt;
using prims::SymInts;
using prims::ValueId;
using Values = prims::Builder::Values;
using Ints = std::vector<int64_t>;

// Index operands for some dims of a value.
struct Places {
  Ints dims;
  Values indices;
  SymInts shape;  // of the indices, then of the dims that have none
  bool in_bounds = true;
};

std::optional<Places> places_in(RandomNodes& nodes, ValueId x) {
  RandomValues& v = nodes.values();
  const SymInts shape = v.shape(x);
  Places p{v.any_dims(shape.size(), 2), {}, {}, nodes.random().chance(50)};
  if (nodes.random().chance(75)) p.shape = v.any_shape();
  if (p.shape.size() > 2 || !RandomValues::fits(p.shape)) p.shape = {v.any_size()};
  const SymInts batch = p.shape;
  for (int64_t d : p.dims) {
    const SymInt& size = shape[static_cast<size_t>(d)];
    if (size.hint() < 1 || v.is_dynamic(size)) return std::nullopt;
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    if (std::ranges::find(p.dims, static_cast<int64_t>(d)) == p.dims.end())
      p.shape.push_back(shape[d]);
  }
  if (!RandomValues::fits(p.shape)) return std::nullopt;
  for (int64_t d : p.dims) {
    // Any number may be out of bounds, which is an error that the run reports.
    const bool any_number = !p.in_bounds && nodes.random().chance(5);
    const SymInt& size = shape[static_cast<size_t>(d)];
    p.indices.push_back(any_number ? v.exact_like(DType::i64, batch) : v.indices(batch, size));
    if (v.dtype(p.indices.back()) != v.dtype(p.indices[0]))
      p.indices.back() =
          v.add(Prim::convert, {p.indices.back()}, {{"dtype", v.dtype(p.indices[0])}})[0];
  }
  return p;
}

void gather_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const auto x = v.any(prims::signature(p).operands[0].dtypes, 1);
  if (!x) return;
  const auto places = places_in(nodes, *x);
  if (!places) return;
  Values in{*x};
  in.insert(in.end(), places->indices.begin(), places->indices.end());
  v.add(p, std::move(in),
        {{"dims", places->dims}, {"in_bounds", places->in_bounds}, {"argument", std::string("i")}});
}

// Places that differ from each other: in any order, what is written there is the same.
std::optional<Places> different_places_in(RandomNodes& nodes, ValueId x) {
  RandomValues& v = nodes.values();
  const SymInts shape = v.shape(x);
  const auto dim = static_cast<int64_t>(nodes.random().below(shape.size()));
  const SymInt size = shape[static_cast<size_t>(dim)];
  if (v.is_dynamic(size)) return std::nullopt;
  const SymInt count =
      nodes.random().chance(50) ? size : SymInt(nodes.random().between(0, size.hint()));
  Places p{{dim}, {}, {count}, true};
  ValueId index =
      v.add(Prim::iota, {}, {{"shape", p.shape}, {"dim", int64_t{0}}, {"dtype", DType::i64}})[0];
  if (nodes.random().chance(50)) index = v.add(Prim::reverse, {index}, {{"dims", Ints{0}}})[0];
  p.indices.push_back(index);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (static_cast<int64_t>(d) != dim) p.shape.push_back(shape[d]);
  }
  return p;
}

// Without order and a combiner, writes to one place race.
void scatter_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const auto x = v.any(prims::signature(p).operands[0].dtypes, 1);
  if (!x) return;
  const bool ordered = nodes.random().chance(50);
  const auto places =
      ordered || prims::has_combiner(p) ? places_in(nodes, *x) : different_places_in(nodes, *x);
  if (!places) return;
  Values in{*x};
  in.insert(in.end(), places->indices.begin(), places->indices.end());
  in.push_back(v.like(v.dtype(*x), places->shape));
  v.add(p, std::move(in),
        {{"dims", places->dims},
         {"in_bounds", places->in_bounds},
         {"ordered", ordered},
         {"argument", std::string("i")}});
}

// --- at one place for each dim -------------------------------------------------------------------

// Any number is a start: it is clamped.
Values starts(RandomNodes& nodes, size_t count) {
  Values out;
  for (size_t i = 0; i < count; ++i) out.push_back(nodes.values().number(DType::i64));
  return out;
}

std::optional<SymInts> part_of(RandomNodes& nodes, const SymInts& shape) {
  SymInts part;
  for (const SymInt& size : shape) {
    if (nodes.values().is_dynamic(size)) return std::nullopt;
    const bool whole = nodes.random().chance(40);
    part.push_back(whole ? size : SymInt(nodes.random().between(0, size.hint())));
  }
  return part;
}

void dynamic_slice_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const auto x = v.any(prims::signature(p).operands[0].dtypes, 1);
  if (!x) return;
  const auto part = part_of(nodes, v.shape(*x));
  if (!part) return;
  Values in{*x};
  for (ValueId s : starts(nodes, part->size())) in.push_back(s);
  v.add(p, std::move(in), {{"sizes", *part}});
}

void dynamic_update_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const auto x = v.any(prims::signature(p).operands[0].dtypes, 1);
  if (!x) return;
  const auto part = part_of(nodes, v.shape(*x));
  if (!part) return;
  Values in{*x, v.like(v.dtype(*x), *part)};
  for (ValueId s : starts(nodes, part->size())) in.push_back(s);
  v.add(p, std::move(in));
}

// --- sizes that the run makes --------------------------------------------------------------------

// Sizes belong to the graph, and those that a body makes would leave it with its values.
bool makes_no_sizes(const RandomValues& v) {
  return v.depth() > 0;
}

void compact_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  if (makes_no_sizes(v)) return;
  const auto x = v.any([&](ValueId u) { return v.rank(u) == 1 && !v.is_dynamic(v.shape(u)); });
  if (!x) return;
  const ValueId mask = v.exact_like(DType::boolean, v.shape(*x));
  const Values made = v.add(p, {*x, mask});
  if (!v.is_exact(made[1]) || !nodes.random().chance(80)) return;
  const ValueId counted = v.add(Prim::set_dim, made, {{"dim", int64_t{0}}})[0];
  if (nodes.random().chance(50)) nodes.elementwise(v.dtype(counted), v.shape(counted));
}

// Segments of any one length, the last ones shorter or empty; what is behind them is in none.
void segment_reduce_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  const auto x = v.any(prims::signature(p).operands[0].dtypes, 1);
  if (!x || v.is_dynamic(v.shape(*x))) return;
  const SymInts bounds{SymInt(2 + static_cast<int64_t>(nodes.random().below(7)))};
  const auto numbers = [&](const SymInt& n) {
    return v.add(Prim::constant, {}, {{"value", n}, {"dtype", DType::i64}, {"shape", bounds}})[0];
  };
  const ValueId counted =
      v.add(Prim::iota, {}, {{"shape", bounds}, {"dim", int64_t{0}}, {"dtype", DType::i64}})[0];
  const ValueId length = numbers(static_cast<int64_t>(nodes.random().below(40)));
  const ValueId offsets =
      v.add(Prim::min, {v.add(Prim::mul, {counted, length})[0], numbers(v.shape(*x)[0])})[0];
  const char* kinds[] = {"sum", "prod", "max", "min"};
  v.add(p, {*x, offsets}, {{"reduce", std::string(kinds[nodes.random().below(4)])}});
}

void set_dim_node(RandomNodes& nodes, Prim p) {
  RandomValues& v = nodes.values();
  if (makes_no_sizes(v)) return;
  const auto x = v.any(prims::signature(p).operands[0].dtypes, 1);
  if (!x || v.is_dynamic(v.shape(*x))) return;
  const auto dim = static_cast<int64_t>(nodes.random().below(v.rank(*x)));
  const ValueId any = v.exact_like(DType::i64, {});
  const auto number = [&](const SymInt& n) {
    return v.add(Prim::constant, {},
                 {{"value", n}, {"dtype", DType::i64}, {"shape", SymInts{}}})[0];
  };
  const ValueId positive = v.add(Prim::max, {any, number(0)})[0];
  const ValueId count =
      v.add(Prim::min, {positive, number(v.shape(*x)[static_cast<size_t>(dim)])})[0];
  v.add(p, {*x, count}, {{"dim", dim}});
}

}  // namespace

void add_indexing_rules(NodeRules& t) {
  for (int i = 0; i < prims::prim_count(); ++i) {
    const auto p = static_cast<Prim>(i);
    if (prims::is_scatter(p) && prims::info(p).tier == prims::Tier::core) t.set(p, scatter_node);
  }
  t.set(Prim::gather, gather_node);
  t.set(Prim::dynamic_slice, dynamic_slice_node);
  t.set(Prim::dynamic_update_slice, dynamic_update_node);
  t.set(Prim::compact, compact_node);
  t.set(Prim::segment_reduce, segment_reduce_node);
  t.set(Prim::set_dim, set_dim_node);
}

}  // namespace primset::schedule
