// Accumulation, and the combination of the partial results of lanes, threads and blocks of a row.
#include "codegen/schedule/families/reduction/reduce_builder.h"

#include <algorithm>

#include "codegen/schedule/element/scalar_lowering.h"
#include "codegen/schedule/loops/group_memory.h"
#include "codegen/schedule/loops/subgroup_exchange.h"

namespace primset::schedule {

using kir::Value;
using prims::ValueId;

std::vector<Value> ReduceBuilder::identities(std::vector<Combiner>& combiners) {
  std::vector<Value> out;
  for (Combiner& c : combiners) {
    auto flat = c.flatten(c.identity(), frame_.lanes());
    out.insert(out.end(), flat.begin(), flat.end());
  }
  return out;
}

// Contraction to fma: acc plus the product at the current position, rounded once. nullopt: c does
// not sum products, or they are not contractible.
std::optional<Value> ReduceBuilder::with_product(Combiner& c, const Indices& at, Value acc) {
  const ValueId product = c.operand(0);
  const bool wide = c.dtype(0) == DType::f64 && c_.target.simt;
  if (!c_.values.contractible(product) || !c_.target.fused_fma) return std::nullopt;
  if (c.dtype(0) != DType::f32 && !wide) return std::nullopt;
  if (c_.values.placement(product) != nullptr) return std::nullopt;
  const prims::Graph& g = c_.values.graph;
  const auto& factors = g.node(g.producer(product)).operands;
  const Value left = emitter_.emit(factors[0], at).re, right = emitter_.emit(factors[1], at).re;
  const Value sum = b().fma(left, right, acc);
  const Value inside = element_is_inside();
  return inside.valid() ? b().select(inside, sum, acc) : sum;
}

// i1, by lanes; invalid: all are.
Value ReduceBuilder::element_is_inside() const {
  if (across_) return inside_;
  if (!in_lanes()) return {};
  return resident_ ? inside_ : frame_.mask();
}

// acc (empty: nothing yet) combined with the elements at the current position. Lanes outside the
// row contribute the identity.
std::vector<Value> ReduceBuilder::accumulate(std::vector<Combiner>& combiners, const Indices& at,
                                             std::span<const Value> acc) {
  std::vector<Value> out;
  for (Combiner& c : combiners) {
    if (!acc.empty()) {
      if (const auto sum = with_product(c, at, acc[out.size()])) {
        out.push_back(*sum);
        continue;
      }
    }
    std::vector<ElementValue> x;
    for (size_t k = 0; k < c.arity(); ++k) x.push_back(emitter_.emit(c.operand(k), at));
    if (const Value inside = element_is_inside(); inside.valid()) x = c.or_identity(inside, x);
    if (!acc.empty()) x = c.combine(c.unflatten(acc.subspan(out.size(), c.registers())), x);
    auto next = c.flatten(x, frame_.lanes());
    out.insert(out.end(), next.begin(), next.end());
  }
  return out;
}

std::vector<Value> ReduceBuilder::combine_all(std::vector<Combiner>& combiners,
                                              std::span<const Value> x, std::span<const Value> y) {
  std::vector<Value> out;
  for (Combiner& c : combiners) {
    const auto results = c.combine(c.unflatten(x.subspan(out.size(), c.registers())),
                                   c.unflatten(y.subspan(out.size(), c.registers())));
    const auto flat = c.flatten(results, frame_.lanes());
    out.insert(out.end(), flat.begin(), flat.end());
  }
  return out;
}

void ReduceBuilder::combine_halves(std::vector<Combiner>& combiners, std::vector<Value>& tuples) {
  size_t registers = 0;
  for (const Combiner& c : combiners) registers += c.registers();
  for (size_t half = tuples.size() / 2; half >= registers; half /= 2) {
    for (size_t k = 0; k < half; k += registers) {
      const std::span<const Value> x(&tuples[k], registers), y(&tuples[half + k], registers);
      const auto both = combine_all(combiners, x, y);
      std::ranges::copy(both, tuples.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  tuples.resize(registers);
}

void ReduceBuilder::combine_lanes(Combiner& c, std::vector<ElementValue>& acc) {
  for (uint16_t half = frame_.lanes() / 2; half > 0; half /= 2) {
    std::vector<uint16_t> low, high;
    for (uint16_t l = 0; l < half; ++l) {
      low.push_back(l);
      high.push_back(static_cast<uint16_t>(l + half));
    }
    auto take = [&](Value v, const std::vector<uint16_t>& lanes) {
      if (!v.valid()) return v;
      return half == 1 ? b().extract(v, lanes[0]) : b().shuffle(v, v, lanes);
    };
    std::vector<ElementValue> x, y;
    for (const ElementValue& e : acc) {
      x.push_back({take(e.re, low), take(e.im, low)});
      y.push_back({take(e.re, high), take(e.im, high)});
    }
    acc = c.combine(x, y);
  }
}

// A butterfly of shuffles over so many neighbouring lanes of a subgroup: each gets the result.
void ReduceBuilder::combine_shuffled(Combiner& c, std::vector<ElementValue>& acc, uint32_t lanes) {
  for (uint32_t mask = lanes / 2; mask > 0; mask /= 2) {
    std::vector<Value> other = c.flatten(acc, 1);
    for (Value& v : other) v = of_lane_xor(b(), v, mask);
    acc = c.combine(acc, c.unflatten(other));
  }
}

// Shuffles reduce each subgroup; the subgroups' results are combined through workgroup memory.
void ReduceBuilder::combine_subgroups(std::vector<Combiner>& combiners,
                                      std::vector<std::vector<ElementValue>>& all) {
  const uint32_t lanes = c_.target.max_subgroup, subgroups = threads_ / lanes;
  const Value thread = b().local_id(0), lane = b().and_(thread, b().i32(lanes - 1));
  std::vector<Value> flat;
  for (size_t n = 0; n < all.size(); ++n) {
    Combiner& c = combiners[n];
    combine_shuffled(c, all[n], lanes);
    const std::vector<Value> mine = c.flatten(all[n], 1);
    flat.insert(flat.end(), mine.begin(), mine.end());
  }
  GroupMemory memory(b(), flat, subgroups);
  b().if_then(b().ieq(lane, b().i32(0)),
              [&] { memory.put(b().udiv(thread, b().i32(lanes)), flat); });
  b().barrier();
  std::vector<std::vector<Value>> rows;
  for (uint32_t i = 0; i < subgroups; ++i) rows.push_back(memory.get(b().i32(i)));
  size_t used = 0;
  for (size_t n = 0; n < all.size(); ++n) {
    Combiner& c = combiners[n];
    std::vector<std::vector<ElementValue>> parts;
    for (const auto& row : rows)
      parts.push_back(c.unflatten(std::span<const Value>(row).subspan(used, c.registers())));
    used += c.registers();
    for (size_t half = subgroups / 2; half > 0; half /= 2) {
      for (size_t i = 0; i < half; ++i) parts[i] = c.combine(parts[i], parts[i + half]);
    }
    all[n] = parts[0];
  }
  // The memory is used again by the next row; with several stages, each one's barrier is between.
  if (one_stage_) b().barrier();
}

// A tree in workgroup memory over the threads of a row, which lie threads / parts apart where
// several rows share a workgroup; every thread gets its row's result.
void ReduceBuilder::combine_threads(Combiner& c, std::vector<ElementValue>& acc) {
  const uint32_t threads = threads_;
  const uint32_t rows = shape_ == ReduceShape::simt_column ? threads / parts_ : 1;
  const Value t = b().local_id(0);
  const std::vector<Value> flat = c.flatten(acc, 1);
  GroupMemory memory(b(), flat, threads);
  memory.put(t, flat);
  for (uint32_t half = threads / 2; half >= rows; half /= 2) {
    b().barrier();
    b().if_then(b().ult(t, b().i32(half)), [&] {
      const auto mine = memory.get(t), other = memory.get(b().add(t, b().i32(half)));
      memory.put(t, c.flatten(c.combine(c.unflatten(mine), c.unflatten(other)), 1));
    });
  }
  b().barrier();
  acc = c.unflatten(memory.get(b().and_(t, b().i32(rows - 1))));
  b().barrier();  // the memory is used again by the next row
}

}  // namespace primset::schedule
