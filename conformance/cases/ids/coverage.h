// How many cases compute something? A case that must be refused shows that an error is an error,
// and nothing of what the operator computes.
#ifndef PRIMSET_CONFORMANCE_CASES_IDS_COVERAGE_H_
#define PRIMSET_CONFORMANCE_CASES_IDS_COVERAGE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "conformance/cases/tables/recipe.h"

namespace primset::conformance {

// Every implemented overload has so many with each dtype it claims, at the standard tier.
inline constexpr size_t kMinComputing = 6;

// An overload and dtype with fewer.
struct Shortfall {
  std::string overload;
  DType dtype = DType::f32;
  size_t computing = 0, listed = 0;
};

// Looks at the overloads whose stable hash falls into the selection's shard, and at those that its
// filters take.
std::vector<Shortfall> find_shortfalls(const specs::Bundle& bundle, const Selection& selection);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_IDS_COVERAGE_H_
