// Holds what a device computed against what the reference says.
//
// Kinds of tolerance, and where they come from:
//   inherited       the reference's running error bound, element by element: the usual one
//   exact           the same bits, any NaN for a NaN; integers and bools are never anything else
//   rounded, ulp, absolute, accumulate(K, dtype)    stated by an operator's spec; see bound()
//   acceptance set  elements that the reference calls undecided: a discontinuous primitive whose
//                   operands' bounds straddle a jump. Any value passes, and they are counted
// Statistical and property tolerances look at whole results: statistics.h, property.h.
#ifndef PRIMSET_CONFORMANCE_COMPARE_COMPARE_H_
#define PRIMSET_CONFORMANCE_COMPARE_COMPARE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "prims/reference/reference.h"
#include "specs/bundle/tolerance.h"

namespace primset::conformance {

using prims::reference::Array;
using prims::reference::Element;

struct ComparePolicy {
  // Stated by the operator's spec; without it the reference's bounds hold alone.
  std::optional<specs::Tolerance> tolerance;
  DType compute = DType::f32;  // accumulate: what sums are carried in
  double terms = 1;            // accumulate: K
  bool signed_zero = false;    // an exact zero must have the right sign
  bool flush_f32 = false;      // the device declares that it flushes f32 denormals to zero
};

struct Comparison {
  uint64_t elements = 0, undecided = 0, wrong = 0;
  double max_ulp = 0;  // in units of the last place of the dtype; infinite for NaN against a number
  double max_share = 0;  // of the bound; infinite where nothing was allowed
  std::string first;     // the first wrong element; empty when all are right

  bool ok() const { return wrong == 0; }
};

// How far a result may be from `expected` by a stated tolerance. `scale` is the greatest finite
// magnitude expected, which sums of K terms are measured by.
long double bound(const specs::Tolerance& tolerance, const ComparePolicy& policy, DType t,
                  const Element& expected, long double scale);

// All have one dtype and shape. An element of `other`, where there is one, is as right.
Comparison compare(const Array& expected, const Array& actual, const ComparePolicy& policy,
                   const Array* other = nullptr);

// "1.25", "nan", "(1+2j)", "-3", "true"
std::string element_text(DType t, const Element& e);
// "[2, 3]"
std::string list_text(const std::vector<int64_t>& xs);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_COMPARE_COMPARE_H_
