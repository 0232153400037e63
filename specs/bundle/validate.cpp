#include "specs/bundle/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "primset/error.h"

namespace primset::specs {
namespace {

class Validator {
 public:
  explicit Validator(const Bundle& bundle) : bundle_(bundle) {}

  void check(const Primitive& p) {
    owner_ = p.name;
    below(p.file, bundle_.files.size(), "file");
    for (uint32_t index : p.donates) below(index, p.operands.size(), "donated operand");
    for (uint32_t index : p.siblings) below(index, bundle_.primitives.size(), "sibling");
    check(p.decomposition, p.operands.size() + p.attributes.size());
  }

  void check(const Overload& o) {
    owner_ = o.qualified;
    below(o.file, bundle_.files.size(), "file");
    for (uint32_t index : o.promote.args) below(index, o.args.size(), "promoted argument");
    if (o.promote.into != kNoIndex) below(o.promote.into, o.args.size(), "result's argument");
    for (uint32_t index : o.broadcast) below(index, o.args.size(), "broadcast argument");
    for (uint32_t index : o.one_dtype) below(index, o.args.size(), "argument of one dtype");
    if (o.base != kNoIndex) below(o.base, bundle_.overloads.size(), "base overload");
    check(o.implementation, o.args.size());
    check_links(o);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::corrupt, fmt::format("spec bundle: {}: {}", owner_, what));
  }

  void below(uint64_t index, uint64_t count, const char* what) const {
    if (index >= count) fail(fmt::format("{} {} of {}", what, index, count));
  }

  void check(const Implementation& impl, size_t arguments) const {
    if (impl.target != kNoIndex) below(impl.target, bundle_.overloads.size(), "alias target");
    if (impl.kind == ImplKind::alias && impl.target == kNoIndex) fail("an alias of nothing");
    const Formula& f = impl.formula;
    if (impl.kind == ImplKind::formula && f.empty()) fail("a formula without a result");
    for (size_t i = 0; i < f.nodes.size(); ++i) check(f, i, arguments);
    check_tree(f);
    for (const FormulaAssignment& a : f.assignments) below(a.node, f.nodes.size(), "node");
    for (const FormulaResult& r : f.results) below(r.node, f.nodes.size(), "node");
  }

  void check(const Formula& f, size_t index, size_t arguments) const {
    const FormulaNode& n = f.nodes[index];
    if (uint64_t{n.first_child} + n.child_count > f.child_index.size())
      fail("children past the end");
    for (uint32_t child : f.children(n)) below(child, index, "child node");
    if (n.child_count != expected_children(n)) fail("a node with the wrong number of children");
    if (n.kind == NodeKind::argument) below(as_index(n.integer), arguments, "argument");
    if (n.kind == NodeKind::local) {
      below(as_index(n.integer), f.assignments.size(), "assignment");
      below(n.member, f.assignments[as_index(n.integer)].names.size(), "assigned name");
    }
    if (n.kind == NodeKind::call) check_target(n);
  }

  // A node has one parent and the tree is not deep: walks of it end, and soon.
  void check_tree(const Formula& f) const {
    std::vector<uint32_t> depth(f.nodes.size(), 1);
    std::vector<bool> has_parent(f.nodes.size());
    for (size_t i = 0; i < f.nodes.size(); ++i) {
      for (uint32_t child : f.children(f.nodes[i])) {
        if (has_parent[child]) fail("a node with two parents");
        has_parent[child] = true;
        depth[i] = std::max(depth[i], depth[child] + 1);
      }
      if (depth[i] > kMaxFormulaDepth) fail("a formula nested too deeply");
    }
  }

  static uint32_t expected_children(const FormulaNode& n) {
    switch (n.kind) {
      case NodeKind::unary:
      case NodeKind::keyword:
        return 1;
      case NodeKind::binary:
        return 2;
      case NodeKind::ternary:
        return 3;
      case NodeKind::call:
      case NodeKind::list:
        return n.child_count;
      default:
        return 0;
    }
  }

  void check_target(const FormulaNode& n) const {
    if (n.callee == Callee::primitive) below(n.target, bundle_.primitives.size(), "primitive");
    if (n.callee == Callee::op || n.callee == Callee::rounded_op) {
      below(n.target, bundle_.overloads.size(), "operator");
    }
  }

  // Two links are the most there are (a variant of an alias), so four steps prove a circle.
  void check_links(const Overload& o) const {
    const Overload* at = &o;
    for (int steps = 0; steps < 4; ++steps) {
      uint32_t next = at->base;
      if (at->implementation.kind == ImplKind::alias) next = at->implementation.target;
      if (next == kNoIndex) return;
      if (next >= bundle_.overloads.size()) return;  // reported where that overload is checked
      at = &bundle_.overloads[next];
    }
    fail("its base and alias links are too many or go in a circle");
  }

  // Negative numbers become huge, so that one comparison refuses both.
  static uint64_t as_index(int64_t value) { return static_cast<uint64_t>(value); }

  const Bundle& bundle_;
  std::string_view owner_;
};

}  // namespace

void validate(const Bundle& bundle) {
  Validator validator(bundle);
  for (const Primitive& p : bundle.primitives) validator.check(p);
  for (const Overload& o : bundle.overloads) validator.check(o);
}

}  // namespace primset::specs
