// Elements at run-time indices: gather, dynamic_slice, dynamic_update_slice.
#include <algorithm>

#include "codegen/schedule/element/bounds_check.h"
#include "codegen/schedule/element/element.h"
#include "codegen/schedule/element/scalar_lowering.h"

namespace primset::schedule {

using kir::Value;
using prims::Prim;
using prims::ValueId;

ElementValue ElementEmitter::gather(const Node& n, const Indices& at) {
  kir::Builder& b = frame_.builder();
  const prims::Graph& g = values_.graph;
  const ValueId x = n.operands[0];
  const SymInts& from = g.type(x).shape;
  const auto& dims = n.attr<std::vector<int64_t>>("dims");
  const bool in_bounds = n.attr<bool>("in_bounds");
  const size_t batch = g.type(n.operands[1]).rank();
  const Indices index_at(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(batch));

  Indices source(from.size());
  Value all_in_bounds;
  for (size_t k = 0; k < dims.size(); ++k) {
    const ValueId operand = n.operands[1 + k];
    const auto d = static_cast<size_t>(dims[k]);
    // An index that is itself an iota keeps its affine form.
    if (g.producer(operand) != prims::Graph::kNoNode) {
      if (auto direct = affine_value(operand, index_at); direct && in_bounds) {
        source[d] = affine_index(*direct);
        continue;
      }
    }
    read_ahead(operand);
    Value wide = emit(operand, index_at).re;
    Value i = frame_.index(wide);
    if (!in_bounds) {
      const Value inside = check_bounds(frame_, values_, n, k, wide);
      all_in_bounds = all_in_bounds.valid() ? b.and_(all_in_bounds, inside) : inside;
      i = b.select(inside, i, frame_.index_constant(0));
    }
    source[d] = opaque(i);
  }
  size_t rest = batch;
  for (size_t d = 0; d < from.size(); ++d) {
    if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) == dims.end())
      source[d] = at[rest++];
  }
  prefetch_gathered(n, index_at, source);
  // What lies a page behind a row is another row, which an index seldom asks for next.
  const bool prefetches = frame_.prefetches();
  frame_.set_prefetches(false);
  const ElementValue element =
      all_in_bounds.valid() ? emit_under(all_in_bounds, x, source) : emit(x, source);
  frame_.set_prefetches(prefetches);
  if (!all_in_bounds.valid()) return element;
  const DType dtype = g.type(x).dtype;
  const ElementValue in[] = {{all_in_bounds, {}}, element, literal(b, primset::Scalar(0), dtype)};
  return lower_elementwise(b, Prim::select, dtype, dtype, in);
}

// A CPU's loop over a row reads the index of the row once, if nothing is written there meanwhile.
void ElementEmitter::read_ahead(ValueId index) {
  const Placement* place = values_.placement(index);
  if (place == nullptr || frame_.target().simt || values_.overwritten(index)) return;
  frame_.builder().set_invariant(frame_.buffer(place->buffer, true, false));
}

// A CPU's loop along a row asks for the same part of a later row, which no prefetcher foresees.
void ElementEmitter::prefetch_gathered(const Node& n, const Indices& index_at, Indices at) {
  const prims::Graph& g = values_.graph;
  const Placement* place = values_.placement(n.operands[0]);
  const auto is_in_memory = [&](ValueId v) { return values_.placement(v) != nullptr; };
  const std::span<const ValueId> operands = std::span(n.operands).subspan(1);
  if (place == nullptr || index_at.empty() || !frame_.prefetches() ||
      !std::ranges::all_of(operands, is_in_memory))
    return;
  const auto& dims = n.attr<std::vector<int64_t>>("dims");
  SymInt row = static_cast<int64_t>(byte_size(g.type(n.operands[0]).dtype));
  for (size_t d = 0; d < at.size(); ++d)
    if (std::ranges::find(dims, static_cast<int64_t>(d)) == dims.end())
      row *= g.type(n.operands[0]).shape[d];
  constexpr int64_t kBytesAhead = 8192, kMostRows = 16;
  const SymInt ahead =
      prims::max(1, prims::min(kMostRows, prims::floor_div(kBytesAhead, prims::max(row, 1))));
  kir::Builder& b = frame_.builder();
  const Value later = frame_.materialize(affine(index_at.back()) + ahead);
  if (b.type(later).lanes > 1) return;
  const Value last = frame_.param(g.type(operands[0]).shape.back() - SymInt(1));
  Indices later_at = index_at;
  later_at.back() = opaque(b.select(b.slt(later, last), later, last));
  for (size_t k = 0; k < operands.size(); ++k)
    at[static_cast<size_t>(dims[k])] = opaque(frame_.index(emit(operands[k], later_at).re));
  frame_.prefetch(place->buffer, g.type(n.operands[0]).dtype,
                  element_address(*place, at, arithmetic_));
}

