#include "decomps/engine/formula/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "decomps/engine/boxing.h"
#include "prims/graph/signature.h"
#include "prims/graph/traits.h"

namespace primset::decomps {
namespace {

using specs::Callee;
using specs::FormulaNode;
using specs::FormulaOp;
using specs::NodeKind;

// What a node evaluates to. Numbers known while tracing stay numbers, so that conditions and
// attributes can use them.
struct Term;
using Terms = std::vector<Term>;
struct Term {
  using Value = std::variant<std::monostate, Val, Scalar, SymInt, std::string, DType, Terms,
                             std::vector<Val>>;
  Value value;  // vector<Val>: several results of one call

  template <typename T>
  const T* get() const {
    return std::get_if<T>(&value);
  }
  bool is_none() const { return value.index() == 0; }
};

template <typename List>
Terms terms_of(const List& list) {
  Terms out;
  for (const auto& v : list) out.push_back({v});
  return out;
}

Scalar fold_floating(FormulaOp op, double a, double b) {
  switch (op) {
    case FormulaOp::add:
      return a + b;
    case FormulaOp::sub:
      return a - b;
    case FormulaOp::mul:
      return a * b;
    case FormulaOp::div:
      return a / b;
    case FormulaOp::power:
      return std::pow(a, b);
    case FormulaOp::equal:
      return a == b;
    case FormulaOp::not_equal:
      return a != b;
    case FormulaOp::less:
      return a < b;
    case FormulaOp::less_equal:
      return a <= b;
    case FormulaOp::greater:
      return a > b;
    case FormulaOp::greater_equal:
      return a >= b;
    default:
      fail(ErrorCode::internal, "a formula applies an integer operator to fractions");
  }
}

Term fold_integers(FormulaOp op, const SymInt& a, const SymInt& b) {
  switch (op) {
    case FormulaOp::add:
      return {a + b};
    case FormulaOp::sub:
      return {a - b};
    case FormulaOp::mul:
      return {a * b};
    case FormulaOp::div:
      return {floor_div(a, b)};
    case FormulaOp::remainder:
      return {mod(a, b)};
    case FormulaOp::equal:
      return {Scalar(a == b)};
    case FormulaOp::not_equal:
      return {Scalar(!(a == b))};
    case FormulaOp::less:
      return {Scalar(a < b)};
    case FormulaOp::less_equal:
      return {Scalar(a <= b)};
    case FormulaOp::greater:
      return {Scalar(a > b)};
    case FormulaOp::greater_equal:
      return {Scalar(a >= b)};
    default:
      fail(ErrorCode::internal, "a formula applies this operator to values only");
  }
}

Val apply_binary(FormulaOp op, const Val& a, const Val& b) {
  switch (op) {
    case FormulaOp::add:
      return a + b;
    case FormulaOp::sub:
      return a - b;
    case FormulaOp::mul:
      return a * b;
    case FormulaOp::div:
      return a / b;
    case FormulaOp::remainder:
      return binary(Prim::remainder, a, b);
    case FormulaOp::power:
      return power(a, b);
    case FormulaOp::equal:
      return eq(a, b);
    case FormulaOp::not_equal:
      return ne(a, b);
    case FormulaOp::less:
      return lt(a, b);
    case FormulaOp::less_equal:
      return le(a, b);
    case FormulaOp::greater:
      return gt(a, b);
    case FormulaOp::greater_equal:
      return ge(a, b);
    case FormulaOp::bit_and:
      return a & b;
    case FormulaOp::bit_or:
      return a | b;
    case FormulaOp::bit_xor:
      return a ^ b;
    case FormulaOp::shift_left:
      return binary(Prim::shift_left, a, b);
    case FormulaOp::shift_right:
      return binary(Prim::shift_right, a, b);
    default:
      fail(ErrorCode::internal, "a formula applies this operator to conditions only");
  }
}

// ATen's dtype of a literal beside a value.
DType literal_dtype(DType beside, Scalar s) {
  if (s.is_complex() && !is_complex(beside)) return complex_type(beside);
  const bool real_number = is_floating(beside) || is_complex(beside);
  if (s.is_floating() && !real_number) return DType::f32;
  if (s.is_integer() && is_bool(beside)) return DType::i64;
  return beside;
}

class Evaluator {
 public:
  Evaluator(Tracer& t, const FormulaInput& input) : t_(t), in_(input), f_(input.formula) {}

