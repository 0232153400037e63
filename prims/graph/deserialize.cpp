#include <bit>

#include "prims/graph/intern.h"
#include "prims/graph/serialize.h"
#include "prims/graph/serialized.h"
#include "prims/graph/signature.h"
#include "prims/graph/verifier.h"
#include "primset/error.h"

namespace primset::prims {
namespace {

using Range = primset_graph_range;

[[noreturn]] void corrupt(const std::string& what) {
  throw Error(ErrorCode::corrupt, "serialised graph: " + what);
}

// primset_graph_open has checked every index; what is left is what the records mean.
class Reader {
 public:
  explicit Reader(const primset_graph& in) : in_(in) {}

  Graph read() {
    read_symbols();
    read_atoms();
    for (uint32_t i = 0; i < in_.count[PRIMSET_GRAPH_VALUES]; ++i) read_value(i);
    for (uint32_t i = 0; i < in_.count[PRIMSET_GRAPH_REGIONS]; ++i)
      regions_.push_back(read_region(i));
    for (uint32_t i = 0; i < in_.count[PRIMSET_GRAPH_NODES]; ++i) read_node(i);
    g_.body = std::move(regions_.back());
    read_borders();
    for (uint32_t i = 0; i < in_.count[PRIMSET_GRAPH_GUARDS]; ++i) {
      primset_graph_guard guard = primset_graph_get_guard(&in_, i);
      g_.context().add_guard(size(guard.poly), static_cast<Guard::Relation>(guard.relation), 0);
    }
    return std::move(g_);
  }

 private:
  std::string text(Range r) const { return std::string(primset_graph_text(&in_, r), r.count); }

  std::vector<uint32_t> list(Range r) const {
    std::vector<uint32_t> out;
    out.reserve(r.count);
    for (uint32_t i = 0; i < r.count; ++i) out.push_back(primset_graph_list_at(&in_, r, i));
    return out;
  }

  DType dtype(int64_t code) const {
    auto t = static_cast<DType>(code);
    if (bits(t) == 0) corrupt("no dtype has the code " + std::to_string(code));
    return t;
  }

  void read_symbols() {
    for (uint32_t i = 0; i < in_.count[PRIMSET_GRAPH_SYMBOLS]; ++i) {
      primset_graph_symbol s = primset_graph_get_symbol(&in_, i);
      symbols_.push_back(g_.context().symbol(text(s.name), s.hint, s.lower));
    }
  }

  // An atom that its context simplifies was not written by us, and could make sizes explode.
  void read_atoms() {
    for (uint32_t i = 0; i < in_.count[PRIMSET_GRAPH_ATOMS]; ++i) {
      primset_graph_atom a = primset_graph_get_atom(&in_, i);
      SymInt s = a.kind == PRIMSET_GRAPH_SYMBOL ? symbols_[a.symbol] : function(a);
      SymContext::Poly p = g_.context().poly_of(s);
      if (p.size() != 1 || p[0].coefficient != 1 || p[0].atoms.size() != 1) {
        corrupt("an atom is not in canonical form");
      }
      atoms_.push_back(s);
    }
  }

  SymInt function(const primset_graph_atom& a) const {
    SymInt x = size(a.lhs), y = size(a.rhs);
    bool divides = a.kind == PRIMSET_GRAPH_FLOOR_DIV || a.kind == PRIMSET_GRAPH_MOD;
    if (divides && y.is_constant() && y.constant() == 0) corrupt("a size is divided by zero");
    switch (a.kind) {
      case PRIMSET_GRAPH_FLOOR_DIV:
        return floor_div(x, y);
      case PRIMSET_GRAPH_MOD:
        return mod(x, y);
      case PRIMSET_GRAPH_MIN:
        return min(x, y);
      case PRIMSET_GRAPH_CEIL_LOG2:
        return ceil_log2(x);
      default:
        return max(x, y);
    }
  }

  SymInt size(uint32_t poly) const {
    Range terms = primset_graph_get_poly(&in_, poly).terms;
    SymInt sum = 0;
    for (uint32_t i = 0; i < terms.count; ++i) {
      primset_graph_term t = primset_graph_get_term(&in_, terms.first + i);
      SymInt product = t.coefficient;
      for (uint32_t a : list(t.atoms)) product *= atoms_[a];
      sum += product;
    }
    return sum;
  }

  SymInts sizes(Range r) const {
    SymInts out;
    for (uint32_t poly : list(r)) out.push_back(size(poly));
    return out;
  }

