// From a bound operator call to a PrimGraph: promotion, broadcasting, decomposition, output dtypes
// and strides, all driven by the spec bundle. The runtime knows tensors; this file knows only their
// descriptions, so it also serves the meta device and the conformance suite.
#ifndef PRIMSET_DECOMPS_ENGINE_ENGINE_H_
#define PRIMSET_DECOMPS_ENGINE_ENGINE_H_

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "decomps/engine/tracer.h"
#include "prims/graph/graph.h"
#include "prims/graph/large_variant.h"
#include "specs/bundle/model.h"

namespace primset::decomps {

// A tensor argument without data. Sizes and strides are symbols of the graph's context or constants
// (sizes 0 and 1, strides 0 and 1 and those that follow from others are).
struct TensorMeta {
  DType dtype = DType::f32;
  SymInts sizes, strides;     // strides in elements
  SymInt storage_offset = 0;  // in elements; only as_strided looks at it
  // Two arguments with one number are the very same memory, seen the same way.
  uint32_t identity = 0;
  bool wrapped_number = false;  // a Scalar passed where a tensor is expected
  bool on_cpu_scalar = false;   // a rank-0 CPU tensor beside tensors of another device
};

// One actual argument. Scalars say their literal kind; their value is a launch parameter, unless
// the spec calls the argument structural or `value` is needed for an error text.
struct Actual {
  using Value =
      LargeVariant<std::variant<std::monostate, TensorMeta, std::vector<TensorMeta>,
                                std::vector<std::optional<TensorMeta>>, Scalar, std::vector<Scalar>,
                                SymInt, SymInts, double, std::vector<double>, bool,
                                std::vector<bool>, std::string, DType, Layout, MemoryFormat,
                                DeviceArg, RngArg /* only its presence matters */, StorageArg>>;
  Value value;
  bool is_none() const { return std::holds_alternative<std::monostate>(value); }
};

// Where a graph input comes from, in the order of graph.inputs.
struct InputSource {
  enum class Kind : uint8_t { tensor, scalar, rng_seed, rng_offset };
  Kind kind = Kind::tensor;
  uint32_t argument = 0;  // index into the overload's arguments
  uint32_t element = 0;   // of a list argument
  // Seed and offset of an operator without a Generator argument: the default generator's.
  static constexpr uint32_t kDefaultGenerator = UINT32_MAX;
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
  // View: from the argument's first element, counted, as the strides are, in elements of dtype.
  SymInt offset = 0;
  uint32_t argument = 0;
  uint32_t element = 0;                  // argument, view: of a list argument
  bool conj = false, neg = false;        // view: bits to flip
  std::optional<DType> view_dtype;       // view: reinterpret as (real of complex, view_as_real ...)
  std::optional<uint32_t> graph_output;  // which graph output fills it; none for pure views
};

// What one call means. For out= overloads, `outputs` describe the functional result, already in the
// dtype of the given tensors; the runtime resizes these and lets the plan write into them.
struct TracedCall {
  std::shared_ptr<prims::Graph> graph;
  std::vector<InputSource> inputs;
  // One a return value, lists flattened; then the written arguments that are not returned. An
  // in-place view operator (squeeze_) gives `view`: the argument takes that geometry.
  std::vector<TracedOutput> outputs;
  bool draws_random = false;
  SymInt random_counters = 0;  // how far the generator moves on
};

// Throws primset::Error in ATen's classes and words before anything is computed.
TracedCall trace(const specs::Bundle& bundle, const specs::Overload& overload,
                 const std::vector<Actual>& args, std::shared_ptr<prims::SymContext> symbols,
                 DeviceTraits device = {});

// Operators that only make a view or answer a question never need a graph: `trace` for these leaves
// graph null. True when the overload is of that kind.
bool is_view(const specs::Bundle& bundle, const specs::Overload& overload);

// Replaces every derived primitive by its decomposition, but for those `keep` accepts.
void expand_derived(prims::Graph& graph, const specs::Bundle& bundle,
                    const std::function<bool(const prims::Graph&, prims::NodeId)>& keep,
                    DeviceTraits device = {});

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
// The same from operands that are not yet broadcast, with TensorIterator's shortcuts for operands
// that are all contiguous, channels-last, or dense with equal strides.
SymInts elementwise_strides(const SymInts& sizes, std::span<const TensorMeta> operands);
SymInts contiguous_strides(const SymInts& sizes);
SymInts channels_last_strides(const SymInts& sizes);  // of rank 4 or 5
bool is_contiguous(const SymInts& sizes, const SymInts& strides);
bool is_channels_last(const SymInts& sizes, const SymInts& strides);
// No two elements share memory and there are no gaps.
bool is_dense(const SymInts& sizes, const SymInts& strides);
// What empty_like(preserve_format) gives a tensor of these strides.
SymInts preserved_strides(const SymInts& sizes, const SymInts& strides);
// ATen's computeStride: strides of a view in another shape; nullopt when it needs a copy.
std::optional<SymInts> view_strides(const SymInts& sizes, const SymInts& strides,
                                    const SymInts& shape);

// What the guards of a finished trace say of a symbol: it equals an earlier one, or a constant. The
// call is best traced again with them identified, so that more of its layout is known.
struct Unification {
  uint32_t symbol;
  std::optional<uint32_t> other;  // none: it is `constant`
  int64_t constant = 0;
};
std::vector<Unification> unifications(const prims::SymContext& context);

bool can_cast(DType from, DType to);  // complex > floating > integral > bool

}  // namespace primset::decomps

extern template class primset::LargeVariant<primset::decomps::Actual::Value::Alternatives>;

#endif  // PRIMSET_DECOMPS_ENGINE_ENGINE_H_
