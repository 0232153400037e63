#include "prims/graph/serialize.h"

#include <bit>
#include <cstring>
#include <unordered_map>

#include "prims/graph/serialized.h"
#include "primset/error.h"

namespace primset::prims {
namespace {

using Poly = SymContext::Poly;
using Range = primset_graph_range;

// A section under construction.
struct Section {
  std::vector<std::byte> bytes;
  uint32_t count = 0;

  void u32(uint32_t v) { append(v, 4); }
  void u64(uint64_t v) { append(v, 8); }
  void i64(int64_t v) { append(static_cast<uint64_t>(v), 8); }
  void range(Range r) {
    u32(r.first);
    u32(r.count);
  }

 private:
  void append(uint64_t v, int size) {
    for (int i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(v >> (8 * i)));
  }
};

class Writer {
 public:
  explicit Writer(const Graph& graph) : g_(graph), context_(graph.context()) {}

  std::vector<std::byte> write() {
    write_symbols();
    write_graph();
    return join();
  }

 private:
  Section& section(primset_graph_section s) { return sections_[s]; }

  Range text(std::string_view s) {
    Section& out = section(PRIMSET_GRAPH_TEXT);
    auto [it, fresh] = texts_.try_emplace(std::string(s), Range{});
    if (!fresh) return it->second;
    it->second = {out.count, static_cast<uint32_t>(s.size())};
    for (char c : s) out.bytes.push_back(static_cast<std::byte>(c));
    out.count += it->second.count;
    return it->second;
  }

  Range indices(const std::vector<uint32_t>& list) {
    Section& out = section(PRIMSET_GRAPH_INDICES);
    Range r{out.count, static_cast<uint32_t>(list.size())};
    for (uint32_t i : list) out.u32(i);
    out.count += r.count;
    return r;
  }

  // Sizes. Atoms are written when first used, after those that they use.
  uint32_t atom(uint32_t id) {
    if (auto it = atoms_.find(id); it != atoms_.end()) return it->second;
    const SymContext::Atom& a = context_.atom(id);
    bool symbol = a.kind == SymContext::AtomKind::symbol;
    uint32_t lhs = symbol ? 0 : poly(a.lhs), rhs = symbol ? 0 : poly(a.rhs);
    Section& out = section(PRIMSET_GRAPH_ATOMS);
    out.u32(static_cast<uint32_t>(a.kind));
    out.u32(symbol ? a.symbol : 0);
    out.u32(lhs);
    out.u32(rhs);
    return atoms_[id] = out.count++;
  }

  uint32_t poly(const Poly& p) {
    std::vector<std::vector<uint32_t>> lists;  // of atoms, by term
    std::string key;
    for (const SymContext::Term& t : p) {
      lists.emplace_back();
      key += std::to_string(t.coefficient);
      for (uint32_t a : t.atoms) {
        lists.back().push_back(atom(a));
        key += "*" + std::to_string(lists.back().back());
      }
      key += "+";
    }
    Section &polys = section(PRIMSET_GRAPH_POLYS), &terms = section(PRIMSET_GRAPH_TERMS);
    auto [it, fresh] = polys_.try_emplace(key, polys.count);
    if (!fresh) return it->second;
    polys.range({terms.count, static_cast<uint32_t>(p.size())});
    ++polys.count;
    for (size_t i = 0; i < p.size(); ++i) {
      terms.i64(p[i].coefficient);
      terms.range(indices(lists[i]));
      ++terms.count;
    }
    return it->second;
  }

  uint32_t size(const SymInt& s) { return poly(context_.poly_of(s)); }

  Range sizes(const SymInts& xs) {
    std::vector<uint32_t> list;
    for (const SymInt& s : xs) list.push_back(size(s));
    return indices(list);
  }

