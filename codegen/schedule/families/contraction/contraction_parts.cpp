#include "codegen/schedule/families/contraction/contraction_parts.h"

#include <algorithm>

#include "codegen/schedule/element/scalar_lowering.h"
#include "prims/graph/traits.h"

namespace primset::schedule {

using kir::Value;

std::pair<Value, Value> divide(Frame& f, Value v, const SymInt& by) {
  kir::Builder& b = f.builder();
  if (by.is_constant() && by.constant() == 1) return {v, f.index_constant(0)};
  const Value d = f.param(by), q = b.udiv(v, d);
  return {q, b.sub(v, b.mul(q, d))};
}

void delinearize(Frame& f, Value linear, const DimList& dims, const SymInts& sizes, Indices& at) {
  const auto opaque = [](Value v) {
    Affine a;
    a.opaque = v;
    return affine_index(std::move(a));
  };
  for (size_t i = dims.size(); i-- > 0;) {
    const auto d = static_cast<size_t>(dims[i]);
    if (i == 0) {
      at[d] = opaque(linear);
      break;
    }
    const auto [rest, mine] = divide(f, linear, sizes[d]);
    at[d] = opaque(mine);
    linear = rest;
  }
}

std::optional<bool> memory_runs_along(const ValueEnvironment& values, prims::ValueId v,
                                      const DimList& along) {
  const prims::Graph& g = values.graph;
  DimList dims;  // of the operand, by dim of v
  for (size_t d = 0; d < g.type(v).rank(); ++d) dims.push_back(static_cast<int64_t>(d));
  for (;;) {
    if (const Placement* p = values.placement(v)) {
      for (size_t d = 0; d < dims.size(); ++d)
        if (p->strides[d].same(SymInt(1))) return std::ranges::find(along, dims[d]) != along.end();
      return false;
    }
    const prims::NodeId id = g.producer(v);
    if (id == prims::Graph::kNoNode) return std::nullopt;
    const prims::Node& n = g.node(id);
    if (n.prim == prims::Prim::transpose) {
      DimList next(dims.size());
      const auto& permutation = n.attr<DimList>("permutation");
      for (size_t d = 0; d < dims.size(); ++d) next[static_cast<size_t>(permutation[d])] = dims[d];
      dims = next;
    } else if (!is_core_elementwise(n.prim)) {
      return std::nullopt;
    }
    v = n.operands[n.prim == prims::Prim::select ? 1 : 0];
  }
}

// --- the result ----------------------------------------------------------------------------------

ContractionResult::ContractionResult(Frame& f, ElementEmitter& e, const prims::Graph& g,
                                     const prims::Node& n, const std::vector<Root>& roots,
                                     const ContractionRoles& a, const ContractionRoles& b)
    : f_(f), e_(e), g_(g), result_(n.results[0]), roots_(roots) {
  const size_t counts[] = {a.batch.size(), a.free.size(), b.free.size()};
  int64_t next = 0;
  for (size_t part = 0; part < 3; ++part) {
    for (size_t i = 0; i < counts[part]; ++i) dims_[part].push_back(next++);
  }
}

Indices ContractionResult::at(Value batch, Value row, Value column) const {
  const SymInts& sizes = f_.domain();
  Indices at(sizes.size());
  delinearize(f_, batch, dims_[0], sizes, at);
  delinearize(f_, row, dims_[1], sizes, at);
  delinearize(f_, column, dims_[2], sizes, at);
  return at;
}

std::vector<ElementValue> ContractionResult::epilogue(Value sum, const Indices& at) {
  ElementEmitter::Scope scope(e_);
  e_.bind(result_, at, {sum, {}});
  std::vector<ElementValue> out;
  for (const Root& r : roots_) out.push_back(e_.emit(r.value, at));
  return out;
}

void ContractionResult::store(Value sum, const Indices& at) {
  const std::vector<ElementValue> made = epilogue(sum, at);
  for (size_t i = 0; i < roots_.size(); ++i) {
    f_.store(roots_[i].out.buffer, g_.type(roots_[i].value).dtype,
             element_address(f_, roots_[i].out, at), made[i]);
  }
}

bool ContractionResult::may_store_vectors(const Root& r) const {
  const DType t = g_.type(r.value).dtype;
  const kir::Scalar s = memory_scalar(t);
  const bool packs = s == kir::Scalar::i16 || s == kir::Scalar::i32 || s == kir::Scalar::f32;
  return packs && !is_complex(t) && !dims_[2].empty() &&
         r.out.strides[static_cast<size_t>(dims_[2].back())].same(SymInt(1));
}

Value ContractionResult::can_store_vectors(uint32_t count) {
  if (!std::ranges::all_of(roots_, [&](const Root& r) { return may_store_vectors(r); })) return {};
  kir::Builder& b = f_.builder();
  const auto last = static_cast<size_t>(dims_[2].back());
  const auto low_word = [&](const SymInt& s) {
    return b.int_resize(f_.param(s), kir::Scalar::i32, true);
  };
  // The bits of a column number or stride that say that a vector would be unaligned.
  const Value within = b.i32(int64_t{count} - 1);
  Value rest = b.and_(low_word(f_.domain()[last]), within);
  for (const Root& r : roots_) {
    const int64_t bytes = kir::bytes(memory_scalar(g_.type(r.value).dtype));
    Value steps = low_word(r.out.offset);
    for (size_t d = 0; d < last; ++d) {
      if (!f_.domain()[d].same(SymInt(1))) steps = b.or_(steps, low_word(r.out.strides[d]));
    }
    const Value address = b.address_low_word(f_.buffer(r.out.buffer, false, true));
    const Value begins = b.and_(address, b.i32(int64_t{count} * bytes - 1));
    rest = b.or_(rest, b.or_(b.and_(steps, within), begins));
  }
  return b.ieq(rest, b.i32(0));
}

void ContractionResult::store_vector(std::span<const Value> sums, std::span<const Indices> at) {
  kir::Builder& b = f_.builder();
  const auto count = static_cast<uint32_t>(sums.size());
  std::vector<std::vector<ElementValue>> made;  // by column, then by root
  for (size_t j = 0; j < sums.size(); ++j) made.push_back(epilogue(sums[j], at[j]));
  for (size_t i = 0; i < roots_.size(); ++i) {
    const Placement& out = roots_[i].out;
    const DType t = g_.type(roots_[i].value).dtype;
    const Affine address = element_address(f_, out, at[0]);
    f_.analysis().accesses.push_back({out.buffer, address, true});
    Value vector = b.splat(to_memory(b, made[0][i].re, t), static_cast<uint16_t>(count));
    for (uint32_t j = 1; j < count; ++j)
      vector = b.insert(vector, to_memory(b, made[j][i].re, t), j);
    const auto align = count * static_cast<uint32_t>(kir::bytes(memory_scalar(t)));
    b.store(f_.buffer(out.buffer, false, true), f_.materialize(address), vector, align);
  }
}

}  // namespace primset::schedule