  std::vector<Val> run() {
    const Expansion::Level level(t_.formulas());
    for (const specs::FormulaAssignment& a : f_.assignments) {
      Term value = eval(a.node);
      locals_.push_back(std::move(value));
    }
    std::vector<Val> results;
    for (const specs::FormulaResult& r : f_.results) {
      const Term value = eval(r.node);
      if (auto* several = value.get<std::vector<Val>>()) {
        results.insert(results.end(), several->begin(), several->end());
      } else {
        results.push_back(to_val(value, in_.compute));
      }
    }
    for (Val& v : results) {
      if (v.rank() < static_cast<int64_t>(in_.shape.size())) v = broadcast_to(v, in_.shape);
    }
    return results;
  }

 private:
  Terms children(const FormulaNode& n) {
    Terms out;
    for (uint32_t c : f_.children(n)) out.push_back(eval(c));
    return out;
  }

  Term eval(uint32_t index) {
    const FormulaNode& n = f_.node(index);
    t_.formulas().count_term();
    const auto child = f_.children(n);
    switch (n.kind) {
      case NodeKind::integer:
        return {Scalar(n.integer)};
      case NodeKind::floating:
        return {Scalar(n.floating)};
      case NodeKind::boolean:
        return {Scalar(n.integer != 0)};
      case NodeKind::string:
        return {n.text};
      case NodeKind::none:
        return {};
      case NodeKind::dtype:
        return {static_cast<DType>(n.integer)};
      case NodeKind::argument:
        return argument(static_cast<size_t>(n.integer));
      case NodeKind::local:
        return local(n);
      case NodeKind::unary:
        return unary_term(n.op, child[0]);
      case NodeKind::binary:
        return binary_term(n.op, child[0], child[1]);
      case NodeKind::ternary:
        return eval(holds(child[0]) ? child[1] : child[2]);
      case NodeKind::call:
        return call(n);
      case NodeKind::keyword:
        return eval(child[0]);
      case NodeKind::list:
        return {children(n)};
    }
    fail(ErrorCode::internal, "a formula node of an unknown kind");
  }

  Term argument(size_t index) const {
    const Tracer::Argument& a = in_.args[index];
    if (auto* v = std::get_if<Val>(&a.value)) return {*v};
    if (auto* v = std::get_if<ScalarArg>(&a.value)) {
      if (v->constant) return {*v->constant};
      return {v->value};
    }
    if (auto* v = std::get_if<SymInt>(&a.value)) {
      if (v->is_constant()) return {Scalar(v->constant())};
      return {*v};
    }
    if (auto* v = std::get_if<double>(&a.value)) return {Scalar(*v)};
    if (auto* v = std::get_if<bool>(&a.value)) return {Scalar(*v)};
    if (auto* v = std::get_if<std::string>(&a.value)) return {*v};
    if (auto* v = std::get_if<DType>(&a.value)) return {*v};
    if (auto* v = std::get_if<SymInts>(&a.value)) return {terms_of(*v)};
    if (auto* v = std::get_if<std::vector<Val>>(&a.value)) return {terms_of(*v)};
    require(a.is_none(), ErrorCode::internal, "a formula names an argument it cannot use");
    return {};
  }

  Term local(const FormulaNode& n) const {
    const Term& value = locals_[static_cast<size_t>(n.integer)];
    if (auto* several = value.get<std::vector<Val>>()) return {(*several)[n.member]};
    return value;
  }

