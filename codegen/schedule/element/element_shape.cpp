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

// Applies a + k*x to an index when that stays affine; parts of a split are left to the caller.
Index transformed(Frame& f, Affine a, const SymInt& factor, const SymInt& offset) {
  a = f.scale(a, factor);
  return affine_index(a + offset);
}

}  // namespace

Elem ElementEmitter::emit_viewed(const Node& n, const Indices& at) {
  return emit(n.operands[0], view(n, at).value());
}

// Primitives that only rewrite the indices of their first operand.
std::optional<Indices> ElementEmitter::view(const Node& n, const Indices& at) {
  const prims::Graph& g = values_.graph;
  const SymInts& from = n.operands.empty() ? SymInts{} : g.type(n.operands[0]).shape;
  Indices out;
  switch (n.prim) {
    case Prim::broadcast_in_dim: {
      const auto& dims = n.attr<Ints>("dims");
      for (size_t d = 0; d < dims.size(); ++d) {
        const auto r = static_cast<size_t>(dims[d]);
        out.push_back(from[d].same(SymInt(1)) ? affine_index({}) : at[r]);
      }
      return out;
    }
    case Prim::transpose: {
      const auto& permutation = n.attr<Ints>("permutation");
      out.resize(permutation.size());
      for (size_t d = 0; d < permutation.size(); ++d)
        out[static_cast<size_t>(permutation[d])] = at[d];
      return out;
    }
    case Prim::slice: {
      const auto& start = n.attr<SymInts>("start");
      const auto& stride = n.attr<SymInts>("stride");
      for (size_t d = 0; d < at.size(); ++d) {
        const bool whole = start[d].same(SymInt(0)) && stride[d].same(SymInt(1));
        out.push_back(whole ? at[d] : transformed(frame_, affine(at[d]), stride[d], start[d]));
      }
      return out;
    }
    case Prim::reverse: {
      out = at;
      for (int64_t d : n.attr<Ints>("dims")) {
        auto i = static_cast<size_t>(d);
        out[i] = transformed(frame_, affine(at[i]), -1, from[i] - 1);
      }
      return out;
    }
    case Prim::window: {
      const auto& dims = n.attr<Ints>("dims");
      const auto& strides = n.attr<SymInts>("strides");
      const auto& dilations = n.attr<SymInts>("dilations");
      out.assign(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(from.size()));
      for (size_t k = 0; k < dims.size(); ++k) {
        auto d = static_cast<size_t>(dims[k]);
        Affine position = frame_.scale(affine(out[d]), strides[k]);
        Affine offset = frame_.scale(affine(at[from.size() + k]), dilations[k]);
        out[d] = affine_index(frame_.add(position, offset));
      }
      return out;
    }
    case Prim::set_dim:
      return at;  // a cut array has the same elements
    default:
      return std::nullopt;
  }
}

// Walks both shapes from the left and splits them into runs of equal extent. A run of one dimension
// on both sides passes its index through; several result dims for one operand dim combine affinely;
// anything else takes the linear index apart.
Elem ElementEmitter::reshape(const Node& n, const Indices& at) {
  const prims::Graph& g = values_.graph;
  const SymInts& from = g.type(n.operands[0]).shape;
  const SymInts& to = g.type(n.results[0]).shape;
  Indices out(from.size());
  auto linear_of = [&](size_t begin, size_t end) {
    // A run that is all of a split in order is that split's linear index.
    if (begin < end && at[begin].split && at[begin].part == 0 &&
        at[begin].split->sizes.size() == end - begin) {
      bool whole = true;
      for (size_t k = begin; k < end; ++k)
        whole &= at[k].split == at[begin].split && at[k].part == k - begin;
      if (whole) return at[begin].split->linear;
    }
    Affine sum;
    SymInt inner = 1;
    for (size_t d = end; d-- > begin;) {
      if (!to[d].same(SymInt(1))) sum = frame_.add(sum, frame_.scale(affine(at[d]), inner));
      inner *= to[d];
    }
    return sum;
  };
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    if (i < from.size() && from[i].same(SymInt(1))) {
      out[i++] = affine_index({});
      continue;
    }
    if (j < to.size() && to[j].same(SymInt(1))) {
      ++j;
      continue;
    }
    const size_t i0 = i, j0 = j;
    SymInt a = i < from.size() ? from[i++] : SymInt(1), b = j < to.size() ? to[j++] : SymInt(1);
    while (!a.same(b) && (i < from.size() || j < to.size())) {
      // Extend the side with fewer elements, as far as the hints tell.
      if (j >= to.size() || (i < from.size() && a.hint() <= b.hint()))
        a *= from[i++];
      else
        b *= to[j++];
    }
    if (i - i0 == 1 && j - j0 == 1) {
      out[i0] = at[j0];
    } else if (i - i0 == 1) {
      out[i0] = affine_index(linear_of(j0, j));
    } else {
      auto split = std::make_shared<Index::Split>();
      split->linear = linear_of(j0, j);
      for (size_t k = i0; k < i; ++k) split->sizes.push_back(from[k]);
      for (size_t k = i0; k < i; ++k) {
        out[k].split = split;
        out[k].part = k - i0;
      }
    }
  }
  return emit(n.operands[0], out);
}

