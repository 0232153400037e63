// The results of a run, appended to a file of JSON lines as they come, so that an interrupted run
// goes on where it stopped.
#ifndef PRIMSET_CONFORMANCE_RUNNER_RESULTS_RESULTS_FILE_H_
#define PRIMSET_CONFORMANCE_RUNNER_RESULTS_RESULTS_FILE_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "conformance/runner/results/result.h"
#include "sdk/base/output_file.h"

namespace primset::conformance {

// The first line of the file. Results of two runs mix only when these agree.
struct RunInfo {
  std::string device;
  std::string plugin;  // its file; empty for one that was found
  uint64_t seed = 0;
  uint64_t specs = 0;  // Bundle::content_hash
  friend bool operator==(const RunInfo&, const RunInfo&) = default;
};

class ResultsFile {
 public:
  // With `resume`, reads what is there: the last result of each id counts, those that were not run
  // do not, and a line cut short by an interruption is dropped. Lines of earlier versions are read
  // as result.h says. Throws Error{value} when the file is of a run of another kind. This and all
  // functions throw Error{runtime} when it cannot be written.
  ResultsFile(const std::filesystem::path& path, const RunInfo& info, bool resume);

  const std::map<std::string, CaseResult>& earlier() const { return earlier_; }
  // Now and then waits until the disk has what was appended.
  void append(const CaseResult& result);
  // The end of writing.
  void finish() { out_.commit(); }

 private:
  // Reads what is there and completes its last line.
  void read(const std::filesystem::path& path, const RunInfo& info);

  std::map<std::string, CaseResult> earlier_;
  OutputFile out_;
  size_t not_synced_ = 0;
};

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_RUNNER_RESULTS_RESULTS_FILE_H_
