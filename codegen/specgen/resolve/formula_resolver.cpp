#include "codegen/specgen/resolve/formula_resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numbers>
#include <optional>
#include <set>

#include "codegen/specgen/parse/signature.h"
#include "codegen/specgen/resolve/builtins.h"

namespace primset::specs {
namespace {

constexpr const char* kKnown =
    "something known when the plan is made (a structural argument, the presence of an optional "
    "one, "
    "a predicate of a dtype), or where(c, a, b)";

struct NamedNumber {
  std::string_view name;
  double value;
};
constexpr std::array<NamedNumber, 4> kNumbers = {{
    {"inf", std::numeric_limits<double>::infinity()},
    {"nan", std::numeric_limits<double>::quiet_NaN()},
    {"pi", std::numbers::pi},
    {"e", std::numbers::e},
}};

// ATen's at::Reduction, which is an int in schemas.
constexpr std::array<std::pair<std::string_view, int64_t>, 2> kReductions = {
    {{"Mean", 1}, {"Sum", 2}}};

bool fits(const Overload& o, size_t positional, const std::vector<std::string_view>& keywords) {
  std::vector<bool> given(o.args.size());
  for (size_t i = 0; i < positional; ++i) {
    if (i >= o.args.size() || o.args[i].keyword_only) return false;
    given[i] = true;
  }
  for (std::string_view keyword : keywords) {
    const int index = o.find_arg(keyword);
    if (index < 0 || given[static_cast<size_t>(index)]) return false;
    given[static_cast<size_t>(index)] = true;
  }
  for (size_t i = 0; i < o.args.size(); ++i) {
    if (!given[i] && !o.args[i].default_value.present()) return false;
  }
  return true;
}

class Resolver {
 public:
  Resolver(Formula& formula, const FormulaContext& context, const CallTargets& targets,
           Diagnostics& diagnostics)
      : formula_(formula), context_(context), targets_(targets), diagnostics_(diagnostics) {}

  FormulaCalls run() {
    for (uint32_t i = 0; i < formula_.assignments.size(); ++i) assignment(i);
    for (const FormulaResult& r : formula_.results) visit(r.node);
    check_results();
    check_all_used();
    return std::move(calls_);
  }

 private:
  struct Local {
    std::string_view name;
    uint32_t assignment;
    uint8_t member;
    bool known;
    bool used = false;
  };

  FormulaNode& node(uint32_t index) { return formula_.nodes[index]; }
  std::vector<uint32_t> children(uint32_t index) {
    const auto span = formula_.children(node(index));
    return {span.begin(), span.end()};
  }
  Position position(uint32_t index) {
    return {context_.file, node(index).line, node(index).column};
  }
  void error(uint32_t index, std::string what, std::string expected = "") {
    diagnostics_.error(position(index), std::move(what), std::move(expected));
  }

  void assignment(uint32_t index) {
    const FormulaAssignment& a = formula_.assignments[index];
    visit(a.node);
    const size_t results = result_count(a.node);
    if (results != a.names.size()) {
      error(a.node, fmt::format("a value of {} results has {} names", results, a.names.size()),
            "a name for each result; '_' for one that is not used");
    }
    for (size_t member = 0; member < a.names.size(); ++member) {
      const std::string& name = a.names[member];
      if (name == "_") continue;
      if (find_local(name) != nullptr || find_parameter(name) >= 0) {
        diagnostics_.error({context_.file, a.line, a.column},
                           fmt::format("'{}' already has a value", name), "another name");
      }
      locals_.push_back({name, index, static_cast<uint8_t>(member), known(a.node)});
    }
  }

