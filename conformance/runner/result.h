// One case's result, as one line of JSON: what a worker tells, and what a results file keeps.
#ifndef PRIMSET_CONFORMANCE_RUNNER_RESULT_H_
#define PRIMSET_CONFORMANCE_RUNNER_RESULT_H_

#include <optional>
#include <string>
#include <string_view>

#include "conformance/compare/outcome.h"

namespace primset::conformance {

struct CaseResult {
  std::string id;
  Verdict verdict = {};
  double seconds = 0;
  std::string replay = {};       // the file that reproduces a failure; empty when there is none
  std::string expectation = {};  // the reason given for an xfail, xpass or waiver
};

std::string to_json_line(const CaseResult& result);  // without the newline
// Empty when the line is no result: damaged, of another version, or with an unknown outcome.
std::optional<CaseResult> parse_json_line(std::string_view line);

// What a worker writes before it starts a case.
std::string begin_line(std::string_view id);
std::optional<std::string> parse_begin_line(std::string_view line);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_RUNNER_RESULT_H_
