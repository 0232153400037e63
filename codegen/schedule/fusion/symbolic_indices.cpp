#include "codegen/schedule/fusion/symbolic_indices.h"

#include <algorithm>

#include "prims/graph/traits.h"

namespace primset::schedule {

using prims::Graph;
using prims::Node;
using prims::Prim;
using prims::ValueId;
using Ints = std::vector<int64_t>;

namespace {

void append(std::string& key, int64_t v) {
  key.append(reinterpret_cast<const char*>(&v), sizeof(v));
}
void append(std::string& key, const SymInt& s) {
  key += s.is_constant() ? '#' : '$';
  append(key, s.is_constant() ? s.constant() : static_cast<int64_t>(s.poly()));
}

}  // namespace

kir::Value SymbolicArithmetic::named(std::string computation) {
  const auto [it, fresh] = names_.try_emplace(std::move(computation), next_);
  if (fresh) ++next_;
  return {it->second};
}

Index SymbolicArithmetic::unknown() {
  Affine a;
  a.opaque = {next_++};
  return affine_index(std::move(a));
}

Affine SymbolicArithmetic::add(const Affine& a, const Affine& b) {
  Affine out = add_affine(a, b);
  if (a.opaque.valid() && b.opaque.valid()) {
    std::string key = "+";
    append(key, int64_t{std::min(a.opaque.id, b.opaque.id)});
    append(key, int64_t{std::max(a.opaque.id, b.opaque.id)});
    out.opaque = named(std::move(key));
  } else {
    out.opaque = a.opaque.valid() ? a.opaque : b.opaque;
  }
  return out;
}

Affine SymbolicArithmetic::scale(const Affine& a, const SymInt& factor) {
  Affine out = a * factor;
  if (!a.opaque.valid() || factor.same(SymInt(1))) return out;
  std::string key = "*";
  append(key, int64_t{a.opaque.id});
  append(key, factor);
  out.opaque = named(std::move(key));
  return out;
}

Affine SymbolicArithmetic::divide_out(const Index& i) {
  Affine out;
  out.opaque = named("/" + index_key({i}));
  return out;
}

namespace {

class Accesses {
 public:
  Accesses(const Graph& g, const Node& n, const Indices& at, SymbolicArithmetic& arithmetic,
           std::vector<OperandAccess>& out)
      : g_(g), n_(n), at_(at), arithmetic_(arithmetic), out_(out) {}

  void append() {
    if (regroups_bits()) return regrouped();
    if (prims::is_elementwise(n_.prim) || n_.prim == Prim::map) return at_the_same_index();
    if (auto source = view_indices(g_, n_, at_, arithmetic_)) return add(0, *source);
    switch (n_.prim) {
      case Prim::pad:
        return pad();
      case Prim::concatenate:
        return concatenate();
      case Prim::dynamic_slice:
        add(0, unknown(rank(0)));
        return numbers_from(1);
      case Prim::dynamic_update_slice:
        add(0, at_);
        add(1, unknown(rank(1)));
        return numbers_from(2);
      case Prim::window_scatter_add:
        return add(0, unknown(rank(0)));
      case Prim::gather:
        return gather();
      default:
        return;  // constant, iota
    }
  }

 private:
  size_t rank(size_t operand) const { return g_.type(n_.operands[operand]).rank(); }
  void add(size_t operand, Indices at, bool elementwise = false) {
    out_.push_back({n_.operands[operand], std::move(at), elementwise});
  }
  Indices unknown(size_t rank) {
    Indices out;
    for (size_t d = 0; d < rank; ++d) out.push_back(arithmetic_.unknown());
    return out;
  }
  void numbers_from(size_t first) {
    for (size_t i = first; i < n_.operands.size(); ++i) add(i, {});
  }
  void at_the_same_index() {
    for (size_t i = 0; i < n_.operands.size(); ++i) add(i, at_, true);
  }

  // A bitcast between dtypes of other widths: its operand has another rank.
  bool regroups_bits() const {
    if (n_.prim != Prim::bitcast) return false;
    return rank(0) != g_.type(n_.results[0]).rank();
  }
  void regrouped() { add(0, unknown(rank(0))); }

  void pad() {
    const auto& low = n_.attr<SymInts>("low");
    const auto& high = n_.attr<SymInts>("high");
    const auto& interior = n_.attr<SymInts>("interior");
    Indices source = at_;
    for (size_t d = 0; d < at_.size(); ++d) {
      const bool dense = interior[d].same(SymInt(0));
      if (low[d].same(SymInt(0)) && high[d].same(SymInt(0)) && dense) continue;
      source[d] =
          dense ? affine_index(arithmetic_.affine(at_[d]) + -low[d]) : arithmetic_.unknown();
    }
    add(0, std::move(source));
    add(1, {});
  }

  void concatenate() {
    const auto dim = static_cast<size_t>(n_.attr<int64_t>("dim"));
    const Affine position = arithmetic_.affine(at_[dim]);
    SymInt offset = 0;
    for (size_t i = 0; i < n_.operands.size(); ++i) {
      const SymInt& size = g_.type(n_.operands[i]).shape[dim];
      if (size.same(SymInt(0))) continue;
      Indices source = at_;
      source[dim] = affine_index(position + -offset);
      add(i, std::move(source));
      offset += size;
    }
  }

  void gather() {
    const auto& dims = n_.attr<Ints>("dims");
    const size_t batch = rank(1);
    const Indices index_at(at_.begin(), at_.begin() + static_cast<std::ptrdiff_t>(batch));
    Indices source;
    size_t rest = batch;
    for (size_t d = 0; d < rank(0); ++d) {
      const bool indexed = std::ranges::find(dims, static_cast<int64_t>(d)) != dims.end();
      source.push_back(indexed ? arithmetic_.unknown() : at_[rest++]);
    }
    add(0, std::move(source));
    for (size_t i = 1; i < n_.operands.size(); ++i) add(i, index_at);
  }

  const Graph& g_;
  const Node& n_;
  const Indices& at_;
  SymbolicArithmetic& arithmetic_;
  std::vector<OperandAccess>& out_;
};

}  // namespace

void operand_accesses(const Graph& g, const Node& n, const Indices& at,
                      SymbolicArithmetic& arithmetic, std::vector<OperandAccess>& out) {
  Accesses(g, n, at, arithmetic, out).append();
}

}  // namespace primset::schedule
