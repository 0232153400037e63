// One case, ready to run: arguments as bytes and numbers, nothing that a device is needed for.
#ifndef PRIMSET_CONFORMANCE_CASES_INPUTS_CASE_H_
#define PRIMSET_CONFORMANCE_CASES_INPUTS_CASE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "conformance/cases/ids/id.h"
#include "conformance/cases/inputs/host_tensor.h"
#include "prims/graph/graph.h"
#include "prims/graph/large_variant.h"
#include "primset/error.h"
#include "primset/formats.h"
#include "primset/scalar.h"

namespace primset::conformance {

// The device that the case runs on, where a schema has a Device argument.
struct DeviceUnderTest {
  friend bool operator==(DeviceUnderTest, DeviceUnderTest) = default;
};
struct RngState {
  uint64_t seed = 0, offset = 0;
  friend bool operator==(const RngState&, const RngState&) = default;
};
// What an operator draws from when it is given no generator: runs start from here.
inline constexpr RngState kDefaultRng{67280421310721, 0};
// Stands where the result goes: an out= argument, a list of them included. The tensors are made
// when the expected result is known, in one of these ways.
struct OutTensor {
  enum class Kind : uint8_t { fitting, strided, empty };  // empty: it must grow
  Kind kind = Kind::fitting;
  std::optional<DType> dtype = {};  // none: the result's
  friend bool operator==(const OutTensor&, const OutTensor&) = default;
};

using TensorList = std::vector<std::optional<HostTensor>>;
using ArgValue = LargeVariant<
    std::variant<std::monostate, HostTensor, TensorList, Scalar, std::vector<Scalar>, int64_t,
                 std::vector<int64_t>, double, std::vector<double>, bool, std::vector<bool>,
                 std::string, DType, Layout, MemoryFormat, DeviceUnderTest, RngState, OutTensor>>;

struct TestCase {
  CaseId id;
  std::vector<HostStorage> storages;
  // Operator level: one an argument of the schema.
  std::vector<ArgValue> args;
  // Primitive level: the graph, and one rank-0 or whole tensor an input of it.
  std::shared_ptr<prims::Graph> graph;
  std::vector<HostTensor> inputs;
  // The call must be refused with this class of error.
  std::optional<ErrorCode> expected_error;
  // Layouts of the results of a call with sparse tensors; empty: each has that of the first.
  std::vector<Layout> result_layouts;
  // The class need not be known beforehand: whatever the reference says must happen. In-place and
  // out= variants of a case may be refused (the result does not fit), which is for ATen's rules to
  // say.
  bool may_be_refused = false;
  std::string text;  // the case as its generator wrote it (case_text.h), for people
};

}  // namespace primset::conformance

extern template class primset::LargeVariant<primset::conformance::ArgValue::Alternatives>;

#endif  // PRIMSET_CONFORMANCE_CASES_INPUTS_CASE_H_
