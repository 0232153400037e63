// What a case must come to: the call is traced to a PrimGraph, and the reference interpreter runs
// it with an error bound for every element.
#ifndef PRIMSET_CONFORMANCE_REFERENCE_EXPECTED_RESULTS_H_
#define PRIMSET_CONFORMANCE_REFERENCE_EXPECTED_RESULTS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cases/inputs/case.h"
#include "conformance/runner/device_runner.h"
#include "decomps/engine/engine.h"
#include "specs/bundle/model.h"

namespace primset::conformance {

struct ExpectedTensor {
  Origin origin = Origin::fresh;
  uint32_t argument = 0;
  DType dtype = DType::f32;
  std::vector<int64_t> sizes;
  std::optional<std::vector<int64_t>> strides;  // empty: not said (sizes that the values decide)
  std::optional<int64_t> offset;                // view: in elements from the storage's start
  bool conj = false, neg = false;
  bool anywhere = false;        // a view that begins where a value says, or a copy of it
  std::optional<Array> values;  // empty: not known to the reference; then only the rest is compared
  // Of a sparse layout the values are those of the tensor made dense, and these say how they are
  // stored; empty: in any way that makes a tensor.
  Layout layout = Layout::strided;
  std::optional<int64_t> entries, dense_dims;
  std::optional<bool> coalesced;
};

// An argument that the call writes, and what it holds afterwards.
struct WrittenTensor {
  HostTensor tensor;
  std::optional<Array> values;  // empty: anything
};

struct Expected {
  std::optional<CaughtError> error;
  // The error is one that only the computation finds: arguments that the call writes may have been
  // written by then. They are in `written`, without values.
  bool found_by_computing = false;
  std::vector<ExpectedTensor> results;
  std::vector<WrittenTensor> written;
  std::shared_ptr<prims::Graph> graph;  // what was run; null when none was needed
  std::vector<Array> graph_inputs;
  std::shared_ptr<const Expected> flushed;  // flushed_denormals.h; null: the device keeps them
};

// Whether there is a result, or something written, with an element. A call without either, a check
// for one, says something by not failing.
bool computes_elements(const Expected& expected);

// Changes the graph before it runs: mutation testing.
using GraphHook = std::function<void(prims::Graph&)>;

// Throws for a case that makes no sense; errors of the call itself are in Expected::error.
// `device`: what the call is decomposed for.
Expected evaluate(const specs::Bundle& bundle, const TestCase& test,
                  decomps::DeviceTraits device = {}, const GraphHook& hook = {});

// The traced call, without running it.
decomps::TracedCall trace_case(const specs::Bundle& bundle, const TestCase& test,
                               decomps::DeviceTraits device = {});

// Gives the out= arguments that are OutTensor tensors that fit the result. Before it, the case may
// only be evaluated through the overload that computes it.
void make_out_tensors(const specs::Bundle& bundle, TestCase& test);

// The same call of the overload that a variant is made of, without what that one does not have.
TestCase functional_case(const specs::Bundle& bundle, const specs::Overload& overload,
                         const TestCase& test);

// All tensors among the arguments, lists flattened, and parts in the place of sparse tensors.
std::vector<HostTensor> tensors_of(const TestCase& test);
// The same with sparse tensors as they are.
std::vector<HostTensor> tensors_with_sparse(const TestCase& test);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_REFERENCE_EXPECTED_RESULTS_H_
