#include "codegen/schedule/element/element.h"

#include "codegen/schedule/element/scalar_lowering.h"
#include "codegen/schedule/element/view_placement.h"
#include "prims/graph/traits.h"
#include "primset/error.h"

namespace primset::schedule {

using kir::Value;
using prims::Prim;
using prims::ValueId;

namespace {

// A bug of the fusion plan: it materialises every value that no kernel can compute.
[[noreturn]] void not_in_memory(const prims::Graph& g, ValueId v) {
  const prims::NodeId p = g.producer(v);
  throw Error(
      ErrorCode::internal,
      "a kernel computes %" + std::to_string(v) + " (" +
          (p == prims::Graph::kNoNode ? "a parameter" : std::string(info(g.node(p).prim).name)) +
          ") where it cannot be computed; expected it in memory");
}

}  // namespace

void ElementEmitter::bind(ValueId v, const Indices& at, ElementValue value) {
  bound_[v] = {index_key(at), value};
}

void ElementEmitter::emit_loads(ValueId v, const Indices& at, std::set<ValueId>& seen,
                                const std::function<void(const Placement&)>& loaded) {
  const prims::Graph& g = values_.graph;
  if (v == prims::kNoValue || !seen.insert(v).second) return;
  if (const Placement* p = values_.placement(v)) {
    if (g.type(v).shape.size() != at.size()) return;
    emit(v, at);
    if (loaded) loaded(*p);
    return;
  }
  const prims::NodeId producer = g.producer(v);
  if (producer == prims::Graph::kNoNode || !is_core_elementwise(g.node(producer).prim)) return;
  for (ValueId operand : g.node(producer).operands) emit_loads(operand, at, seen, loaded);
}

ElementValue ElementEmitter::emit(ValueId v, const Indices& at) {
  if (auto it = bound_.find(v); it != bound_.end()) {
    if (it->second.first == index_key(at) || values_.graph.type(v).rank() == 0)
      return it->second.second;
    not_in_memory(values_.graph, v);
  }
  // The mask belongs to the key: loads under a narrower mask leave other lanes undefined.
  std::string key = std::to_string(v) + '@' + std::to_string(frame_.mask().id) + index_key(at);
  for (const auto& scope : memo_) {
    if (auto it = scope.find(key); it != scope.end()) return it->second;
  }
  ElementValue e = compute(v, at);
  memo_.back().emplace(std::move(key), e);
  return e;
}

// In this order: what is known without the graph (a scalar input, memory, a loop counter, a
// region's argument), then what the value's node computes from elements of its operands.
ElementValue ElementEmitter::compute(ValueId v, const Indices& at) {
  const prims::Graph& g = values_.graph;
  if (auto input = values_.scalar_input(v)) return frame_.scalar_input(*input, g.type(v).dtype);
  if (const Placement* p = values_.placement(v)) {
    const prims::ValueType& type = g.type(v);
    const bool strict = may_be_empty(type.shape) || values_.overwritten(v);
    return frame_.load(p->buffer, type.dtype, element_address(*p, at, arithmetic_), strict);
  }
  if (auto symbol = values_.symbol(v)) {
    return convert_integer(frame_.builder(), frame_.param(*symbol), g.type(v).dtype);
  }
  if (auto it = region_values_.find(v); it != region_values_.end()) return it->second;
  if (g.producer(v) == prims::Graph::kNoNode) not_in_memory(values_.graph, v);
  const Node& n = g.node(g.producer(v));
  if (regroups_bits(n)) return regrouped(n, at);
  if (is_core_elementwise(n.prim)) return elementwise(n, at);
  if (auto source = view(n, at)) return emit(n.operands[0], *source);
  switch (n.prim) {
    case Prim::constant:
      return constant(n);
    case Prim::iota:
      return iota(n, at);
    case Prim::pad:
      return pad(n, at);
    case Prim::concatenate:
      return concatenate(n, at);
    case Prim::window_scatter_add:
      return window_scatter_add(n, at);
    case Prim::dynamic_slice:
      return dynamic_slice(n, at);
    case Prim::dynamic_update_slice:
      return dynamic_update_slice(n, at);
    case Prim::gather:
      return gather(n, at);
    case Prim::map:
      return map(v, n, at);
    default:
      not_in_memory(values_.graph, v);
  }
}

ElementValue ElementEmitter::elementwise(const Node& n, const Indices& at) {
  const prims::Graph& g = values_.graph;
  std::vector<ElementValue> in;
  for (ValueId operand : n.operands) in.push_back(emit(operand, at));
  const DType from = g.type(n.operands[n.prim == Prim::select ? 1 : 0]).dtype;
  const DType to = g.type(n.results[0]).dtype;
  kir::Builder& b = frame_.builder();
  if (n.prim == Prim::convert) return lower_convert(b, in[0], from, to);
  if (n.prim == Prim::bitcast) return lower_bitcast(b, in[0], from, to);
  return lower_elementwise(b, n.prim, from, to, in);
}

ElementValue ElementEmitter::constant(const Node& n) {
  const DType dtype = values_.graph.type(n.results[0]).dtype;
  const auto& value = n.find_attr("value").value;
  kir::Builder& b = frame_.builder();
  if (const auto* s = std::get_if<primset::Scalar>(&value)) return literal(b, *s, dtype);
  const auto& size = std::get<SymInt>(value);
  if (auto known = size.maybe_constant()) return literal(b, primset::Scalar(*known), dtype);
  // Of an integer dtype the lowest bits are all there is to know.
  if (!frame_.target().i64 && !is_integral(dtype) &&
      (size < SymInt(INT32_MIN) || size > SymInt(INT32_MAX)))
    throw Error(ErrorCode::not_implemented,
                "a size does not fit 32 bits, and the device has no 64-bit integers");
  return convert_integer(b, frame_.number_param(size), dtype);
}

ElementValue ElementEmitter::iota(const Node& n, const Indices& at) {
  return convert_integer(frame_.builder(), value(at[static_cast<size_t>(n.attr<int64_t>("dim"))]),
                         values_.graph.type(n.results[0]).dtype);
}

Affine element_address(Frame& f, const Placement& p, const Indices& at) {
  FrameArithmetic arithmetic(f);
  return element_address(p, at, arithmetic);
}

// A part of consecutive numbers in a CPU's lanes, which would divide them one by one: a quotient
// and a remainder of the first one say it, where lanes are too few to go round twice.
class FrameArithmetic::ConsecutivePart {
 public:
  ConsecutivePart(Frame& f, const Index& i, const SymInt& inner, Value first)
      : f_(f), b_(f.builder()), first_(first), is_first_(i.part == 0) {
    size_ = f.param(i.split->sizes[i.part]);
    inner_ = f.param(inner);
    is_last_ = i.part + 1 == i.split->sizes.size();
    least_ = is_last_ ? size_ : inner_;
  }

