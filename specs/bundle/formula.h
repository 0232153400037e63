// A formula, parsed and resolved: the value of `decompose:` in a YAML file, as data.
//
//   program    := { names '=' expression separator } results
//   results    := expression {',' expression}  or  name ':' expression {',' name ':' expression}
//   names      := name {',' name}            several names take apart a call with several results
//
// Precedence, loosest first: ?:   ||   &&   == != < <= > >=   |   ^   &   << >>   + -   * / %
// unary - ! ~   **.   As in Python, ** binds tighter than a minus to its left and is
// right-associative, comparisons do not chain, and bitwise operators bind tighter than comparisons.
#ifndef PRIMSET_SPECS_BUNDLE_FORMULA_H_
#define PRIMSET_SPECS_BUNDLE_FORMULA_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace primset::specs {

enum class NodeKind : uint8_t {
  integer,   // `integer`
  floating,  // `floating`; inf, nan, pi and e are folded into it
  boolean,   // `integer` is 0 or 1
  string,    // `text` without its quotes
  none,      // an absent optional argument
  dtype,     // `integer` is the DType code, `text` its name
  argument,  // `text`; `integer` is the index into the operator's arguments, or into a primitive's
             // operands followed by its attributes
  local,     // `text`; `integer` is the index of the assignment, `member` which of its names
  unary,     // `op`, one child
  binary,    // `op`, two children
  ternary,   // condition, then, otherwise: the condition is known when a plan is made
  call,      // `callee` says of what, `text` the name; positional children first, then keywords
  keyword,   // `text` = one child; only inside a call
  list,      // [a, b, ...]
};

enum class FormulaOp : uint8_t {
  negate,       // -a
  logical_not,  // !a
  bit_not,      // ~a
  add,
  sub,
  mul,
  div,
  remainder,
  power,  // + - * / % **
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  logical_and,
  logical_or,  // && ||, of things known when a plan is made
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
};

enum class Callee : uint8_t {
  builtin,     // where, rank, size, numel, dtype, and the predicates integral(x), floating(x), ...
  primitive,   // `target` is the primitive's index
  op,          // an operator, computed inside the formula's region without rounding in between;
               // `target` is the first functional overload that its arguments fit
  rounded_op,  // op::name(...): rounds as that operator does; `target` likewise
};

struct FormulaNode {
  NodeKind kind = NodeKind::none;
  FormulaOp op = FormulaOp::negate;
  Callee callee = Callee::builtin;
  uint8_t member = 0;
  uint32_t line = 0;    // 1-based, in the YAML file that Overload::file or Primitive::file names
  uint32_t column = 0;  // 1-based
  uint32_t first_child = 0;
  uint32_t child_count = 0;
  uint32_t target = 0;
  int64_t integer = 0;
  double floating = 0;
  std::string text;

  friend bool operator==(const FormulaNode&, const FormulaNode&) = default;
};

struct FormulaAssignment {
  std::vector<std::string> names;
  uint32_t node = 0;
  uint32_t line = 0;  // of the first name
  uint32_t column = 0;

  friend bool operator==(const FormulaAssignment&, const FormulaAssignment&) = default;
};

struct FormulaResult {
  std::string name;  // empty when the formula does not name its results
  uint32_t node = 0;

  friend bool operator==(const FormulaResult&, const FormulaResult&) = default;
};

// Nothing nests deeper, so that walking a tree by recursion is safe.
inline constexpr uint32_t kMaxFormulaDepth = 200;

struct Formula {
  std::vector<FormulaNode> nodes;              // children come before their parents
  std::vector<uint32_t> child_index;           // nodes' children, as ranges of this list
  std::vector<FormulaAssignment> assignments;  // in order; each sees the earlier ones
  std::vector<FormulaResult> results;
  std::string text;  // as written, for documents and messages

  bool empty() const { return results.empty(); }
  const FormulaNode& node(uint32_t index) const { return nodes[index]; }
  std::span<const uint32_t> children(const FormulaNode& n) const {
    return std::span(child_index).subspan(n.first_child, n.child_count);
  }
  friend bool operator==(const Formula&, const Formula&) = default;
};

// How the operator is spelled in a formula ("**").
std::string_view spelling(FormulaOp op);
// The formula in canonical spelling: parsing it again gives the same tree.
std::string print(const Formula& formula);
std::string print(const Formula& formula, uint32_t node);

}  // namespace primset::specs

#endif  // PRIMSET_SPECS_BUNDLE_FORMULA_H_
