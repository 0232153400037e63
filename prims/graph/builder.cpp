#include "prims/graph/builder.h"

#include <algorithm>
#include <bit>

#include "prims/graph/signature.h"
#include "prims/inference/inference.h"
#include "primset/error.h"

namespace primset::prims {
namespace {

using Values = Builder::Values;

// Appends plain values to a key; two keys are equal just when the same values were appended.
class Key {
 public:
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  void put(T v) {
    bytes.append(reinterpret_cast<const char*>(&v), sizeof(v));
  }
  void put_size(size_t n) { put(static_cast<uint32_t>(n)); }
  void put_text(std::string_view s) {
    put_size(s.size());
    bytes += s;
  }
  void put_symint(const SymInt& s) {
    put(s.is_constant());
    put(s.is_constant() ? s.constant() : static_cast<int64_t>(s.poly()));
  }
  void put_symints(const SymInts& xs) {
    put_size(xs.size());
    for (const SymInt& s : xs) put_symint(s);
  }
  void put_type(const ValueType& t) {
    put(t.dtype);
    put_symints(t.shape);
  }
  void put_scalar(const Scalar& s) {
    put(s.kind());
    put(s.is_integral() ? s.to_int() : 0);
    put(std::bit_cast<uint64_t>(s.is_integral() ? 0.0 : s.to_double()));
    put(std::bit_cast<uint64_t>(s.imag()));
  }
  void put_attr(const Attr& a) {
    put_text(a.name);
    put(a.value.index());
    std::visit([this](const auto& v) { put_value(v); }, a.value);
  }
  // Values made inside the region are counted from 0, so that equal regions have equal keys.
  void put_region(const Graph& g, const Region& r) {
    put_size(r.params.size());
    for (ValueId p : r.params) {
      put_type(g.type(p));
      define(p);
    }
    put_size(r.nodes.size());
    for (NodeId n : r.nodes) {
      const Node& node = g.node(n);
      put_node(g, node.prim, node.operands, node.attrs, node.regions);
      for (ValueId v : node.results) define(v);
    }
    put_values(r.results);
  }
  void put_node(const Graph& g, Prim prim, std::span<const ValueId> operands,
                const std::vector<Attr>& attrs, const std::vector<Region>& regions) {
    put(prim);
    put_values(operands);
    put_size(attrs.size());
    for (const Attr& a : attrs) put_attr(a);
    for (const Region& r : regions) put_region(g, r);
  }

  std::string bytes;

 private:
  void define(ValueId v) { local_.emplace(v, static_cast<uint32_t>(local_.size())); }
  void put_values(std::span<const ValueId> values) {
    put_size(values.size());
    for (ValueId v : values) {
      auto it = local_.find(v);
      put(it != local_.end());
      put(it != local_.end() ? it->second : v);
    }
  }
  void put_value(int64_t v) { put(v); }
  void put_value(bool v) { put(v); }
  void put_value(DType v) { put(v); }
  void put_value(const std::string& v) { put_text(v); }
  void put_value(const SymInt& v) { put_symint(v); }
  void put_value(const SymInts& v) { put_symints(v); }
  void put_value(const Scalar& v) { put_scalar(v); }
  void put_value(const Attr::Ints& v) {
    put_size(v.size());
    for (int64_t x : v) put(x);
  }

  std::unordered_map<ValueId, uint32_t> local_;
};

// A region of numbers only may be one of map, reduce or scan, which capture nothing: what it needs
// it computes itself.
bool captures_nothing(const Graph& g, const Region& r) {
  return !r.params.empty() && std::all_of(r.params.begin(), r.params.end(),
                                          [&](ValueId v) { return g.type(v).rank() == 0; });
}

// One spelling for a number of a dtype, so that 1 and 1.0 of f32 are one constant.
Scalar canonical(const Scalar& s, DType t) {
  if (is_bool(t)) return Scalar(s.to_bool());
  if (is_integral(t)) return Scalar(s.to_int());
  if (is_floating(t)) return Scalar(s.to_double());
  return Scalar(s.to_complex());
}

bool certainly_equal(const SymInts& a, const SymInts& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const SymInt& x, const SymInt& y) { return known_equal(x, y) == true; });
}

}  // namespace

Builder::Builder(Graph& graph)
    : graph_(graph), current_(&graph.body), open_{&graph.body}, known_(1) {}

ValueId Builder::tensor_input(std::string name, ValueType type) {
  ValueId v = graph_.new_value(std::move(type), Graph::kNoNode);
  graph_.inputs.push_back({Input::Kind::tensor, v, std::move(name)});
  graph_.body.params.push_back(v);
  return v;
}

ValueId Builder::scalar_input(std::string name, DType dtype) {
  ValueId v = graph_.new_value({dtype, {}}, Graph::kNoNode);
  graph_.inputs.push_back({Input::Kind::scalar, v, std::move(name)});
  graph_.body.params.push_back(v);
  return v;
}

