// How many cases compute something? A case that must be refused shows that an error is an error,
// and one whose results are empty that sizes are right, but nothing of what the operator computes.
#ifndef PRIMSET_CONFORMANCE_CASES_IDS_COVERAGE_H_
#define PRIMSET_CONFORMANCE_CASES_IDS_COVERAGE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cases/tables/recipe.h"

namespace primset::conformance {

// Every implemented overload has so many with each dtype it claims, at the standard tier.
inline constexpr size_t kMinComputing = 6;

// An overload and dtype with fewer; or with enough, though few_cases.yaml says that there are not.
struct Shortfall {
  std::string overload;
  DType dtype = DType::f32;
  size_t computing = 0, listed = 0;
};

struct Coverage {
  size_t pairs = 0;  // of overload and dtype that were looked at
  std::vector<Shortfall> shortfalls;
};

// Does the case compute something? Nothing when that is not known.
using Computes = std::function<std::optional<bool>(const CaseId&)>;

// Asks the reference. Not the cheapest way: the case is made and evaluated.
bool reference_computes(const specs::Bundle& bundle, const CaseId& id);

// Looks at the overloads whose stable hash falls into the selection's shard, and at those that its
// filters take. An overload and dtype is passed over where of one of its cases nothing is known.
Coverage find_coverage(const specs::Bundle& bundle, const Selection& selection,
                       const Computes& computes);

// For people: that every pair has enough, or a line for each that has not.
std::string coverage_text(const Coverage& coverage);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_IDS_COVERAGE_H_
