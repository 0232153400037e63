#include "specs/bundle/formula.h"

#include <fmt/format.h>

#include <cmath>

namespace primset::specs {
namespace {

// How tightly a node binds; a child that binds looser than its place needs parentheses.
enum Precedence {
  kTernary,
  kOr,
  kAnd,
  kCompare,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kPower,
  kPrimary,
};

// Python's order, as the parser reads it.
Precedence precedence(FormulaOp op) {
  switch (op) {
    case FormulaOp::logical_or:
      return kOr;
    case FormulaOp::logical_and:
      return kAnd;
    case FormulaOp::equal:
    case FormulaOp::not_equal:
    case FormulaOp::less:
    case FormulaOp::less_equal:
    case FormulaOp::greater:
    case FormulaOp::greater_equal:
      return kCompare;
    case FormulaOp::bit_or:
      return kBitOr;
    case FormulaOp::bit_xor:
      return kBitXor;
    case FormulaOp::bit_and:
      return kBitAnd;
    case FormulaOp::shift_left:
    case FormulaOp::shift_right:
      return kShift;
    case FormulaOp::add:
    case FormulaOp::sub:
      return kSum;
    case FormulaOp::mul:
    case FormulaOp::div:
    case FormulaOp::remainder:
      return kProduct;
    case FormulaOp::negate:
    case FormulaOp::logical_not:
    case FormulaOp::bit_not:
      return kUnary;
    case FormulaOp::power:
      return kPower;
  }
  return kPrimary;
}

Precedence precedence(const FormulaNode& n) {
  switch (n.kind) {
    case NodeKind::ternary:
      return kTernary;
    case NodeKind::unary:
    case NodeKind::binary:
      return precedence(n.op);
    default:
      return kPrimary;
  }
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return "inf";
  std::string text = fmt::format("{}", value);
  const bool whole = text.find_first_of(".e") == std::string::npos;
  return whole ? text + ".0" : text;
}

class Printer {
 public:
  explicit Printer(const Formula& formula) : formula_(formula) {}

  std::string print(uint32_t index) const {
    const FormulaNode& n = formula_.node(index);
    const auto child = formula_.children(n);
    switch (n.kind) {
      case NodeKind::integer:
        return fmt::format("{}", n.integer);
      case NodeKind::floating:
        return number_text(n.floating);
      case NodeKind::boolean:
        return n.integer != 0 ? "true" : "false";
      case NodeKind::string:
        return fmt::format("\"{}\"", n.text);
      case NodeKind::none:
        return "none";
      case NodeKind::dtype:
      case NodeKind::argument:
      case NodeKind::local:
        return n.text;
      case NodeKind::unary:
        return fmt::format("{}{}", spelling(n.op), at(child[0], kUnary));
      case NodeKind::binary:
        return print_binary(n);
      case NodeKind::ternary:
        return fmt::format("{} ? {} : {}", at(child[0], kOr), at(child[1], kTernary),
                           at(child[2], kTernary));
      case NodeKind::call:
        return fmt::format("{}{}({})", n.callee == Callee::rounded_op ? "op::" : "", n.text,
                           join(child));
      case NodeKind::keyword:
        return fmt::format("{}={}", n.text, print(child[0]));
      case NodeKind::list:
        return fmt::format("[{}]", join(child));
    }
    return "?";
  }

 private:
  // The child, in parentheses when it binds looser than `least`.
  std::string at(uint32_t index, Precedence least) const {
    const std::string text = print(index);
    return precedence(formula_.node(index)) < least ? "(" + text + ")" : text;
  }

  std::string print_binary(const FormulaNode& n) const {
    const auto child = formula_.children(n);
    const Precedence own = precedence(n.op);
    const auto tighter = static_cast<Precedence>(own + 1);
    // ** is right-associative and takes a unary operand on its right; comparisons do not chain.
    Precedence left = own == kCompare || own == kPower ? tighter : own;
    Precedence right = own == kPower ? kUnary : tighter;
    return fmt::format("{} {} {}", at(child[0], left), spelling(n.op), at(child[1], right));
  }

  std::string join(std::span<const uint32_t> list) const {
    std::string text;
    for (size_t i = 0; i < list.size(); ++i) text += (i == 0 ? "" : ", ") + print(list[i]);
    return text;
  }

  const Formula& formula_;
};

}  // namespace

std::string_view spelling(FormulaOp op) {
  switch (op) {
    case FormulaOp::negate:
    case FormulaOp::sub:
      return "-";
    case FormulaOp::logical_not:
      return "!";
    case FormulaOp::bit_not:
      return "~";
    case FormulaOp::add:
      return "+";
    case FormulaOp::mul:
      return "*";
    case FormulaOp::div:
      return "/";
    case FormulaOp::remainder:
      return "%";
    case FormulaOp::power:
      return "**";
    case FormulaOp::equal:
      return "==";
    case FormulaOp::not_equal:
      return "!=";
    case FormulaOp::less:
      return "<";
    case FormulaOp::less_equal:
      return "<=";
    case FormulaOp::greater:
      return ">";
    case FormulaOp::greater_equal:
      return ">=";
    case FormulaOp::logical_and:
      return "&&";
    case FormulaOp::logical_or:
      return "||";
    case FormulaOp::bit_and:
      return "&";
    case FormulaOp::bit_or:
      return "|";
    case FormulaOp::bit_xor:
      return "^";
    case FormulaOp::shift_left:
      return "<<";
    case FormulaOp::shift_right:
      return ">>";
  }
  return "?";
}

std::string print(const Formula& formula, uint32_t node) {
  return Printer(formula).print(node);
}

std::string print(const Formula& formula) {
  const Printer printer(formula);
  std::string text;
  for (const FormulaAssignment& a : formula.assignments) {
    for (size_t i = 0; i < a.names.size(); ++i) text += (i == 0 ? "" : ", ") + a.names[i];
    text += fmt::format(" = {}\n", printer.print(a.node));
  }
  for (size_t i = 0; i < formula.results.size(); ++i) {
    const FormulaResult& r = formula.results[i];
    if (i != 0) text += ", ";
    if (!r.name.empty()) text += r.name + ": ";
    text += printer.print(r.node);
  }
  return text;
}

}  // namespace primset::specs