  Local* find_local(std::string_view name) {
    for (Local& local : locals_) {
      if (local.name == name) return &local;
    }
    return nullptr;
  }
  int find_parameter(std::string_view name) const {
    for (size_t i = 0; i < context_.parameters.size(); ++i) {
      if (context_.parameters[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }

  // Resolves the tree at `index` where a value is wanted.
  void visit(uint32_t index) {
    const auto child = children(index);
    switch (node(index).kind) {
      case NodeKind::argument:
        name(index);
        break;
      case NodeKind::unary:
        unary(index, child[0]);
        break;
      case NodeKind::binary:
        binary(index, child[0], child[1]);
        break;
      case NodeKind::ternary:
        ternary(child[0], child[1], child[2]);
        break;
      case NodeKind::call:
        call(index);
        break;
      case NodeKind::keyword:
      case NodeKind::list:
        for (uint32_t c : child) visit_one(c);
        break;
      default:
        break;
    }
  }

  // The same where a single value is wanted.
  void visit_one(uint32_t index) {
    visit(index);
    const size_t results = result_count(index);
    if (results != 1) {
      error(index, fmt::format("'{}' gives {} results", node(index).text, results),
            "one; take them apart first: a, b = ...");
    }
  }

  // The same for an operand of an operator or a required operand: it must be there.
  void visit_present(uint32_t index) {
    visit_one(index);
    const FormulaNode& n = node(index);
    if (n.kind != NodeKind::argument || n.integer < 0) return;
    const auto parameter = static_cast<size_t>(n.integer);
    if (!context_.parameters[parameter].optional || present_.contains(parameter)) return;
    error(index, fmt::format("'{}' may be absent here", n.text),
          fmt::format("a test: {} ? ... : ...", n.text));
  }

  void name(uint32_t index) {
    FormulaNode& n = node(index);
    if (Local* local = find_local(n.text)) {
      local->used = true;
      n.kind = NodeKind::local;
      n.integer = local->assignment;
      n.member = local->member;
      return;
    }
    n.integer = find_parameter(n.text);
    if (n.integer >= 0 || constant(n)) return;
    error(index, fmt::format("unknown name {}", quote_with_suggestion(n.text, visible_names())),
          "an argument or an intermediate value above");
  }

  std::vector<std::string_view> visible_names() const {
    std::vector<std::string_view> names;
    for (const FormulaParameter& p : context_.parameters) names.push_back(p.name);
    for (const Local& local : locals_) names.push_back(local.name);
    for (const NamedNumber& number : kNumbers) names.push_back(number.name);
    return names;
  }

  // inf, true, none, f32, Mean: names that mean the same everywhere.
  bool constant(FormulaNode& n) {
    for (const NamedNumber& number : kNumbers) {
      if (number.name != n.text) continue;
      return become(n, NodeKind::floating, 0, number.value);
    }
    if (n.text == "true" || n.text == "false") {
      return become(n, NodeKind::boolean, n.text == "true", 0);
    }
    if (n.text == "none") return become(n, NodeKind::none, 0, 0);
    for (const auto& [name, code] : kReductions) {
      if (name == n.text) return become(n, NodeKind::integer, code, 0);
    }
    for (const DTypeEntry& d : targets_.bundle().dtypes) {
      if (d.name != n.text) continue;
      n.kind = NodeKind::dtype;
      n.integer = static_cast<int64_t>(d.code);
      return true;
    }
    return false;
  }

  static bool become(FormulaNode& n, NodeKind kind, int64_t integer, double floating) {
    n.kind = kind;
    n.integer = integer;
    n.floating = floating;
    n.text.clear();
    return true;
  }

  void unary(uint32_t index, uint32_t operand) {
    if (node(index).op == FormulaOp::logical_not) {
      condition(operand);
    } else {
      visit_present(operand);
    }
  }

  void binary(uint32_t index, uint32_t left, uint32_t right) {
    const FormulaOp op = node(index).op;
    if (op == FormulaOp::logical_and || op == FormulaOp::logical_or) {
      condition(left);
      condition(right);
      return;
    }
    visit_present(left);
    visit_present(right);
  }

  void ternary(uint32_t test, uint32_t then, uint32_t otherwise) {
    condition(test);
    const std::set<size_t> before = present_;
    assume(test, true);
    visit_one(then);
    present_ = before;
    assume(test, false);
    visit_one(otherwise);
    present_ = before;
  }

  // Notes which optional arguments are there when the condition has this value.
  void assume(uint32_t index, bool value) {
    const FormulaNode& n = node(index);
    const auto child = children(index);
    if (n.kind == NodeKind::argument && n.integer >= 0 && value) {
      present_.insert(static_cast<size_t>(n.integer));
    } else if (n.kind == NodeKind::unary && n.op == FormulaOp::logical_not) {
      assume(child[0], !value);
    } else if (n.kind == NodeKind::binary &&
               n.op == (value ? FormulaOp::logical_and : FormulaOp::logical_or)) {
      assume(child[0], value);
      assume(child[1], value);
    }
  }

  // Resolves a condition, which must be known when the plan is made.
  void condition(uint32_t index) {
    FormulaNode& n = node(index);
    const auto child = children(index);
    const bool combines = n.kind == NodeKind::binary &&
                          (n.op == FormulaOp::logical_and || n.op == FormulaOp::logical_or);
    if (combines || (n.kind == NodeKind::unary && n.op == FormulaOp::logical_not)) {
      for (uint32_t c : child) condition(c);
      return;
    }
    visit_one(index);
    const FormulaNode& resolved = node(index);
    if (resolved.kind == NodeKind::argument && resolved.integer >= 0 &&
        context_.parameters[static_cast<size_t>(resolved.integer)].optional) {
      return;  // its presence
    }
    if (!known(index)) {
      error(index, fmt::format("'{}' depends on values", print(formula_, index)), kKnown);
    }
  }

  // Is the value known when a plan is made? (A name that is unknown was reported already.)
  bool known(uint32_t index) {
    const FormulaNode& n = node(index);
    switch (n.kind) {
      case NodeKind::argument:
        return n.integer < 0 || context_.parameters[static_cast<size_t>(n.integer)].known;
      case NodeKind::local:
        for (const Local& local : locals_) {
          if (local.name == n.text) return local.known;
        }
        return true;
      case NodeKind::call: {
        if (n.callee != Callee::builtin) return false;
        const Builtin* builtin = find_builtin(n.text, n.child_count);
        return builtin == nullptr || builtin->known;
      }
      default: {
        const auto child = children(index);
        return std::all_of(child.begin(), child.end(), [this](uint32_t c) { return known(c); });
      }
    }
  }

  void call(uint32_t index) {
    FormulaNode& n = node(index);
    const bool rounded = n.callee == Callee::rounded_op;
    if (!rounded) {
      if (const Builtin* builtin = find_builtin(n.text, n.child_count)) {
        return builtin_call(index, *builtin);
      }
      if (const Primitive* p = targets_.bundle().find_primitive(n.text)) {
        n.callee = Callee::primitive;
        n.target = targets_.bundle().index_of(*p);
        return primitive_call(index, *p);
      }
    }
    if (const auto* overloads = targets_.functional_overloads(n.text)) {
      n.callee = rounded ? Callee::rounded_op : Callee::op;
      n.target = overloads->front();
      return op_call(index, *overloads);
    }
    for (uint32_t c : children(index)) visit(c);
    error(index,
          fmt::format("unknown function {}", quote_with_suggestion(n.text, targets_.names())),
          rounded ? "an operator" : "a primitive, an operator or a builtin");
  }

  void builtin_call(uint32_t index, const Builtin& builtin) {
    const auto child = children(index);
    for (uint32_t c : child) {
      if (node(c).kind == NodeKind::keyword) {
        error(c, fmt::format("'{}' has no argument '{}'", builtin.name, node(c).text),
              std::string(builtin.meaning));
      }
      visit_present(c);
    }
    if (child.size() != builtin.arguments) {
      error(index, fmt::format("'{}' is given {} arguments", builtin.name, child.size()),
            std::string(builtin.meaning));
    }
  }

  // Positional arguments are the operands and then the attributes, in order; when an operand is
  // variadic they are all operands, and what stands behind it is given by name.
  void primitive_call(uint32_t index, const Primitive& p) {
    calls_.primitives.push_back(node(index).target);
    if (p.regions > 0) {
      error(index, fmt::format("'{}' takes a region", p.name), "a C++ decomposition for it");
    }
    const bool variadic = std::any_of(p.operands.begin(), p.operands.end(),
                                      [](const Operand& o) { return o.variadic; });
    std::set<std::string_view> given;
    size_t positional = 0;
    for (uint32_t c : children(index)) {
      if (node(c).kind == NodeKind::keyword) {
        keyword_of_primitive(c, p, given);
      } else if (variadic) {
        ++positional;
        visit_present(c);
      } else {
        positional_of_primitive(c, positional++, p, given);
      }
    }
    check_primitive_arguments(index, p, variadic ? positional : 0, given);
  }

  void positional_of_primitive(uint32_t child, size_t place, const Primitive& p,
                               std::set<std::string_view>& given) {
    if (place < p.operands.size()) {
      given.insert(p.operands[place].name);
      p.operands[place].optional ? visit_one(child) : visit_present(child);
    } else if (place - p.operands.size() < p.attributes.size()) {
      const Attribute& a = p.attributes[place - p.operands.size()];
      given.insert(a.name);
      attribute(child, p, a);
    } else {
      visit(child);
      error(child, fmt::format("'{}' is given too many arguments", p.name), signature_of(p));
    }
  }

  void keyword_of_primitive(uint32_t keyword, const Primitive& p,
                            std::set<std::string_view>& given) {
    const std::string& name = node(keyword).text;
    const uint32_t value = children(keyword)[0];
    std::vector<std::string_view> names;
    for (const Operand& o : p.operands) names.push_back(o.name);
    for (const Attribute& a : p.attributes) names.push_back(a.name);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      visit_one(value);
      error(keyword,
            fmt::format("'{}' has no argument {}", p.name, quote_with_suggestion(name, names)),
            signature_of(p));
      return;
    }
    if (!given.insert(*found).second) {
      error(keyword, fmt::format("'{}' of '{}' is given twice", name, p.name));
    }
    const auto place = static_cast<size_t>(found - names.begin());
    if (place < p.operands.size()) {
      visit_one(value);
    } else {
      attribute(value, p, p.attributes[place - p.operands.size()]);
    }
  }

  void attribute(uint32_t index, const Primitive& p, const Attribute& a) {
    visit_one(index);
    const bool may_vary = a.type == AttributeType::size || a.type == AttributeType::sizes ||
                          a.type == AttributeType::scalar;
    if (may_vary || known(index)) return;
    error(index, fmt::format("'{}' of '{}' depends on values", a.name, p.name),
          fmt::format("{}, known when the plan is made", spelling(a.type)));
  }

  void check_primitive_arguments(uint32_t index, const Primitive& p, size_t variadic_count,
                                 const std::set<std::string_view>& given) {
    size_t missing_operands = 0;
    for (const Operand& o : p.operands) {
      if (!o.variadic && !o.optional && !given.contains(o.name)) ++missing_operands;
    }
    if (missing_operands > variadic_count) {
      error(index, fmt::format("'{}' is given too few arguments", p.name), signature_of(p));
      return;
    }
    for (const Attribute& a : p.attributes) {
      if (a.default_value.present() || given.contains(a.name)) continue;
      error(index, fmt::format("'{}' is not given '{}'", p.name, a.name), signature_of(p));
      return;
    }
  }

  static std::string signature_of(const Primitive& p) {
    std::string text = p.name + "(";
    for (size_t i = 0; i < p.operands.size(); ++i) {
      text += fmt::format("{}{}{}{}", i == 0 ? "" : ", ", p.operands[i].name,
                          p.operands[i].variadic ? "..." : "", p.operands[i].optional ? "?" : "");
    }
    for (size_t i = 0; i < p.attributes.size(); ++i) {
      const Attribute& a = p.attributes[i];
      text += fmt::format("{}{}:{}", i == 0 ? "; " : ", ", a.name, spelling(a.type));
      if (a.default_value.present()) text += "=" + a.default_value.spelling;
    }
    return text + ")";
  }

  void op_call(uint32_t index, const std::vector<uint32_t>& overloads) {
    size_t positional = 0;
    std::vector<std::string_view> keywords;
    for (uint32_t c : children(index)) {
      const bool keyword = node(c).kind == NodeKind::keyword;
      visit_one(keyword ? children(c)[0] : c);
      if (keyword) {
        keywords.push_back(node(c).text);
      } else {
        ++positional;
      }
    }
    std::vector<uint32_t> fitting;
    for (uint32_t o : overloads) {
      if (fits(targets_.bundle().overloads[o], positional, keywords)) fitting.push_back(o);
    }
    if (fitting.size() == 1) calls_.overloads.push_back(fitting[0]);
    if (!fitting.empty()) {
      node(index).target = fitting.front();
      return;
    }
    std::vector<std::string_view> schemas;
    for (uint32_t o : overloads) schemas.push_back(targets_.bundle().overloads[o].schema);
    error(index, fmt::format("no overload of '{}' takes these arguments", node(index).text),
          one_of(schemas));
  }

  size_t result_count(uint32_t index) {
    const FormulaNode& n = node(index);
    if (n.kind != NodeKind::call || n.callee == Callee::builtin) return 1;
    if (n.callee != Callee::primitive) return targets_.bundle().overloads[n.target].returns.size();
    const auto& results = targets_.bundle().primitives[n.target].results;
    return results.size();
  }

  void check_results() {
    size_t count = formula_.results.size();
    if (count == 1) {
      count = result_count(formula_.results[0].node);
    } else {
      for (const FormulaResult& r : formula_.results) {
        if (result_count(r.node) != 1) {
          error(r.node, fmt::format("'{}' gives several results", node(r.node).text),
                "one; take them apart first: a, b = ...");
        }
      }
    }
    if (count != context_.result_count) {
      error(formula_.results[0].node, fmt::format("the formula gives {} results and {} has {}",
                                                  count, context_.owner, context_.result_count));
      return;
    }
    for (size_t i = 0; i < formula_.results.size(); ++i) {
      const FormulaResult& r = formula_.results[i];
      if (r.name.empty() || r.name == context_.result_names[i]) continue;
      error(
          r.node,
          fmt::format("result '{}' stands in the place of '{}'", r.name, context_.result_names[i]),
          "the names of the results, in order");
    }
  }

  void check_all_used() {
    for (const Local& local : locals_) {
      if (local.used) continue;
      const FormulaAssignment& a = formula_.assignments[local.assignment];
      diagnostics_.error({context_.file, a.line, a.column},
                         fmt::format("'{}' is never used", local.name));
    }
  }

  Formula& formula_;
  const FormulaContext& context_;
  const CallTargets& targets_;
  Diagnostics& diagnostics_;
  std::vector<Local> locals_;
  std::set<size_t> present_;  // optional parameters that are there where the visitor stands
  FormulaCalls calls_;
};

}  // namespace

CallTargets::CallTargets(const Bundle& bundle) : bundle_(bundle) {
  for (uint32_t i = 0; i < bundle.overloads.size(); ++i) {
    const Overload& o = bundle.overloads[i];
    if (o.kind == OverloadKind::functional) overloads_[o.op].push_back(i);
  }
}

const std::vector<uint32_t>* CallTargets::functional_overloads(std::string_view op) const {
  const auto found = overloads_.find(op);
  return found == overloads_.end() ? nullptr : &found->second;
}

std::vector<std::string_view> CallTargets::names() const {
  std::vector<std::string_view> names;
  for (const Builtin& b : kBuiltins) names.push_back(b.name);
  for (const Primitive& p : bundle_.primitives) names.push_back(p.name);
  for (const auto& [op, overloads] : overloads_) names.push_back(op);
  std::sort(names.begin(), names.end());  // the suggestion must not depend on hashing
  return names;
}

FormulaCalls resolve_formula(Formula& formula, const FormulaContext& context,
                             const CallTargets& targets, Diagnostics& diagnostics) {
  return Resolver(formula, context, targets, diagnostics).run();
}

}  // namespace primset::specs