Elem ElementEmitter::pad(const Node& n, const Indices& at) {
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
  Elem value = emit_under(inside, n.operands[0], source);
  Elem fill = emit(n.operands[1], {});
  const Elem in[] = {{inside, {}}, value, fill};
  const DType dtype = values_.graph.type(n.results[0]).dtype;
  return lower_elementwise(b, Prim::select, dtype, dtype, in);
}

Elem ElementEmitter::concatenate(const Node& n, const Indices& at) {
  kir::Builder& b = frame_.builder();
  const prims::Graph& g = values_.graph;
  const auto dim = static_cast<size_t>(n.attr<int64_t>("dim"));
  const DType dtype = g.type(n.results[0]).dtype;
  Affine position = affine(at[dim]);
  std::optional<Elem> result;
  SymInt offset = 0;
  for (ValueId operand : n.operands) {
    const SymInt& size = g.type(operand).shape[dim];
    if (size.same(SymInt(0))) continue;
    Indices source = at;
    Affine shifted = position + -offset;
    source[dim] = affine_index(shifted);
    Value inside = in_range(frame_.materialize(shifted), size);
    Elem e = emit_under(inside, operand, source);
    if (result) {
      const Elem in[] = {{inside, {}}, e, *result};
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
Elem ElementEmitter::window_scatter_add(const Node& n, const Indices& at) {
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

  Elem zero = literal(b, primset::Scalar(0), dtype);
  const uint16_t lanes = frame_.lanes();
  auto widen = [&](Value v) { return b.type(v).lanes < lanes ? b.splat(v, lanes) : v; };
  std::function<Elem(size_t, Indices, Value, Elem)> nest = [&](size_t k, Indices source,
                                                               Value inside, Elem sum) -> Elem {
    if (k == dims.size()) {
      Elem y = emit_under(inside, n.operands[0], source);
      Elem added = lower_combine(b, Prim::reduce_sum, dtype, sum, y);
      const Elem in[] = {{inside, {}}, added, sum};
      return lower_elementwise(b, Prim::select, dtype, dtype, in);
    }
    std::vector<Value> carried{widen(sum.re)};
    if (sum.im.valid()) carried.push_back(widen(sum.im));
    auto out = b.for_loop(
        frame_.index_constant(0), frame_.param(sizes[k]), frame_.index_constant(1), carried,
        [&](Value offset, std::span<const Value> acc) {
          Scope scope(*this);
          Value rest = b.sub(position[k], b.mul(offset, frame_.param(dilations[k])));
          Value stride = frame_.param(strides[k]);
          Value at_stride = b.sdiv(rest, stride);
          Value ok = b.and_(b.ieq(b.mul(at_stride, stride), rest),
                            b.and_(b.sle(frame_.index_constant(0), rest),
                                   in_range(at_stride, from[static_cast<size_t>(dims[k])])));
          Indices next = source;
          next[static_cast<size_t>(dims[k])] = opaque(at_stride);
          next.push_back(opaque(offset));
          Value both = inside.valid() ? b.and_(inside, ok) : ok;
          Elem e = nest(k + 1, next, both, {acc[0], acc.size() > 1 ? acc[1] : Value{}});
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