  void write_symbols() {
    Section& out = section(PRIMSET_GRAPH_SYMBOLS);
    for (size_t i = 0; i < context_.symbol_count(); ++i) {
      out.range(text(context_.symbol_name(i)));
      out.i64(context_.symbol_hint(i));
      out.i64(context_.symbol_lower(i));
      ++out.count;
    }
    Section& guards = section(PRIMSET_GRAPH_GUARDS);
    for (const Guard& g : context_.guards()) {
      guards.u32(poly(context_.poly(g.poly)));
      guards.u32(static_cast<uint32_t>(g.relation));
      ++guards.count;
    }
  }

  // Values are numbered in the order of the text form.
  void number(const Region& r) {
    for (ValueId v : r.params) number(v);
    for (NodeId n : r.nodes) {
      for (const Region& nested : g_.node(n).regions) number(nested);
      for (ValueId v : g_.node(n).results) number(v);
    }
  }
  void number(ValueId v) {
    Section& out = section(PRIMSET_GRAPH_VALUES);
    values_.emplace(v, out.count++);
    out.u32(static_cast<uint32_t>(g_.type(v).dtype));
    out.u32(0);
    out.range(sizes(g_.type(v).shape));
  }

  std::vector<uint32_t> numbers(std::span<const ValueId> values) const {
    std::vector<uint32_t> out;
    for (ValueId v : values) out.push_back(v == kNoValue ? PRIMSET_GRAPH_NONE : values_.at(v));
    return out;
  }

  void write_graph() {
    number(g_.body);
    // Regions by depth, the deepest first.
    std::vector<std::vector<const Region*>> levels{{&g_.body}};
    while (!levels.back().empty()) {
      std::vector<const Region*> deeper;
      for (const Region* r : levels.back()) {
        for (NodeId n : r->nodes) {
          for (const Region& nested : g_.node(n).regions) deeper.push_back(&nested);
        }
      }
      levels.push_back(std::move(deeper));
    }
    for (size_t depth = levels.size(); depth-- > 0;) {
      for (const Region* r : levels[depth]) write_region(*r);
    }
    write_borders();
  }

  void write_region(const Region& r) {
    std::vector<uint32_t> nodes;
    for (NodeId n : r.nodes) nodes.push_back(write_node(g_.node(n)));
    Section& out = section(PRIMSET_GRAPH_REGIONS);
    out.range(indices(numbers(r.params)));
    out.range(indices(nodes));
    out.range(indices(numbers(r.results)));
    ++out.count;
  }

  uint32_t write_node(const Node& n) {
    Range attrs{section(PRIMSET_GRAPH_ATTRS).count, static_cast<uint32_t>(n.attrs.size())};
    for (const Attr& a : n.attrs) write_attr(a);
    Range regions{next_nested_, static_cast<uint32_t>(n.regions.size())};
    next_nested_ += regions.count;
    Section& out = section(PRIMSET_GRAPH_NODES);
    out.range(text(info(n.prim).name));
    out.range(indices(numbers(n.operands)));
    out.range(indices(numbers(n.results)));
    out.range(attrs);
    out.range(regions);
    return out.count++;
  }

  struct AttrFields {
    primset_graph_attr_type type;
    uint32_t scalar_kind = 0;
    int64_t integer = 0;
    double real = 0, imag = 0;
    Range range = {0, 0};
  };

  void write_attr(const Attr& a) {
    AttrFields f = std::visit([this](const auto& v) { return fields(v); }, a.value);
    Range name = text(a.name);
    Section& out = section(PRIMSET_GRAPH_ATTRS);
    out.range(name);
    out.u32(f.type);
    out.u32(f.scalar_kind);
    out.i64(f.integer);
    out.u64(std::bit_cast<uint64_t>(f.real));
    out.u64(std::bit_cast<uint64_t>(f.imag));
    out.range(f.range);
    ++out.count;
  }

