// Formulas: precedence, layout, and that printing and parsing are inverses.
#include <gtest/gtest.h>

#include "codegen/specgen/testing/source_texts.h"

namespace primset::specs {
namespace {

// Every node in parentheses, so that the tree shows.
std::string tree(const Formula& f, uint32_t index) {
  const FormulaNode& n = f.node(index);
  const auto child = f.children(n);
  switch (n.kind) {
    case NodeKind::unary:
      return std::string(spelling(n.op)) + "(" + tree(f, child[0]) + ")";
    case NodeKind::binary:
      return "(" + tree(f, child[0]) + std::string(spelling(n.op)) + tree(f, child[1]) + ")";
    case NodeKind::ternary:
      return "(" + tree(f, child[0]) + "?" + tree(f, child[1]) + ":" + tree(f, child[2]) + ")";
    default:
      return print(f, index);
  }
}

Formula parse(const std::string& text) {
  Diagnostics diagnostics;
  diagnostics.add_file("formula");
  const YamlNode node = scalar(text);
  Formula formula = parse_formula(node, diagnostics);
  EXPECT_EQ(diagnostics.text(), "") << text;
  return formula;
}

std::string tree(const std::string& text) {
  const Formula f = parse(text);
  return f.results.empty() ? "" : tree(f, f.results[0].node);
}

TEST(Formula, Precedence) {
  EXPECT_EQ(tree("a + b * c"), "(a+(b*c))");
  EXPECT_EQ(tree("a - b - c"), "((a-b)-c)");
  EXPECT_EQ(tree("a / b / c"), "((a/b)/c)");
  EXPECT_EQ(tree("a ** b ** c"), "(a**(b**c))");
  EXPECT_EQ(tree("-a ** b"), "-((a**b))");
  EXPECT_EQ(tree("a ** -b"), "(a**-(b))");
  EXPECT_EQ(tree("-a * b"), "(-(a)*b)");
  EXPECT_EQ(tree("a & b == c"), "((a&b)==c)");
  EXPECT_EQ(tree("a | b ^ c & d"), "(a|(b^(c&d)))");
  EXPECT_EQ(tree("a & b << c + d"), "(a&(b<<(c+d)))");
  EXPECT_EQ(tree("a == b && c || d"), "(((a==b)&&c)||d)");
  EXPECT_EQ(tree("a ? b : c ? d : e0"), "(a?b:(c?d:e0))");
  EXPECT_EQ(tree("a || b ? c + 1 : d"), "((a||b)?(c+1):d)");
  EXPECT_EQ(tree("!a && ~b"), "(!(a)&&~(b))");
  EXPECT_EQ(tree("- - a"), "-(-(a))");
  EXPECT_EQ(tree("(a + b) * c"), "((a+b)*c)");
  EXPECT_EQ(tree("a % b * c"), "((a%b)*c)");
}

TEST(Formula, Literals) {
  const Formula f = parse("[1, 0x1f, 1.5, 1e-3, .5, 2., \"a\", 'b']");
  const auto list = f.children(f.node(f.results[0].node));
  ASSERT_EQ(list.size(), 8u);
  EXPECT_EQ(f.node(list[0]).integer, 1);
  EXPECT_EQ(f.node(list[1]).integer, 31);
  EXPECT_EQ(f.node(list[2]).floating, 1.5);
  EXPECT_EQ(f.node(list[3]).floating, 1e-3);
  EXPECT_EQ(f.node(list[4]).floating, 0.5);
  EXPECT_EQ(f.node(list[5]).kind, NodeKind::floating);
  EXPECT_EQ(f.node(list[6]).text, "a");
  EXPECT_EQ(f.node(list[7]).text, "b");
}

TEST(Formula, LinesSeparateStatementsUnlessTheyContinue) {
  const Formula f = parse("a = x +\n  1\n\nb, c = f(a,\n  2)  # words\nb\n  ? a\n  : c\n");
  ASSERT_EQ(f.assignments.size(), 2u);
  EXPECT_EQ(f.assignments[1].names, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(print(f), "a = x + 1\nb, c = f(a, 2)\nb ? a : c");
}

TEST(Formula, ALineMayBeginWithAMinus) {
  EXPECT_EQ(print(parse("a = x\n-a")), "a = x\n-a");
}

TEST(Formula, NamedResults) {
  const Formula f = parse("values: x, indices: i + 1");
  ASSERT_EQ(f.results.size(), 2u);
  EXPECT_EQ(f.results[0].name, "values");
  EXPECT_EQ(f.results[1].name, "indices");
}

TEST(Formula, PlacesOfNodes) {
  const Formula f = parse("a = x\nf(a, key=b)");
  for (const FormulaNode& n : f.nodes) {
    if (n.text == "b") {
      EXPECT_EQ(n.line, 1u);  // a scalar without a place table counts on in its line
      EXPECT_EQ(n.column, 16u);
    }
  }
}

TEST(Formula, PrintsWhatParsesToTheSame) {
  for (const char* text :
       {"a + b * (c - d) / -e0", "(a ** b) ** c", "a ** b ** -c", "(-a) ** 2", "-a ** 2",
        "(a == b) == c", "a ? b ? c : d : e0", "(a ? b : c) + d", "!(a && b) || ~c & d",
        "f(a, [1, [2, x]], k=\"s\", l=none)", "op::relu(x) + 1.0", "a - (b - c)", "a << (b << c)",
        "1e+30 * 1.5e-07", "t = x * x\nu, _ = f(t)\nvalues: u, indices: t"}) {
    const Formula first = parse(text);
    const Formula second = parse(print(first));
    EXPECT_EQ(print(first), print(second)) << text;
    EXPECT_EQ(print(first), text);
  }
}

TEST(Formula, EveryFormulaInTheSpecsPrintsToItself) {
  Diagnostics diagnostics;
  const Bundle bundle = compile({source_path("specs")}, diagnostics);
  ASSERT_EQ(diagnostics.text(), "");
  size_t formulas = 0;
  auto check = [&](const Formula& formula, const std::string& owner) {
    if (formula.empty()) return;
    ++formulas;
    const std::string once = print(formula);
    EXPECT_EQ(print(parse(once)), once) << owner;
  };
  for (const Primitive& p : bundle.primitives) check(p.decomposition.formula, p.name);
  for (const Overload& o : bundle.overloads) check(o.implementation.formula, o.qualified);
  EXPECT_GE(formulas, 15u);
}

TEST(Formula, NamesAreResolved) {
  const Bundle bundle = compile_file(R"(- op: f
  overloads:
    default: (Tensor self, Tensor? weight, int dim, ScalarType? dtype=None) -> Tensor
  decompose: |
    twice = self + self
    sorted, _ = topk(twice, dim)
    weight && dim == 0 ? op::relu(sorted) * weight + pi : convert(reduce_sum(sorted, [dim]), f32)
)");
  const Overload* o = bundle.find_overload("f");
  ASSERT_NE(o, nullptr);
  const Formula& f = o->implementation.formula;
  auto find = [&](std::string_view text) -> const FormulaNode& {
    for (const FormulaNode& n : f.nodes) {
      if (n.text == text) return n;
    }
    ADD_FAILURE() << text;
    return f.nodes[0];
  };
  EXPECT_EQ(find("weight").integer, 1);
  EXPECT_EQ(find("twice").kind, NodeKind::local);
  EXPECT_EQ(find("sorted").integer, 1);
  EXPECT_EQ(find("topk").callee, Callee::op);
  EXPECT_EQ(bundle.overloads[find("topk").target].op, "topk");
  EXPECT_EQ(find("relu").callee, Callee::rounded_op);
  EXPECT_EQ(bundle.primitives[find("reduce_sum").target].name, "reduce_sum");
  EXPECT_EQ(find("f32").kind, NodeKind::dtype);
}

}  // namespace
}  // namespace primset::specs