uint32_t Builder::output(std::string name, ValueId v, std::optional<uint32_t> writes_input) {
  graph_.outputs.push_back({v, std::move(name), writes_input});
  graph_.body.results.push_back(v);
  return static_cast<uint32_t>(graph_.outputs.size() - 1);
}

std::string Builder::node_key(Prim prim, std::span<const ValueId> operands,
                              const std::vector<Attr>& attrs,
                              const std::vector<Region>& regions) const {
  Key key;
  key.put_node(graph_, prim, operands, attrs, regions);
  return std::move(key.bytes);
}

const Node* Builder::find_known(const std::string& key, size_t hash) const {
  for (size_t i = open_.size(); i-- > 0;) {
    const auto id = known_[i].find(hash, [&](NodeId other) {
      const Node& n = graph_.node(other);
      return node_key(n.prim, n.operands, n.attrs, n.regions) == key;
    });
    if (id) return &graph_.node(*id);
    if (i > 0 && captures_nothing(graph_, *open_[i])) break;
  }
  return nullptr;
}

Values Builder::add(Prim prim, Values operands, std::vector<Attr> attrs,
                    std::vector<Region> regions) {
  normalize_attrs(prim, attrs);
  const std::string key = node_key(prim, operands, attrs, regions);
  const size_t hash = std::hash<std::string>()(key);
  if (const Node* node = find_known(key, hash)) return {node->results.begin(), node->results.end()};
  const auto id = static_cast<NodeId>(graph_.node_count());
  Values results = append(prim, std::move(operands), std::move(attrs), std::move(regions));
  known_.back().insert(hash, id);
  return results;
}

Values Builder::append(Prim prim, Values operands, std::vector<Attr> attrs,
                       std::vector<Region> regions) {
  normalize_attrs(prim, attrs);
  std::vector<ValueType> types = infer(graph_, prim, operands, attrs, regions);
  auto id = static_cast<NodeId>(graph_.node_count());
  Values results;
  for (ValueType& t : types) results.push_back(graph_.new_value(std::move(t), id));
  graph_.new_node({prim, SmallVector<ValueId, 4>(operands), SmallVector<ValueId, 2>(results),
                   std::move(attrs), std::move(regions)});
  current_->nodes.push_back(id);
  return results;
}

Region Builder::region(const std::vector<ValueType>& params,
                       const std::function<Values(std::span<const ValueId>)>& body) {
  Region r;
  for (const ValueType& t : params) r.params.push_back(graph_.new_value(t, Graph::kNoNode));
  // Left on every way out, an exception of the body included.
  struct Scope {
    Builder& b;
    Scope(Builder& builder, Region& region) : b(builder) {
      b.open_.push_back(&region);
      b.known_.emplace_back();
      b.current_ = &region;
    }
    ~Scope() {
      b.open_.pop_back();
      b.known_.pop_back();
      b.current_ = b.open_.back();
    }
  } scope(*this, r);
  r.results = body(std::vector<ValueId>(r.params));
  return r;
}

ValueId Builder::convert(ValueId x, DType to) {
  if (dtype(x) == to) return x;
  return add(Prim::convert, {x}, {{"dtype", to}})[0];
}

ValueId Builder::bitcast(ValueId x, DType to) {
  if (dtype(x) == to) return x;
  return add(Prim::bitcast, {x}, {{"dtype", to}})[0];
}

ValueId Builder::constant(Scalar value, DType dtype, SymInts shape) {
  return add(
      Prim::constant, {},
      {{"value", canonical(value, dtype)}, {"dtype", dtype}, {"shape", std::move(shape)}})[0];
}

ValueId Builder::constant(SymInt value, DType dtype, SymInts shape) {
  if (value.is_constant()) return constant(Scalar(value.constant()), dtype, std::move(shape));
  return add(Prim::constant, {},
             {{"value", value}, {"dtype", dtype}, {"shape", std::move(shape)}})[0];
}

ValueId Builder::iota(SymInts shape, int64_t dim, DType dtype) {
  return add(Prim::iota, {}, {{"shape", std::move(shape)}, {"dim", dim}, {"dtype", dtype}})[0];
}

ValueId Builder::broadcast_in_dim(ValueId x, SymInts shape, std::vector<int64_t> dims) {
  // Increasing dims of equal rank name every dim in order.
  if (dims.size() == shape.size() && certainly_equal(this->shape(x), shape)) return x;
  return add(Prim::broadcast_in_dim, {x},
             {{"shape", std::move(shape)}, {"dims", std::move(dims)}})[0];
}

ValueId Builder::reshape(ValueId x, SymInts shape) {
  if (certainly_equal(this->shape(x), shape)) return x;
  return add(Prim::reshape, {x}, {{"shape", std::move(shape)}})[0];
}