  // A condition: the presence of an optional argument, or something known while tracing.
  bool holds(uint32_t index) {
    const FormulaNode& n = f_.node(index);
    const auto child = f_.children(n);
    if (n.kind == NodeKind::unary && n.op == FormulaOp::logical_not) return !holds(child[0]);
    if (n.kind == NodeKind::binary && n.op == FormulaOp::logical_and)
      return holds(child[0]) && holds(child[1]);
    if (n.kind == NodeKind::binary && n.op == FormulaOp::logical_or)
      return holds(child[0]) || holds(child[1]);
    if (n.kind == NodeKind::argument && in_.optional[static_cast<size_t>(n.integer)])
      return !in_.args[static_cast<size_t>(n.integer)].is_none();
    const Term value = eval(index);
    if (auto* s = value.get<Scalar>()) return s->to_bool();
    if (auto* s = value.get<SymInt>()) return !(*s == SymInt(0));
    fail(ErrorCode::internal, "the condition of a formula depends on values");
  }

  Val to_val(const Term& term, DType beside) {
    if (auto* v = term.get<Val>()) return *v;
    if (auto* s = term.get<Scalar>()) return t_.constant(*s, literal_dtype(beside, *s));
    if (auto* s = term.get<SymInt>()) return t_.constant(*s, is_bool(beside) ? DType::i64 : beside);
    fail(ErrorCode::internal, fmt::format("the formula '{}' uses something else where a value "
                                          "is needed",
                                          f_.text));
  }
  DType beside(std::initializer_list<const Term*> terms) const {
    for (const Term* term : terms) {
      if (auto* v = term->get<Val>()) return v->dtype();
    }
    return in_.compute;
  }

  Term unary_term(FormulaOp op, uint32_t operand) {
    if (op == FormulaOp::logical_not) return {Scalar(!holds(operand))};
    const Term x = eval(operand);
    if (auto* s = x.get<Scalar>(); s && op == FormulaOp::negate) {
      if (s->is_complex()) return {Scalar(-s->to_complex())};
      if (!s->is_integral()) return {Scalar(-s->to_double())};
      // As the integers of tensors: the least one is its own negative.
      return {Scalar(static_cast<int64_t>(-static_cast<uint64_t>(s->to_int())))};
    }
    if (auto* s = x.get<SymInt>(); s && op == FormulaOp::negate) return {-*s};
    const Val v = to_val(x, in_.compute);
    return {op == FormulaOp::negate ? -v : ~v};
  }

  Term binary_term(FormulaOp op, uint32_t left, uint32_t right) {
    if (op == FormulaOp::logical_and) return {Scalar(holds(left) && holds(right))};
    if (op == FormulaOp::logical_or) return {Scalar(holds(left) || holds(right))};
    const Term a = eval(left), b = eval(right);
    if (!a.get<Val>() && !b.get<Val>()) return fold(op, a, b);
    const DType t = beside({&a, &b});
    if (auto* s = b.get<Scalar>(); op == FormulaOp::power && s && *s == Scalar(2)) {
      const Val base = to_val(a, t);
      return {base * base};
    }
    return {apply_binary(op, to_val(a, t), to_val(b, t))};
  }

  Term fold(FormulaOp op, const Term& a, const Term& b) {
    if (a.get<std::string>() || a.get<DType>() || b.get<std::string>() || b.get<DType>() ||
        a.is_none() || b.is_none()) {
      const bool same = a.value.index() == b.value.index() &&
                        (!a.get<std::string>() || *a.get<std::string>() == *b.get<std::string>()) &&
                        (!a.get<DType>() || *a.get<DType>() == *b.get<DType>());
      return {Scalar(op == FormulaOp::equal ? same : !same)};
    }
    const auto integer = [](const Term& term) -> std::optional<SymInt> {
      if (auto* s = term.get<SymInt>()) return *s;
      if (auto* s = term.get<Scalar>(); s && s->is_integral()) return SymInt(s->to_int());
      return std::nullopt;
    };
    const auto x = integer(a), y = integer(b);
    const bool fraction = op == FormulaOp::power || (op == FormulaOp::div && a.get<Scalar>());
    if (x && y && !fraction) {
      Term folded = fold_integers(op, *x, *y);
      if (auto* s = folded.get<SymInt>(); s && s->is_constant()) return {Scalar(s->constant())};
      return folded;
    }
    const auto *p = a.get<Scalar>(), *q = b.get<Scalar>();
    if (p && q) return {fold_floating(op, p->to_double(), q->to_double())};
    // A symbolic integer beside a fraction.
    return {apply_binary(op, to_val(a, in_.compute), to_val(b, in_.compute))};
  }

