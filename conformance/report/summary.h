// The numbers of a run, and the verdict on it as a whole.
#ifndef PRIMSET_CONFORMANCE_REPORT_SUMMARY_H_
#define PRIMSET_CONFORMANCE_REPORT_SUMMARY_H_

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/runner/results/result.h"

namespace primset::conformance {

// "pointwise_binary" for add.Tensor, "prim/reduction" for prim/reduce_sum.
using FamilyOf = std::function<std::string(std::string_view subject)>;

// A run as the writers of reports see it.
struct Report {
  std::string device, title;
  uint64_t seed = 0;
  std::vector<CaseResult> results;  // in the order of the specs
  FamilyOf family_of;
  // The command line that runs just this case.
  std::function<std::string(const CaseResult&)> reproduction;
};

using OutcomeCounts = std::array<size_t, kOutcomeCount>;
OutcomeCounts count_outcomes(const std::vector<CaseResult>& results);
// Passes whose results have no elements.
size_t count_empty(const std::vector<CaseResult>& results);

// "4,120 cases: 3,700 computed and passed, 300 refused alike, 20 empty results, 0 failed, 100
// unsupported": how much of what was asked for was seen to work. Other outcomes follow by name.
std::string totals_text(const Report& report);

// Exit codes of `primset conform`; part of its interface. 3 and 4 are those of every command: a
// device or file failed, and a mistake in Primset.
enum class ExitCode : int {
  green = 0,        // something passed, and all that ran is right or expected
  failures = 1,     // the device fails somewhere: fail, claim_broken, crash, timeout, device_lost
  usage = 2,        // a mistake on the command line or in a file given there; nothing ran
  nothing_ran = 5,  // no case was selected, or all are unsupported or refused: that proves nothing
  // No failure, but xpass, flake, test_bug or not_run, or (at the standard tier) an operator with
  // too few cases that compute something: the run proves too little.
  unsound = 6,
};
ExitCode exit_code(const OutcomeCounts& counts);

// How much longer kernels take than the plugin's native primitives, case by case where there is
// one; what takes more than `limit` times as long is listed.
std::string native_routes_text(const Report& report, double limit = 20);

// How many cases were run again with other sizes, and what kernels were made for these: with the
// guards that explain them, and without.
std::string resized_text(const Report& report);
bool has_unexplained_kernels(const Report& report);

// A table, family by outcome, then the failures with their reproduction lines.
std::string summary_text(const Report& report, size_t max_failures = 20);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_REPORT_SUMMARY_H_
