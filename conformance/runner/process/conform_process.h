// `primset conform` run to its end in a process of its own, for tests.
#ifndef PRIMSET_CONFORMANCE_RUNNER_PROCESS_CONFORM_PROCESS_H_
#define PRIMSET_CONFORMANCE_RUNNER_PROCESS_CONFORM_PROCESS_H_

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "conformance/runner/results/result.h"

namespace primset::conformance {

class ConformProcess {
 public:
  explicit ConformProcess(const std::string& name)
      : results_(std::filesystem::temp_directory_path() /
                 (name + "_" + std::to_string(getpid()) + ".jsonl")),
        summary_(results_) {
    summary_.replace_extension("txt");
  }
  ~ConformProcess() {
    std::filesystem::remove(results_);
    std::filesystem::remove(summary_);
  }
  ConformProcess(const ConformProcess&) = delete;

  // Its exit code. What it found stands in results(), what it printed in summary().
  int run(const std::string& options) {
    std::filesystem::remove(results_);
    const int code = run_line(std::string(PRIMSET_PROGRAM) + " conform --jobs 1 " + options +
                              " --results " + results_.string());
    cases_.clear();
    std::ifstream in(results_);
    for (std::string line; std::getline(in, line);) {
      if (std::optional<CaseResult> r = parse_json_line(line)) cases_.push_back(std::move(*r));
    }
    return code;
  }
  // Any line for the shell; its output becomes the summary.
  int run_line(const std::string& line) {
    const int status = std::system((line + " >" + summary_.string()).c_str());
    std::ifstream in(summary_);
    text_.assign(std::istreambuf_iterator<char>(in), {});
    return WEXITSTATUS(status);
  }

  const std::vector<CaseResult>& results() const { return cases_; }
  const std::string& summary() const { return text_; }

 private:
  std::filesystem::path results_, summary_;
  std::vector<CaseResult> cases_;
  std::string text_;
};

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_RUNNER_PROCESS_CONFORM_PROCESS_H_