  Term call(const FormulaNode& n) {
    switch (n.callee) {
      case Callee::builtin:
        return builtin(n);
      case Callee::primitive:
        return primitive(n);
      case Callee::op:
        return operator_call(n, false);
      case Callee::rounded_op:
        return operator_call(n, true);
    }
    fail(ErrorCode::internal, "a formula calls something unknown");
  }

  Term builtin(const FormulaNode& n) {
    const std::vector<Term> a = children(n);
    if (n.text == "where") {
      const DType t = beside({&a[1], &a[2]});
      return {where(logical(to_val(a[0], DType::boolean)), to_val(a[1], t), to_val(a[2], t))};
    }
    if (n.text == "size") {
      const auto dim = a[1].get<Scalar>();
      require(dim != nullptr, ErrorCode::internal, "size(x, d) needs a known d");
      return {to_val(a[0], in_.compute).size(dim->to_int())};
    }
    if (n.text == "numel") return {to_val(a[0], in_.compute).numel()};
    if (n.text == "rank") return {Scalar(to_val(a[0], in_.compute).rank())};
    const DType t = a[0].get<DType>() ? *a[0].get<DType>() : to_val(a[0], in_.compute).dtype();
    if (n.text == "dtype") return {t};
    if (n.text == "integral") return {Scalar(is_integral(t))};
    if (n.text == "floating") return {Scalar(is_floating(t))};
    if (n.text == "complex") return {Scalar(is_complex(t))};
    if (n.text == "boolean") return {Scalar(is_bool(t))};
    if (n.text == "half") return {Scalar(is_half(t))};
    if (n.text == "unsigned") return {Scalar(is_unsigned_integer(t))};
    fail(ErrorCode::internal, fmt::format("the builtin '{}' is unknown", n.text));
  }

  // Positional children and keywords, put in the places of the parameters.
  template <typename PlaceOf>
  std::vector<std::optional<Term>> placed(const FormulaNode& n, const Terms& values, size_t count,
                                          PlaceOf place_of) {
    std::vector<std::optional<Term>> out(count);
    size_t next = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const FormulaNode& child = f_.node(f_.children(n)[i]);
      const size_t at = child.kind == NodeKind::keyword ? place_of(child.text) : next++;
      require(at < count, ErrorCode::internal, "a call in a formula has too many arguments");
      out[at] = values[i];
    }
    return out;
  }

  Term primitive(const FormulaNode& n) {
    const specs::Primitive& p = t_.bundle().primitives[n.target];
    const auto prim = prims::prim_from_name(p.name);
    require(prim.has_value(), ErrorCode::internal, "a formula calls an unknown primitive");
    const bool variadic = std::any_of(p.operands.begin(), p.operands.end(),
                                      [](const specs::Operand& o) { return o.variadic; });
    if (variadic) return variadic_primitive(n, p, *prim);
    const size_t count = p.operands.size() + p.attributes.size();
    auto terms = placed(n, children(n), count, [&](const std::string& name) {
      for (size_t i = 0; i < count; ++i) {
        const bool operand = i < p.operands.size();
        if ((operand ? p.operands[i].name : p.attributes[i - p.operands.size()].name) == name)
          return i;
      }
      return count;
    });
    const std::span<std::optional<Term>> all(terms);
    const std::vector<Val> results = emit(p, *prim, operands(p, all.first(p.operands.size())),
                                          attributes(p, all.subspan(p.operands.size())));
    if (results.size() == 1) return {results[0]};
    return {results};
  }