  void read_value(uint32_t i) {
    primset_graph_value v = primset_graph_get_value(&in_, i);
    g_.new_value({dtype(v.dtype), sizes(v.shape)}, Graph::kNoNode);
  }

  Region read_region(uint32_t i) const {
    primset_graph_region r = primset_graph_get_region(&in_, i);
    return {list(r.params), list(r.nodes), list(r.results)};
  }

  void read_node(uint32_t i) {
    primset_graph_node in = primset_graph_get_node(&in_, i);
    std::optional<Prim> prim = prim_from_name(text(in.prim));
    if (!prim) corrupt("there is no primitive '" + text(in.prim) + "'");
    Node n{*prim, {}, {}, {}, {}};
    n.operands.assign(list(in.operands));
    n.results.assign(list(in.results));
    for (uint32_t k = 0; k < in.attrs.count; ++k) n.attrs.push_back(read_attr(in.attrs.first + k));
    normalize_attrs(*prim, n.attrs);
    for (uint32_t k = 0; k < in.regions.count; ++k) {
      n.regions.push_back(std::move(regions_[in.regions.first + k]));
    }
    for (ValueId v : n.results) g_.set_producer(v, i);
    g_.new_node(std::move(n));
  }

  Attr read_attr(uint32_t i) const {
    primset_graph_attr a = primset_graph_get_attr(&in_, i);
    return {intern(text(a.name)), attr_value(a)};
  }

  decltype(Attr::value) attr_value(const primset_graph_attr& a) const {
    switch (a.type) {
      case PRIMSET_GRAPH_INTEGER:
        return a.integer;
      case PRIMSET_GRAPH_BOOLEAN:
        return a.integer != 0;
      case PRIMSET_GRAPH_STRING:
        return text(a.range);
      case PRIMSET_GRAPH_DTYPE:
        return dtype(a.integer);
      case PRIMSET_GRAPH_INTEGER_LIST:
        return integers(a.range);
      case PRIMSET_GRAPH_SIZE:
        return size(static_cast<uint32_t>(a.integer));
      case PRIMSET_GRAPH_SIZE_LIST:
        return sizes(a.range);
      default:
        return scalar(a);
    }
  }

  Attr::Ints integers(Range r) const {
    Attr::Ints out;
    for (uint32_t i = 0; i < r.count; ++i) out.push_back(primset_graph_integer_at(&in_, r, i));
    return out;
  }

  Scalar scalar(const primset_graph_attr& a) const {
    auto re = std::bit_cast<double>(a.real), im = std::bit_cast<double>(a.imag);
    switch (static_cast<Scalar::Kind>(a.scalar_kind)) {
      case Scalar::Kind::boolean:
        return Scalar(a.integer != 0);
      case Scalar::Kind::integer:
        return Scalar(a.integer);
      case Scalar::Kind::floating:
        return Scalar(re);
      case Scalar::Kind::complex:
        return Scalar(std::complex<double>(re, im));
    }
    corrupt("a scalar's kind");
  }

  void read_borders() {
    for (uint32_t i = 0; i < in_.count[PRIMSET_GRAPH_INPUTS]; ++i) {
      primset_graph_input in = primset_graph_get_input(&in_, i);
      auto kind = in.is_scalar ? Input::Kind::scalar : Input::Kind::tensor;
      g_.inputs.push_back({kind, in.value, text(in.name)});
    }
    for (uint32_t i = 0; i < in_.count[PRIMSET_GRAPH_OUTPUTS]; ++i) {
      primset_graph_output out = primset_graph_get_output(&in_, i);
      std::optional<uint32_t> writes;
      if (out.writes_input != PRIMSET_GRAPH_NONE) writes = out.writes_input;
      g_.outputs.push_back({out.value, text(out.name), writes});
    }
  }

  const primset_graph& in_;
  Graph g_;
  std::vector<SymInt> symbols_, atoms_;
  std::vector<Region> regions_;
};

}  // namespace

Graph deserialize(std::span<const std::byte> bytes) {
  primset_graph in;
  if (const char* error = primset_graph_open(&in, bytes.data(), bytes.size())) corrupt(error);
  try {
    Graph graph = Reader(in).read();
    std::vector<std::string> errors = verify(graph);
    if (!errors.empty()) corrupt(errors.front());
    return graph;
  } catch (const Error& e) {
    if (e.code() == ErrorCode::corrupt) throw;
    corrupt(e.what());  // numbers of sizes that do not fit 64 bits
  }
}

}  // namespace primset::prims
