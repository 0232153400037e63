// From a bound operator call to a PrimGraph: promotion, broadcasting, decomposition, output dtypes
// and strides, all driven by the spec bundle.
#ifndef PRIMSET_DECOMPS_ENGINE_TRACE_H_
#define PRIMSET_DECOMPS_ENGINE_TRACE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "decomps/engine/actual.h"
#include "decomps/engine/device_traits.h"
#include "prims/graph/graph.h"
#include "specs/bundle/model.h"

namespace primset::decomps {

// The source of a graph input.
struct InputSource {
  enum class Kind : uint8_t { tensor, scalar, rng_seed, rng_offset };
  Kind kind = Kind::tensor;
  uint32_t argument = 0;  // index into the overload's arguments
  uint32_t element = 0;   // of a list argument
  // Seed and offset of an operator without a Generator argument: the default generator's.
  static constexpr uint32_t kDefaultGenerator = UINT32_MAX;
};

// A number of the call that becomes an element of this dtype, which is to hold it
// (sdk/base/number_fit.h).
struct NumberFit {
  uint32_t argument = 0, element = 0;
  DType dtype = DType::f32;
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

// The result of tracing one call. `inputs` follow graph.inputs. For out= overloads `outputs`
// describe the functional results, in the dtypes of the given tensors; the runtime resizes these
// tensors and lets the plan write into them.
struct TracedCall {
  std::shared_ptr<prims::Graph> graph;
  std::vector<InputSource> inputs;
  // One for each return value, lists flattened; then the written arguments that are not returned.
  // For an in-place view operator (squeeze_) the kind is `view`: the argument takes that geometry.
  std::vector<TracedOutput> outputs;
  std::vector<NumberFit> fits;
  bool draws_random = false;
  SymInt random_counters = 0;  // how far the generator moves on
};

// Throws primset::Error in ATen's classes and words before anything is computed.
TracedCall trace(const specs::Bundle& bundle, const specs::Overload& overload,
                 const std::vector<Actual>& args, std::shared_ptr<prims::SymContext> symbols,
                 DeviceTraits device = {});

// Is it an operator that only makes a view? trace() leaves their graph null.
bool is_view(const specs::Bundle& bundle, const specs::Overload& overload);

// An equality among the guards of a finished trace: a symbol equals an earlier one, or a constant.
// Tracing the call again with them unified gives a more specific layout.
struct Unification {
  uint32_t symbol;
  std::optional<uint32_t> other;  // none: it is `constant`
  int64_t constant = 0;
};
std::vector<Unification> unifications(const prims::SymContext& context);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_TRACE_H_
