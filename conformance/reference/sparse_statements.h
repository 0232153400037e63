// The functions of the section `sparse` in specs/host_functions.yaml that have no dense twin,
// stated a second time over the case's own tensors.
#ifndef PRIMSET_CONFORMANCE_REFERENCE_SPARSE_STATEMENTS_H_
#define PRIMSET_CONFORMANCE_REFERENCE_SPARSE_STATEMENTS_H_

#include <string_view>

#include "conformance/cases/inputs/sparse_values.h"
#include "conformance/reference/expected_results.h"

namespace primset::conformance {

// The arguments of a functional overload by their names.
class StatedCall {
 public:
  StatedCall(const specs::Bundle& bundle, const specs::Overload& overload, const TestCase& test,
             decomps::DeviceTraits device)
      : bundle(bundle), overload(overload), test(test), device(device) {}

  template <typename T>
  const T* find(std::string_view name) const {
    const int i = overload.find_arg(name);
    return i < 0 ? nullptr : std::get_if<T>(&test.args.at(static_cast<size_t>(i)));
  }
  const HostTensor& tensor(size_t i) const { return std::get<HostTensor>(test.args.at(i)); }
  int64_t integer(std::string_view name, int64_t otherwise) const {
    const auto* v = find<int64_t>(name);
    return v ? *v : otherwise;
  }

  const specs::Bundle& bundle;
  const specs::Overload& overload;
  const TestCase& test;
  const decomps::DeviceTraits device;
};

using SparseStatement = Expected (*)(const StatedCall& call);

// Throws the Error that the call is refused with. Null where the function has a dense twin.
SparseStatement find_sparse_statement(std::string_view function);

// Those of sparse_arithmetic.cpp, which find_sparse_statement() finds, too.
SparseStatement find_sparse_arithmetic(std::string_view function);

// The result as a tensor of a sparse layout with these parts.
ExpectedTensor expected_sparse(const SparseValues& t);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_REFERENCE_SPARSE_STATEMENTS_H_