  Term variadic_primitive(const FormulaNode& n, const specs::Primitive& p, Prim prim) {
    std::vector<Val> values;
    std::vector<std::optional<Term>> attrs(p.attributes.size());
    for (uint32_t c : f_.children(n)) {
      const FormulaNode& child = f_.node(c);
      const Term term = eval(c);
      if (child.kind != NodeKind::keyword) {
        if (auto* list = term.get<Terms>()) {
          for (const Term& each : *list) values.push_back(to_val(each, in_.compute));
        } else {
          values.push_back(to_val(term, in_.compute));
        }
        continue;
      }
      for (size_t i = 0; i < attrs.size(); ++i) {
        if (p.attributes[i].name == child.text) attrs[i] = term;
      }
    }
    const std::vector<Val> results = t_.prim(prim, values, attributes(p, attrs));
    if (results.size() == 1) return {results[0]};
    return {results};
  }

  std::vector<Val> operands(const specs::Primitive& p, std::span<std::optional<Term>> terms) {
    DType t = in_.compute;
    for (const auto& term : terms) {
      if (term && term->get<Val>() && !is_bool(term->get<Val>()->dtype())) {
        t = term->get<Val>()->dtype();
        break;
      }
    }
    std::vector<Val> values;
    for (const auto& term : terms) {
      values.push_back(!term || term->is_none() ? Val() : to_val(*term, t));
    }
    return values;
  }

  std::vector<prims::Attr> attributes(const specs::Primitive& p,
                                      std::span<std::optional<Term>> terms) {
    std::vector<prims::Attr> attrs;
    for (size_t i = 0; i < p.attributes.size(); ++i) {
      const specs::Attribute& a = p.attributes[i];
      const Term value = terms[i] ? *terms[i] : default_term(a.default_value);
      attrs.push_back({a.name, attribute(a, value)});
    }
    return attrs;
  }

  static Term default_term(const specs::DefaultValue& d) {
    switch (d.kind) {
      case specs::DefaultKind::integer:
        return {Scalar(d.integer)};
      case specs::DefaultKind::floating:
        return {Scalar(d.floating)};
      case specs::DefaultKind::boolean:
        return {Scalar(d.integer != 0)};
      case specs::DefaultKind::string:
        return {d.text};
      case specs::DefaultKind::int_list:
        return {terms_of(SymInts(d.list.begin(), d.list.end()))};
      default:
        return {};
    }
  }

  static SymInt to_size(const Term& term) {
    if (auto* s = term.get<SymInt>()) return *s;
    if (auto* s = term.get<Scalar>()) return s->to_int();
    fail(ErrorCode::internal, "a size in a formula is no integer");
  }
  static SymInts to_sizes(const Term& term) {
    SymInts out;
    if (auto* list = term.get<Terms>()) {
      for (const Term& each : *list) out.push_back(to_size(each));
    } else {
      out.push_back(to_size(term));
    }
    return out;
  }

  static decltype(prims::Attr::value) attribute(const specs::Attribute& a, const Term& term) {
    using enum specs::AttributeType;
    switch (a.type) {
      case dtype:
        return *term.get<DType>();
      case integer:
        return to_size(term).specialize();
      case ints: {
        prims::Attr::Ints out;
        for (const SymInt& s : to_sizes(term)) out.push_back(s.specialize());
        return out;
      }
      case size:
        return to_size(term);
      case sizes:
        return to_sizes(term);
      case scalar:
        if (auto* s = term.get<Scalar>()) return *s;
        return to_size(term);
      case string:
        return *term.get<std::string>();
      case boolean:
        return term.get<Scalar>()->to_bool();
    }
    fail(ErrorCode::internal, "an attribute of an unknown type");
  }

  std::vector<Val> emit(const specs::Primitive& p, Prim prim, const std::vector<Val>& values,
                        std::vector<prims::Attr> attrs) {
    if (prim == Prim::convert) return {convert(values[0], std::get<DType>(attrs[0].value))};
    if (prim == Prim::real) return {real(values[0])};
    if (prim == Prim::imag) return {imag(values[0])};
    if (prim == Prim::complex) return {complex(values[0], values[1])};
    if (prim == Prim::select) return {where(values[0], values[1], values[2])};
    // A bitcast, which says in an attribute what it makes, takes its operand as it is.
    const bool elementwise = prims::is_elementwise(prim) && attrs.empty();
    if (elementwise && values.size() == 1) return {unary(prim, values[0])};
    if (elementwise && values.size() == 2) return {binary(prim, values[0], values[1])};
    if (elementwise) return t_.prim(prim, unified(values));
    return t_.prim(prim, values, std::move(attrs));
  }