// The affine form of an integer value made of iotas, constants, broadcasts and sums of them.
std::optional<Affine> ElementEmitter::affine_value(ValueId v, const Indices& at) {
  const prims::Graph& g = values_.graph;
  if (values_.placement(v) != nullptr || g.producer(v) == prims::Graph::kNoNode)
    return std::nullopt;
  const Node& n = g.node(g.producer(v));
  switch (n.prim) {
    case Prim::iota:
      return affine(at[static_cast<size_t>(n.attr<int64_t>("dim"))]);
    case Prim::constant: {
      const auto& value = n.find_attr("value").value;
      Affine a;
      if (const auto* s = std::get_if<primset::Scalar>(&value))
        a.constant = s->to_int();
      else
        a.constant = std::get<SymInt>(value);
      return a;
    }
    case Prim::add: {
      auto x = affine_value(n.operands[0], at), y = affine_value(n.operands[1], at);
      if (!x || !y) return std::nullopt;
      return frame_.add(*x, *y);
    }
    case Prim::mul: {
      auto x = affine_value(n.operands[0], at), y = affine_value(n.operands[1], at);
      if (!x || !y) return std::nullopt;
      auto is_number = [](const Affine& a) {
        for (const SymInt& c : a.coefficients) {
          if (!c.same(SymInt(0))) return false;
        }
        return a.is_affine();
      };
      if (is_number(*y)) return frame_.scale(*x, y->constant);
      if (is_number(*x)) return frame_.scale(*y, x->constant);
      return std::nullopt;
    }
    case Prim::broadcast_in_dim:
    case Prim::transpose:
    case Prim::slice:
    case Prim::reverse:
      return affine_value(n.operands[0], *view(n, at));
    default:
      return std::nullopt;
  }
}

Value ElementEmitter::clamped_start(ValueId start, const SymInt& limit) {
  kir::Builder& b = frame_.builder();
  Value s = emit(start, {}).re;
  Value zero = b.constant(b.type(s), 0);
  Value high = b.int_resize(frame_.param(limit), b.type(s).scalar, true);
  s = b.select(b.slt(s, zero), zero, s);
  s = b.select(b.slt(high, s), high, s);
  return frame_.index(s);
}

ElementValue ElementEmitter::dynamic_slice(const Node& n, const Indices& at) {
  const SymInts& from = values_.graph.type(n.operands[0]).shape;
  const auto& sizes = n.attr<SymInts>("sizes");
  Indices source;
  for (size_t d = 0; d < at.size(); ++d) {
    Affine start;
    start.opaque = clamped_start(n.operands[1 + d], from[d] - sizes[d]);
    source.push_back(affine_index(frame_.add(affine(at[d]), start)));
  }
  return emit(n.operands[0], source);
}

ElementValue ElementEmitter::dynamic_update_slice(const Node& n, const Indices& at) {
  kir::Builder& b = frame_.builder();
  const prims::Graph& g = values_.graph;
  const SymInts& from = g.type(n.operands[0]).shape;
  const SymInts& update = g.type(n.operands[1]).shape;
  const DType dtype = g.type(n.results[0]).dtype;
  Value inside;
  Indices source;
  for (size_t d = 0; d < at.size(); ++d) {
    Value start = clamped_start(n.operands[2 + d], from[d] - update[d]);
    Value i = b.sub(value(at[d]), start);
    Value ok = in_range(i, update[d]);
    inside = inside.valid() ? b.and_(inside, ok) : ok;
    source.push_back(opaque(i));
  }
  if (!inside.valid()) return emit(n.operands[1], {});
  const ElementValue in[] = {
      {inside, {}}, emit_under(inside, n.operands[1], source), emit(n.operands[0], at)};
  return lower_elementwise(b, Prim::select, dtype, dtype, in);
}

}  // namespace primset::schedule
