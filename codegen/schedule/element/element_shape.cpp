// Views and shape primitives of the element emitter.
#include <algorithm>
#include <iterator>

#include "codegen/schedule/element/element.h"
#include "codegen/schedule/element/scalar_lowering.h"
#include "primset/error.h"

namespace primset::schedule {

using kir::Value;
using prims::Prim;
using prims::ValueId;

namespace {

using Ints = std::vector<int64_t>;

}  // namespace

ElementValue ElementEmitter::emit_viewed(const Node& n, const Indices& at) {
  return emit(n.operands[0], view(n, at).value());
}

// Primitives that only rewrite the indices of their first operand.
std::optional<Indices> ElementEmitter::view(const Node& n, const Indices& at) {
  return view_indices(values_.graph, n, at, arithmetic_);
}

ElementValue ElementEmitter::pad(const Node& n, const Indices& at) {
  kir::Builder& b = frame_.builder();
  const SymInts& from = values_.graph.type(n.operands[0]).shape;
  const auto& low = n.attr<SymInts>("low");
  const auto& high = n.attr<SymInts>("high");
  const auto& interior = n.attr<SymInts>("interior");
  Indices source = at;
  Value inside;
  std::vector<PaddingTest> tests;
  bool computed = false;  // some index is not of the loop variables alone
  auto require = [&](Value c) { inside = inside.valid() ? b.and_(inside, c) : c; };
  for (size_t d = 0; d < at.size(); ++d) {
    const bool untouched =
        low[d].same(SymInt(0)) && high[d].same(SymInt(0)) && interior[d].same(SymInt(0));
    if (untouched) continue;
    Affine shifted = affine(at[d]) + -low[d];
    Value v = frame_.materialize(shifted);
    if (!interior[d].same(SymInt(0))) {
      Value step = frame_.param(interior[d] + 1);
      require(b.ieq(b.srem(v, step), frame_.index_constant(0)));
      // Negative values are outside anyhow; sdiv keeps them below one full step.
      require(b.sle(frame_.index_constant(0), v));
      v = b.sdiv(v, step);
      source[d] = opaque(v);
      computed = true;
    } else {
      source[d] = affine_index(shifted);
      computed |= !shifted.is_affine();
      tests.push_back({n.results[0], shifted, from[d]});
    }
    require(in_range(v, from[d]));
  }
  if (!computed) std::ranges::copy(tests, std::back_inserter(frame_.analysis().padding));
  if (!inside.valid() || inside_.contains(n.results[0])) return emit(n.operands[0], source);
  ElementValue value = emit_under(inside, n.operands[0], source);
  ElementValue fill = emit(n.operands[1], {});
  const ElementValue in[] = {{inside, {}}, value, fill};
  const DType dtype = values_.graph.type(n.results[0]).dtype;
  return lower_elementwise(b, Prim::select, dtype, dtype, in);
}

ElementValue ElementEmitter::concatenate(const Node& n, const Indices& at) {
  kir::Builder& b = frame_.builder();
  const prims::Graph& g = values_.graph;
  const auto dim = static_cast<size_t>(n.attr<int64_t>("dim"));
  const DType dtype = g.type(n.results[0]).dtype;
  Affine position = affine(at[dim]);
  std::optional<ElementValue> result;
  SymInt offset = 0;
  for (ValueId operand : n.operands) {
    const SymInt& size = g.type(operand).shape[dim];
    if (size.same(SymInt(0))) continue;
    Indices source = at;
    Affine shifted = position + -offset;
    source[dim] = affine_index(shifted);
    Value inside = in_range(frame_.materialize(shifted), size);
    ElementValue e = emit_under(inside, operand, source);
    if (result) {
      const ElementValue in[] = {{inside, {}}, e, *result};
      e = lower_elementwise(b, Prim::select, dtype, dtype, in);
    }
    result = e;
    offset += size;
  }
  if (!result) return literal(b, primset::Scalar(0), dtype);
  return *result;
}

// Output position p gets the sum over window offsets k of y[(p - k*dilation) / stride, k], for
// those that divide and lie inside: a fixed order, k ascending.
ElementValue ElementEmitter::window_scatter_add(const Node& n, const Indices& at) {
  kir::Builder& b = frame_.builder();
  const prims::Graph& g = values_.graph;
  const SymInts& from = g.type(n.operands[0]).shape;
  const DType dtype = g.type(n.results[0]).dtype;
  const auto& dims = n.attr<Ints>("dims");
  const auto& sizes = n.attr<SymInts>("sizes");
  const auto& strides = n.attr<SymInts>("strides");
  const auto& dilations = n.attr<SymInts>("dilations");
  std::vector<Value> position;
  for (int64_t d : dims) position.push_back(value(at[static_cast<size_t>(d)]));

  ElementValue zero = literal(b, primset::Scalar(0), dtype);
  const uint16_t lanes = frame_.lanes();
  auto widen = [&](Value v) { return b.type(v).lanes < lanes ? b.splat(v, lanes) : v; };
  std::function<ElementValue(size_t, Indices, Value, ElementValue)> nest =
      [&](size_t k, Indices source, Value inside, ElementValue sum) -> ElementValue {
    if (k == dims.size()) {
      ElementValue y = emit_under(inside, n.operands[0], source);
      ElementValue added = lower_combine(b, Prim::reduce_sum, dtype, sum, y);
      const ElementValue in[] = {{inside, {}}, added, sum};
      return lower_elementwise(b, Prim::select, dtype, dtype, in);
    }
    std::vector<Value> carried{widen(sum.re)};
    if (sum.im.valid()) carried.push_back(widen(sum.im));
    const Value size = frame_.param(sizes[k]), stride = frame_.param(strides[k]);
    // The windows over a position are `stride` apart, and so are its places in them.
    const bool apart = dilations[k].same(SymInt(1)) && !strides[k].same(SymInt(1));
    const Value last = apart ? b.sdiv(position[k], stride) : Value{};
    const Value first = apart ? b.sub(position[k], b.mul(last, stride)) : Value{};
    const Value end = apart ? frame_.param(prims::ceil_div(sizes[k], strides[k])) : size;
    auto out = b.for_loop(
        frame_.index_constant(0), end, frame_.index_constant(1), carried,
        [&](Value i, std::span<const Value> acc) {
          Scope scope(*this);
          Value offset = i, window, ok;
          if (apart) {
            offset = b.add(first, b.mul(i, stride));
            window = b.sub(last, i);
            ok = b.slt(offset, size);
          } else {
            const Value rest = b.sub(position[k], b.mul(offset, frame_.param(dilations[k])));
            window = b.sdiv(rest, stride);
            ok = b.and_(b.ieq(b.mul(window, stride), rest), b.sle(frame_.index_constant(0), rest));
          }
          ok = b.and_(ok, in_range(window, from[static_cast<size_t>(dims[k])]));
          Indices next = source;
          next[static_cast<size_t>(dims[k])] = opaque(window);
          next.push_back(opaque(offset));
          Value both = inside.valid() ? b.and_(inside, ok) : ok;
          ElementValue e = nest(k + 1, next, both, {acc[0], acc.size() > 1 ? acc[1] : Value{}});
          kir::Builder::Values r{widen_to(e.re, acc[0])};
          if (acc.size() > 1) r.push_back(widen_to(e.im, acc[1]));
          return r;
        });
    return {out[0], out.size() > 1 ? out[1] : Value{}};
  };
  Indices source(at.begin(), at.end());
  return nest(0, source, {}, zero);
}

Value ElementEmitter::widen_to(Value v, Value like) {
  kir::Builder& b = frame_.builder();
  const uint16_t lanes = b.type(like).lanes;
  return b.type(v).lanes < lanes ? b.splat(v, lanes) : v;
}

}  // namespace primset::schedule