  Value is_simple() { return b_.sle(f_.index_constant(f_.lanes()), least_); }
  Value value() { return is_last_ ? remainders() : quotients(); }

 private:
  Value lanes_from(Value v) {
    return b_.add(b_.lane_iota({f_.index_type().scalar, f_.lanes()}), v);
  }
  Value remainders() {
    const Value v = lanes_from(b_.urem(first_, size_));
    return b_.select(b_.sle(b_.splat(size_, f_.lanes()), v), b_.sub(v, size_), v);
  }
  Value quotients() {
    const Value quotient = b_.udiv(first_, inner_);
    const Value rest = lanes_from(b_.sub(first_, b_.mul(quotient, inner_)));
    const Value low = is_first_ ? quotient : b_.urem(quotient, size_);
    Value high = b_.add(low, f_.index_constant(1));
    if (!is_first_) high = b_.select(b_.ieq(high, size_), f_.index_constant(0), high);
    return b_.select(b_.sle(b_.splat(inner_, f_.lanes()), rest), b_.splat(high, f_.lanes()),
                     b_.splat(low, f_.lanes()));
  }

  Frame& f_;
  kir::Builder& b_;
  Value first_, size_, inner_, least_;
  bool is_first_, is_last_;
};

Affine FrameArithmetic::divide_out(const Index& i) {
  kir::Builder& b = frame_.builder();
  SymInt inner = 1;
  for (size_t k = i.part + 1; k < i.split->sizes.size(); ++k) inner *= i.split->sizes[k];
  const auto divided = [&] {
    const Value v = b.udiv(frame_.materialize(i.split->linear), frame_.param(inner));
    return kir::Builder::Values{i.part > 0 ? b.urem(v, frame_.param(i.split->sizes[i.part])) : v};
  };
  Affine out;
  if (const Value first = frame_.first_of_consecutive(i.split->linear); first.valid()) {
    ConsecutivePart part(frame_, i, inner, first);
    out.opaque =
        b.if_else(part.is_simple(), [&] { return kir::Builder::Values{part.value()}; }, divided)[0];
  } else {
    out.opaque = divided()[0];
  }
  return out;
}

Index ElementEmitter::opaque(Value v) const {
  Affine a;
  a.opaque = v;
  return affine_index(std::move(a));
}

Value ElementEmitter::in_range(Value v, const SymInt& hi) {
  kir::Builder& b = frame_.builder();
  return b.ult(v, frame_.param(hi));  // as unsigned, negative numbers are too large
}

ElementValue ElementEmitter::emit_under(Value condition, ValueId v, const Indices& at) {
  const prims::ValueType& type = values_.graph.type(v);
  if (!has_elements(type.shape)) return literal(frame_.builder(), primset::Scalar(0), type.dtype);
  const Value outer = frame_.mask();
  frame_.set_mask(frame_.mask_and(condition));
  ElementValue e = emit(v, at);
  frame_.set_mask(outer);
  return e;
}

}  // namespace primset::schedule
