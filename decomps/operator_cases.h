// Operators traced, expanded into core primitives, run by the reference interpreter and held
// against what PyTorch 2.13.0 gave. A case is a line of text:
//
//   gather self=f32[2,3]{1 2 3 4 5 6} dim=1 index=i64[2,1]{2 0} -> f32[2,1]{3 4}
//   gather self=f32[3]{1 2 3} dim=0 index=i64[1]{5} -> !index "index 5 is out of bounds ..."
//
// Tensors are dtype[sizes]{values in row-major order}, with @(strides) where they are not
// contiguous; complex values stand as re,im. Lists are (a b c), strings 'sum', dtypes :f64. Several
// results stand one behind the other. An error is its code and the beginning of its message, or of
// what the device reports. `*` accepts any values and `~` in front of a result any strides.
// Arguments left out take the schema's defaults. All sizes above 1 are symbols.
#ifndef PRIMSET_DECOMPS_OPERATOR_CASES_H_
#define PRIMSET_DECOMPS_OPERATOR_CASES_H_

#include <string>
#include <vector>

#include "decomps/engine.h"
#include "prims/reference/reference.h"

namespace primset::decomps {

struct OperatorRun {
  TracedCall call;
  std::vector<prims::reference::Array> results;  // one an output of the call; empty for pure views
  std::vector<std::vector<int64_t>> strides;
  std::string failure;  // what the device reported: "index: ..."
};

// Traces and runs the call to the left of "->". Throws primset::Error as trace() does.
OperatorRun run_operator(const std::string& call);

void expect_operators(const std::vector<std::string>& cases);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_OPERATOR_CASES_H_
