// PrimGraph: a pure SSA graph over primitives. Every value has a dtype and a symbolic shape;
// nothing has strides, aliases or side effects, except `check`, which records an error.
//
// A graph is a body Region plus inputs and outputs. Regions of map, reduce and scan are scalar: all
// their values have rank 0 and they capture nothing. Regions of for_loop, while_loop and cond hold
// whole arrays and may use values of the enclosing regions.
//
// Inputs: a tensor input is an array; a scalar input is a rank-0 number that travels in the
// launch's parameters (alpha, eps, a seed): different numbers are one plan.
//
// Text form: text.h. Serialised form: serialize.h. Rules: verifier.h. Threads: build with one
// thread, read with many.
#ifndef PRIMSET_PRIMS_GRAPH_GRAPH_H_
#define PRIMSET_PRIMS_GRAPH_GRAPH_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "prims/graph/large_variant.h"
#include "prims/graph/symint.h"
#include "primset/dtype.h"
#include "primset/scalar.h"
#include "sdk/base/small_vector.h"
#include "specs/bundle/prim_traits.h"

namespace primset::prims {

// One enumerator a primitive, generated from specs/prims/*.yaml.
enum class Prim : uint16_t {
#define PRIMSET_PRIM(id, text, tier, category, operands, variadic, results, regions) id,
#include "prims/prim_list.inc"
#undef PRIMSET_PRIM
};

using specs::Tier;

struct PrimInfo {
  std::string_view name;
  Tier tier;
  std::string_view category;
  int operands;   // named operands, the variadic one included
  bool variadic;  // one of the operands stands for any number of values
  int results;    // -1: as many as the regions or operands say
  int regions;
};
const PrimInfo& info(Prim p);
std::optional<Prim> prim_from_name(std::string_view name);
int prim_count();

using ValueId = uint32_t;
using NodeId = uint32_t;
inline constexpr ValueId kNoValue = UINT32_MAX;

struct ValueType {
  DType dtype = DType::f32;
  SymInts shape;
  size_t rank() const { return shape.size(); }
};

// An attribute by name, in the order of the primitive's signature.
struct Attr {
  using Ints = std::vector<int64_t>;
  using Value =
      LargeVariant<std::variant<int64_t, bool, std::string, DType, Ints, SymInt, SymInts, Scalar>>;

  std::string_view name;  // points into the table of primitives
  Value value;
};

struct Region {
  std::vector<ValueId> params;
  std::vector<NodeId> nodes;
  std::vector<ValueId> results;
};

struct Node {
  Prim prim;
  SmallVector<ValueId, 4> operands;
  SmallVector<ValueId, 2> results;
  std::vector<Attr> attrs;
  std::vector<Region> regions;

  // The attribute's value; throws Error{internal} when the primitive has no such attribute.
  template <typename T>
  const T& attr(std::string_view name) const {
    return std::get<T>(find_attr(name).value);
  }
  // The same; null when the primitive has no such attribute.
  template <typename T>
  const T* attr_if(std::string_view name) const {
    const auto at = std::ranges::find(attrs, name, &Attr::name);
    return at == attrs.end() ? nullptr : &std::get<T>(at->value);
  }
  const Attr& find_attr(std::string_view name) const;
};

struct Input {
  enum class Kind : uint8_t { tensor, scalar };
  Kind kind = Kind::tensor;
  ValueId value = kNoValue;
  std::string name;
};

struct Output {
  ValueId value = kNoValue;
  std::string name;
  // The tensor input whose memory this output is written into (in-place, out=); the input's old
  // contents are dead once the output is complete.
  std::optional<uint32_t> writes_input;
};

class Graph {
 public:
  Graph() : context_(std::make_shared<SymContext>()) {}
  explicit Graph(std::shared_ptr<SymContext> context) : context_(std::move(context)) {}

  SymContext& context() const { return *context_; }
  const std::shared_ptr<SymContext>& shared_context() const { return context_; }

  ValueId new_value(ValueType type, NodeId producer);
  const ValueType& type(ValueId v) const { return types_[v]; }
  ValueType& mutable_type(ValueId v) { return types_[v]; }
  // The node that makes v; kNoNode for inputs and region parameters.
  static constexpr NodeId kNoNode = UINT32_MAX;
  NodeId producer(ValueId v) const { return producers_[v]; }
  size_t value_count() const { return types_.size(); }

  NodeId new_node(Node node);
  const Node& node(NodeId n) const { return nodes_[n]; }
  Node& mutable_node(NodeId n) { return nodes_[n]; }
  size_t node_count() const { return nodes_.size(); }
  void set_producer(ValueId v, NodeId n) { producers_[v] = n; }

  std::vector<Input> inputs;
  std::vector<Output> outputs;
  Region body;  // params are the inputs' values, results the outputs'

 private:
  std::shared_ptr<SymContext> context_;
  std::vector<ValueType> types_;
  std::vector<NodeId> producers_;
  std::vector<Node> nodes_;
};

}  // namespace primset::prims

extern template class primset::LargeVariant<primset::prims::Attr::Value::Alternatives>;

#endif  // PRIMSET_PRIMS_GRAPH_GRAPH_H_
