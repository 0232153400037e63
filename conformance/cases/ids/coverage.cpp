#include "conformance/cases/ids/coverage.h"

#include <fmt/format.h>

#include "conformance/cases/ids/few_cases.h"
#include "conformance/cases/ids/filter.h"
#include "conformance/reference/expected_results.h"

namespace primset::conformance {
namespace {

// Counts up to the least number that is enough: what follows need not be looked at.
std::optional<size_t> count_computing(const std::vector<CaseId>& ids, const Computes& computes) {
  size_t count = 0;
  for (const CaseId& id : ids) {
    const std::optional<bool> computing = computes(id);
    if (!computing) return std::nullopt;
    if (*computing && ++count == kMinComputing) break;
  }
  return count;
}

std::vector<CaseId> standard_cases(const specs::Bundle& bundle, const specs::Overload& overload,
                                   DType dtype) {
  std::vector<CaseId> out;
  for (const Recipe& r : operator_recipes(bundle, overload, dtype)) {
    if (r.tier > CaseTier::standard) continue;
    out.push_back({Level::op, overload.qualified, dtype, r.name,
                   std::string(kLayoutNames[static_cast<size_t>(r.layout)])});
  }
  return out;
}

}  // namespace

bool reference_computes(const specs::Bundle& bundle, const CaseId& id) {
  try {
    return computes_elements(evaluate(bundle, make_case(bundle, id, 0)));
  } catch (const Error&) {
    return false;
  }
}

Coverage find_coverage(const specs::Bundle& bundle, const Selection& selection,
                       const Computes& computes) {
  const Filter filter(selection.filters);
  Coverage out;
  for (const specs::Overload& o : bundle.overloads) {
    if (o.status != specs::Status::implemented || !filter.may_match_subject(o.qualified)) continue;
    if (stable_hash(o.qualified) % selection.shards != selection.shard) continue;
    for (DType t : operator_dtypes(bundle, o)) {
      const std::vector<CaseId> ids = standard_cases(bundle, o, t);
      const std::optional<size_t> computing = count_computing(ids, computes);
      if (!computing) continue;
      ++out.pairs;
      const bool few = few_cases().contains({o.qualified, t});
      if (few != (*computing < kMinComputing)) {
        out.shortfalls.push_back({o.qualified, t, *computing, ids.size()});
      }
    }
  }
  return out;
}

std::string coverage_text(const Coverage& c) {
  if (c.shortfalls.empty()) {
    return fmt::format(
        "at least {} cases compute something for each of {} pairs of operator and "
        "dtype\n",
        kMinComputing, c.pairs);
  }
  std::string out = fmt::format(
      "of {} pairs of operator and dtype, {} have fewer than {} cases "
      "that compute something:\n",
      c.pairs, c.shortfalls.size(), kMinComputing);
  for (const Shortfall& s : c.shortfalls) {
    const char* enough =
        s.computing < kMinComputing ? "" : ", enough: few_cases.yaml needs no entry for it";
    out += fmt::format("  {} {}: {} of {}{}\n", s.overload, name(s.dtype), s.computing, s.listed,
                       enough);
  }
  return out;
}

}  // namespace primset::conformance