  AttrFields fields(int64_t v) { return {.type = PRIMSET_GRAPH_INTEGER, .integer = v}; }
  AttrFields fields(bool v) { return {.type = PRIMSET_GRAPH_BOOLEAN, .integer = v}; }
  AttrFields fields(const std::string& v) {
    return {.type = PRIMSET_GRAPH_STRING, .range = text(v)};
  }
  AttrFields fields(DType v) {
    return {.type = PRIMSET_GRAPH_DTYPE, .integer = static_cast<int64_t>(v)};
  }
  AttrFields fields(const SymInt& v) { return {.type = PRIMSET_GRAPH_SIZE, .integer = size(v)}; }
  AttrFields fields(const SymInts& v) {
    return {.type = PRIMSET_GRAPH_SIZE_LIST, .range = sizes(v)};
  }
  AttrFields fields(const Scalar& v) {
    AttrFields f{.type = PRIMSET_GRAPH_SCALAR, .scalar_kind = static_cast<uint32_t>(v.kind())};
    if (v.is_integral()) f.integer = v.to_int();
    if (!v.is_integral()) f.real = v.to_double();
    if (v.is_complex()) f.imag = v.imag();
    return f;
  }
  AttrFields fields(const Attr::Ints& v) {
    Section& out = section(PRIMSET_GRAPH_INTEGERS);
    Range r{out.count, static_cast<uint32_t>(v.size())};
    for (int64_t x : v) out.i64(x);
    out.count += r.count;
    return {.type = PRIMSET_GRAPH_INTEGER_LIST, .range = r};
  }

  void write_borders() {
    Section& inputs = section(PRIMSET_GRAPH_INPUTS);
    for (const Input& in : g_.inputs) {
      inputs.range(text(in.name));
      inputs.u32(values_.at(in.value));
      inputs.u32(in.kind == Input::Kind::scalar);
      ++inputs.count;
    }
    Section& outputs = section(PRIMSET_GRAPH_OUTPUTS);
    for (const Output& o : g_.outputs) {
      outputs.range(text(o.name));
      outputs.u32(values_.at(o.value));
      outputs.u32(o.writes_input.value_or(PRIMSET_GRAPH_NONE));
      ++outputs.count;
    }
  }

  std::vector<std::byte> join() {
    constexpr size_t kHeader = 24 + 8 * PRIMSET_GRAPH_SECTIONS;
    Section header, body;
    for (Section& s : sections_) {
      while (body.bytes.size() % 8 != 0) body.bytes.push_back(std::byte{0});
      header.u32(static_cast<uint32_t>(kHeader + body.bytes.size()));
      header.u32(s.count);
      body.bytes.insert(body.bytes.end(), s.bytes.begin(), s.bytes.end());
    }
    size_t total = kHeader + body.bytes.size();
    if (total > UINT32_MAX) throw Error(ErrorCode::internal, "a graph of more than 4 GiB");
    Section file;
    for (char c : std::string_view(PRIMSET_GRAPH_MAGIC, 8)) {
      file.bytes.push_back(static_cast<std::byte>(c));
    }
    file.u32(PRIMSET_GRAPH_VERSION);
    file.u32(static_cast<uint32_t>(total));
    file.u32(section(PRIMSET_GRAPH_REGIONS).count - 1);
    file.u32(PRIMSET_GRAPH_SECTIONS);
    file.bytes.insert(file.bytes.end(), header.bytes.begin(), header.bytes.end());
    file.bytes.insert(file.bytes.end(), body.bytes.begin(), body.bytes.end());
    return std::move(file.bytes);
  }

  const Graph& g_;
  const SymContext& context_;
  Section sections_[PRIMSET_GRAPH_SECTIONS];
  std::unordered_map<std::string, Range> texts_;
  std::unordered_map<uint32_t, uint32_t> atoms_;
  std::unordered_map<std::string, uint32_t> polys_;
  std::unordered_map<ValueId, uint32_t> values_;
  uint32_t next_nested_ = 0;
};

}  // namespace

std::vector<std::byte> serialize(const Graph& graph) {
  return Writer(graph).write();
}

}  // namespace primset::prims
