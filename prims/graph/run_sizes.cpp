#include "prims/graph/run_sizes.h"

#include <set>

namespace primset::prims {
namespace {

using Symbols = std::set<uint32_t>;

void add_symbols(const SymContext& context, const SymContext::Poly& p, Symbols& out) {
  for (const SymContext::Term& t : p) {
    for (uint32_t id : t.atoms) {
      const SymContext::Atom& a = context.atom(id);
      if (a.kind == SymContext::AtomKind::symbol) {
        out.insert(a.symbol);
      } else {
        add_symbols(context, a.lhs, out);
        add_symbols(context, a.rhs, out);
      }
    }
  }
}

}  // namespace

bool depends_on_run(const Graph& g, const SymInt& s) {
  if (s.is_constant()) return false;
  const SymContext& context = *s.context();
  Symbols symbols;
  add_symbols(context, context.poly_of(s), symbols);
  for (NodeId id = 0; id < g.node_count(); ++id) {
    const Node& n = g.node(id);
    if (n.prim != Prim::set_dim) continue;
    const auto dim = static_cast<size_t>(n.attr<int64_t>("dim"));
    const auto made = context.as_symbol(g.type(n.results[0]).shape[dim]);
    if (made && symbols.contains(*made)) return true;
  }
  return false;
}

}  // namespace primset::prims
