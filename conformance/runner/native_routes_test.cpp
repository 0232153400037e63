// `primset conform --without-native` as a process: what the CPU runs natively passes by kernels too
// and is timed both ways; operators that write their arguments can be timed as others.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "conformance/runner/result.h"

namespace primset::conformance {
namespace {

namespace fs = std::filesystem;

class WithoutNative : public ::testing::Test {
 protected:
  WithoutNative()
      : results_(fs::temp_directory_path() / ("routes_" + std::to_string(getpid()) + ".jsonl")) {}
  ~WithoutNative() override { fs::remove(results_); }

  std::vector<CaseResult> conform(const std::string& options) const {
    const std::string command = std::string(PRIMSET_PROGRAM) +
                                " conform --device cpu --without-native --jobs 1 " + options +
                                " --results " + results_.string() + " >/dev/null";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 0) << command;
    std::vector<CaseResult> out;
    std::ifstream in(results_);
    for (std::string line; std::getline(in, line);) {
      if (std::optional<CaseResult> r = parse_json_line(line)) out.push_back(std::move(*r));
    }
    return out;
  }

  fs::path results_;
};

TEST_F(WithoutNative, BothWaysAreTimed) {
  size_t timed = 0;
  for (const CaseResult& r : conform("--dtype f32 --tier smoke --filter mm"))
    timed += r.verdict.native_ratio > 0;
  EXPECT_GE(timed, 1u);
}

// The second call of any of these would find what the first one left, and refuse it.
TEST_F(WithoutNative, EveryCallHasArgumentsOfItsOwn) {
  const auto results = conform(
      "--dtype i32 --tier standard --filter squeeze_.dims --filter remainder_.Tensor "
      "--filter fmod_.Tensor");
  EXPECT_GE(results.size(), 30u);
}

}  // namespace
}  // namespace primset::conformance
