#include "conformance/cases/ids/coverage.h"

#include "conformance/cases/ids/filter.h"
#include "conformance/cases/tables/generators.h"
#include "conformance/reference/expected_results.h"

namespace primset::conformance {
namespace {

bool is_taken(const specs::Bundle& bundle, const CaseId& id) {
  try {
    trace_case(bundle, make_case(bundle, id, 0));
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Counts up to the least number that is enough: what follows need not be looked at.
size_t count_computing(const specs::Bundle& bundle, const specs::Overload& overload, DType dtype,
                       const std::vector<Recipe>& recipes) {
  size_t count = 0;
  for (const Recipe& r : recipes) {
    if (r.tier > CaseTier::standard) continue;
    // The error stands last in a text.
    if (r.text.find(" !") != std::string::npos) continue;
    const bool certain = !r.may_be_refused && !r.text.starts_with(kAutomatic);
    const CaseId id{Level::op, overload.qualified, dtype, r.name,
                    std::string(kLayoutNames[static_cast<size_t>(r.layout)])};
    if (!certain && !is_taken(bundle, id)) continue;
    if (++count == kMinComputing) return count;
  }
  return count;
}

}  // namespace

std::vector<Shortfall> find_shortfalls(const specs::Bundle& bundle, const Selection& selection) {
  const Filter filter(selection.filters);
  std::vector<Shortfall> out;
  for (const specs::Overload& o : bundle.overloads) {
    if (o.status != specs::Status::implemented || !filter.may_match_subject(o.qualified)) continue;
    if (stable_hash(o.qualified) % selection.shards != selection.shard) continue;
    for (DType t : operator_dtypes(bundle, o)) {
      const std::vector<Recipe> recipes = operator_recipes(bundle, o, t);
      const size_t computing = count_computing(bundle, o, t, recipes);
      if (computing < kMinComputing) out.push_back({o.qualified, t, computing, recipes.size()});
    }
  }
  return out;
}

}  // namespace primset::conformance
