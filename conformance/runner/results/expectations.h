// What is known to fail, and why. A file of YAML:
//
//   - id: add.Tensor:dtype=f16;case=special
//     device: vulkan:0          # or "*"
//     kind: xfail               # a fault to be mended; waived: one that is accepted for good
//     outcome: fail:numeric     # optional: it fails in just this way
//     reason: Overflow to infinity is rounded down by driver 23.1.
//     link: https://example.org/bugs/17
//     expires: 2027-01-31       # from then on the entry counts for nothing
#ifndef PRIMSET_CONFORMANCE_RUNNER_RESULTS_EXPECTATIONS_H_
#define PRIMSET_CONFORMANCE_RUNNER_RESULTS_EXPECTATIONS_H_

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/runner/results/result.h"

namespace primset::conformance {

struct Expectation {
  std::string id, device, reason, link, expires;
  bool waived = false;
  std::optional<OutcomeText> outcome;
  int line = 0;
};

class Expectations {
 public:
  Expectations() = default;
  // `today` is YYYY-MM-DD. Throws Error{value} as "file:line: what; expected …".
  static Expectations load(const std::filesystem::path& path, std::string_view today);
  static Expectations parse(const std::string& yaml, const std::string& file,
                            std::string_view today);

  // Makes a failure an xfail or a waiver, and a pass or a refusal an xpass, where the file says so.
  void apply(CaseResult& result, std::string_view device) const;
  // Entries whose time is over, and those that no id of `ids` has: both want to be removed.
  std::vector<std::string> complaints(const std::vector<std::string>& ids) const;

 private:
  const Expectation* find(std::string_view id, std::string_view device) const;
  bool expired(const Expectation& e) const { return !e.expires.empty() && e.expires <= today_; }

  std::string file_, today_;
  std::vector<Expectation> entries_;
};

// Today, in UTC.
std::string today();

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_RUNNER_RESULTS_EXPECTATIONS_H_