ValueId Builder::transpose(ValueId x, std::vector<int64_t> permutation) {
  bool identity = permutation.size() == rank(x);
  for (size_t d = 0; d < permutation.size(); ++d) {
    identity = identity && permutation[d] == static_cast<int64_t>(d);
  }
  if (identity) return x;
  return add(Prim::transpose, {x}, {{"permutation", std::move(permutation)}})[0];
}

ValueId Builder::slice(ValueId x, SymInts start, SymInts limit, SymInts stride) {
  return add(
      Prim::slice, {x},
      {{"start", std::move(start)}, {"limit", std::move(limit)}, {"stride", std::move(stride)}})[0];
}

ValueId Builder::pad(ValueId x, ValueId value, SymInts low, SymInts high, SymInts interior) {
  return add(
      Prim::pad, {x, value},
      {{"low", std::move(low)}, {"high", std::move(high)}, {"interior", std::move(interior)}})[0];
}

ValueId Builder::concatenate(Values xs, int64_t dim) {
  if (xs.size() == 1) return xs[0];
  return add(Prim::concatenate, std::move(xs), {{"dim", dim}})[0];
}

ValueId Builder::reverse(ValueId x, std::vector<int64_t> dims) {
  if (dims.empty()) return x;
  return add(Prim::reverse, {x}, {{"dims", std::move(dims)}})[0];
}

ValueId Builder::window(ValueId x, std::vector<int64_t> dims, SymInts sizes, SymInts strides,
                        SymInts dilations) {
  return add(Prim::window, {x},
             {{"dims", std::move(dims)},
              {"sizes", std::move(sizes)},
              {"strides", std::move(strides)},
              {"dilations", std::move(dilations)}})[0];
}

ValueId Builder::dynamic_slice(ValueId x, Values starts, SymInts sizes) {
  starts.insert(starts.begin(), x);
  return add(Prim::dynamic_slice, std::move(starts), {{"sizes", std::move(sizes)}})[0];
}

ValueId Builder::dynamic_update_slice(ValueId x, ValueId update, Values starts) {
  starts.insert(starts.begin(), {x, update});
  return add(Prim::dynamic_update_slice, std::move(starts))[0];
}

ValueId Builder::set_dim(ValueId x, ValueId count, int64_t dim) {
  return add(Prim::set_dim, {x, count}, {{"dim", dim}})[0];
}

ValueId Builder::gather(ValueId x, Values indices, std::vector<int64_t> dims, bool in_bounds,
                        std::string argument) {
  indices.insert(indices.begin(), x);
  return add(
      Prim::gather, std::move(indices),
      {{"dims", std::move(dims)}, {"in_bounds", in_bounds}, {"argument", std::move(argument)}})[0];
}

ValueId Builder::scatter(Prim kind, ValueId x, Values indices, ValueId updates,
                         std::vector<int64_t> dims, bool in_bounds, bool ordered,
                         std::string argument) {
  indices.insert(indices.begin(), x);
  indices.push_back(updates);
  return add(kind, std::move(indices),
             {{"dims", std::move(dims)},
              {"in_bounds", in_bounds},
              {"ordered", ordered},
              {"argument", std::move(argument)}})[0];
}

ValueId Builder::reduce(Prim kind, ValueId x, std::vector<int64_t> dims) {
  if (dims.empty()) return x;
  std::sort(dims.begin(), dims.end());
  return add(kind, {x}, {{"dims", std::move(dims)}})[0];
}

ValueId Builder::arg_reduce(Prim kind, ValueId x, int64_t dim) {
  return add(kind, {x}, {{"dim", dim}})[0];
}

Values Builder::scan(Prim kind, ValueId x, int64_t dim) {
  return add(kind, {x}, {{"dim", dim}});
}

Values Builder::sort(Values keys_and_payloads, int64_t dim, bool descending) {
  return add(Prim::sort, std::move(keys_and_payloads), {{"dim", dim}, {"descending", descending}});
}

ValueId Builder::dot_general(ValueId a, ValueId b, std::vector<int64_t> a_contract,
                             std::vector<int64_t> b_contract, std::vector<int64_t> a_batch,
                             std::vector<int64_t> b_batch, DType accumulate) {
  return add(Prim::dot_general, {a, b},
             {{"a_contract", std::move(a_contract)},
              {"b_contract", std::move(b_contract)},
              {"a_batch", std::move(a_batch)},
              {"b_batch", std::move(b_batch)},
              {"accumulate", accumulate}})[0];
}

void Builder::check(ValueId p, ValueId value, std::string code, std::string message) {
  add(Prim::check, {p, value}, {{"code", std::move(code)}, {"message", std::move(message)}});
}

}  // namespace primset::prims
