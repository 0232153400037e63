// One case's result, as one line of JSON: what a worker tells, and what a results file keeps.
#ifndef PRIMSET_CONFORMANCE_RUNNER_RESULTS_RESULT_H_
#define PRIMSET_CONFORMANCE_RUNNER_RESULTS_RESULT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/compare/outcome.h"

namespace primset::conformance {

// The case again with other sizes, in the same process.
struct Resized {
  std::string text;                 // the case with these sizes
  uint64_t kernels = 0;             // made for it
  uint64_t unexplained = 0;         // of them, those that no guard explains
  std::vector<std::string> guards;  // what explains the others
};

struct CaseResult {
  std::string id;
  Verdict verdict = {};
  double seconds = 0;
  std::string replay = {};       // the file that reproduces a failure; empty when there is none
  std::string expectation = {};  // the reason given for an xfail, xpass or waiver
  std::optional<Resized> resized = {};
};

std::string to_json_line(const CaseResult& result);  // without the newline
// Empty when the line is no result: damaged, of another version, or with an unknown outcome.
std::optional<CaseResult> parse_json_line(std::string_view line);
// The same of a line that an earlier version may have written. That called a refusal a pass, with
// the error's text as its detail. And it did not say whether a result is empty: a pass of nothing
// that does not say so either is no result, and the case is to be run again.
std::optional<CaseResult> parse_kept_line(std::string_view line);

// What a worker writes before it starts a case.
std::string begin_line(std::string_view id);
std::optional<std::string> parse_begin_line(std::string_view line);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_RUNNER_RESULTS_RESULT_H_