  static std::vector<Val> unified(const std::vector<Val>& values) {
    std::vector<SymInts> shapes;
    DType t = values[0].dtype();
    for (const Val& v : values) {
      shapes.push_back(v.shape());
      t = v.dtype() == t ? t : (values[0] + v).dtype();
    }
    const SymInts shape = broadcast_shapes(shapes);
    std::vector<Val> out;
    for (const Val& v : values) out.push_back(broadcast_to(convert(v, t), shape));
    return out;
  }

  // An operator inside the formula. Its operands are in the formula's compute dtype, so that it
  // rounds nothing; op::name takes them rounded, and its result is rounded too.
  Term operator_call(const FormulaNode& n, bool rounded) {
    const Terms values = children(n);
    const specs::Overload& overload = fitting(n, values);
    auto terms = placed(n, values, overload.args.size(), [&](const std::string& name) {
      return static_cast<size_t>(overload.find_arg(name));
    });
    Arguments args;
    for (size_t i = 0; i < terms.size(); ++i) {
      if (!terms[i]) {
        args.push_back(default_argument(t_, overload.args[i]));
        continue;
      }
      Tracer::Argument a = to_argument(*terms[i]);
      if (auto* v = std::get_if<Val>(&a.value); v && rounded && v->dtype() == in_.compute)
        a = convert(*v, in_.storage);
      args.push_back(std::move(a));
    }
    std::vector<Val> results = apply(t_, overload, std::move(args));
    for (Val& v : results) {
      if (rounded && v.dtype() == in_.storage) v = convert(v, in_.compute);
    }
    if (results.size() == 1) return {results[0]};
    return {results};
  }

  Tracer::Argument to_argument(const Term& term) {
    if (auto* v = term.get<Val>()) return *v;
    if (auto* s = term.get<Scalar>()) {
      if (s->is_bool()) return s->to_bool();
      if (s->is_integer()) return SymInt(s->to_int());
      return t_.literal(*s);
    }
    if (auto* s = term.get<SymInt>()) return *s;
    if (auto* s = term.get<std::string>()) return *s;
    if (auto* s = term.get<DType>()) return *s;
    if (auto* list = term.get<Terms>()) {
      if (!list->empty() && list->front().get<Val>()) {
        std::vector<Val> out;
        for (const Term& each : *list) out.push_back(to_val(each, in_.compute));
        return out;
      }
      return to_sizes(term);
    }
    return {};
  }

  // The overload whose argument kinds fit; specgen has checked names and numbers.
  const specs::Overload& fitting(const FormulaNode& n, const Terms& values) {
    const specs::Overload& first = t_.bundle().overloads[n.target];
    for (size_t i = n.target; i < t_.bundle().overloads.size(); ++i) {
      const specs::Overload& o = t_.bundle().overloads[i];
      if (o.family != first.family) break;
      if (o.op == first.op && o.kind == specs::OverloadKind::functional && fits(n, values, o))
        return o;
    }
    return first;
  }

  bool fits(const FormulaNode& n, const Terms& values, const specs::Overload& o) const {
    size_t next = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const FormulaNode& child = f_.node(f_.children(n)[i]);
      const size_t at =
          child.kind == NodeKind::keyword ? static_cast<size_t>(o.find_arg(child.text)) : next++;
      if (at >= o.args.size()) return false;
      const bool tensor = specs::is_tensor_kind(o.args[at].kind);
      const bool value = values[i].get<Val>() != nullptr;
      if (value != tensor && o.args[at].kind != specs::ArgKind::scalar) return false;
    }
    return true;
  }

  Tracer& t_;
  const FormulaInput& in_;
  const specs::Formula& f_;
  std::vector<Term> locals_;
};

}  // namespace

std::vector<Val> evaluate(Tracer& t, const FormulaInput& input) {
  return Evaluator(t, input).run();
}

}  // namespace primset::decomps
