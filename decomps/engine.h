// From a bound operator call to a PrimGraph: promotion, broadcasting, decomposition, output dtypes
// and strides, all driven by the spec bundle. The runtime knows tensors; this file knows only their
// descriptions, so it also serves the meta device and the conformance suite.
#ifndef PRIMSET_DECOMPS_ENGINE_H_
#define PRIMSET_DECOMPS_ENGINE_H_

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "decomps/tracer.h"
#include "prims/graph/graph.h"
#include "specs/bundle/model.h"

namespace primset::decomps {

// A tensor argument without data. Sizes and strides are symbols of the graph's context or constants
// (sizes 0 and 1, strides 0 and 1 and those that follow from others are).
struct TensorMeta {
  DType dtype = DType::f32;
  SymInts sizes, strides;  // strides in elements
  // Two arguments with one number are the very same memory, seen the same way.
  uint32_t identity = 0;
  bool wrapped_number = false;  // a Scalar passed where a tensor is expected
  bool on_cpu_scalar = false;   // a rank-0 CPU tensor beside tensors of another device
};

// One actual argument. Scalars say their literal kind; their value is a launch parameter, unless the
// spec calls the argument structural or `value` is needed for an error text.
struct Actual {
  using Value = std::variant<std::monostate, TensorMeta, std::vector<TensorMeta>,
                             std::vector<std::optional<TensorMeta>>, Scalar, std::vector<Scalar>,
                             SymInt, SymInts, double, std::vector<double>, bool, std::vector<bool>,
                             std::string, DType, Layout, MemoryFormat, DeviceArg,
                             RngArg /* only its presence matters */>;
  Value value;
  bool is_none() const { return std::holds_alternative<std::monostate>(value); }
};

// Where a graph input comes from, in the order of graph.inputs.
struct InputSource {
  enum class Kind : uint8_t { tensor, scalar, rng_seed, rng_offset };
  Kind kind = Kind::tensor;
  uint32_t argument = 0;  // index into the overload's arguments
  uint32_t element = 0;   // of a list argument
};

struct TracedOutput {
  enum class Kind : uint8_t {
    fresh,     // a new tensor of this dtype, sizes and strides
    argument,  // argument `argument` itself, written (in-place) or returned
    view,      // a view of argument `argument`: sizes, strides and offset relative to it
  };
  Kind kind = Kind::fresh;
  DType dtype = DType::f32;
  SymInts sizes, strides;
  SymInt offset = 0;         // view: elements from the argument's first one
  uint32_t argument = 0;
  uint32_t element = 0;      // argument, view: of a list argument
  bool conj = false, neg = false;        // view: bits to flip
  std::optional<DType> view_dtype;       // view: reinterpret as (real of complex, view_as_real ...)
  std::optional<uint32_t> graph_output;  // which graph output fills it; none for pure views
};

// What one call means. For out= overloads, `outputs` describe the functional result; the runtime
// resizes the given tensors and copies or lets the plan write into them.
struct TracedCall {
  std::shared_ptr<prims::Graph> graph;
  std::vector<InputSource> inputs;
  std::vector<TracedOutput> outputs;  // one a return value, lists flattened
  bool draws_random = false;
  SymInt random_counters = 0;  // how far the generator moves on
};

// Throws primset::Error in ATen's classes and words before anything is computed.
TracedCall trace(const specs::Bundle& bundle, const specs::Overload& overload,
                 const std::vector<Actual>& args, std::shared_ptr<prims::SymContext> symbols);

// Operators that only make a view or answer a question never need a graph: `trace` for these leaves
// graph null. True when the overload is of that kind.
bool is_view(const specs::Bundle& bundle, const specs::Overload& overload);

// Replaces every derived primitive by its decomposition, but for those `keep` accepts.
void expand_derived(prims::Graph& graph, const specs::Bundle& bundle,
                    const std::function<bool(const prims::Graph&, prims::NodeId)>& keep);

// ATen's result_type over the categories dimensioned tensor, rank-0 tensor, wrapped number.
struct PromotionOperand {
  DType dtype;
  enum class Category : uint8_t { dimensioned, zero_dim, number } category;
};
DType result_type(std::span<const PromotionOperand> operands);
DType promote_types(DType a, DType b);

// TensorIterator's output strides for operands that were broadcast to `sizes` (strides 0 where
// broadcast): follows the inputs' permutation, dense.
SymInts elementwise_strides(const SymInts& sizes, std::span<const SymInts> operand_strides);
SymInts contiguous_strides(const SymInts& sizes);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_H_
