// Mutants on devices: their graphs have numbers as inputs, lists and none, and a device takes what
// the reference takes.
#include <gtest/gtest.h>

#include "conformance/runner/process/conform_process.h"

namespace primset::conformance {
namespace {

class Mutants : public testing::TestWithParam<const char*> {};

TEST_P(Mutants, AreCaughtOnADevice) {
  ConformProcess process("mutate");
  for (const char* filter : {"add.*", "rand*", "batch_norm*", "_foreach_add.*", "where.*", "cat",
                             "prim/*", "clamp*", "index_put*", "full*"}) {
    const std::string line = std::string(PRIMSET_PROGRAM) + " conform --device " + GetParam() +
                             " --mutate 12 --mutation-floor 0.5 --filter '" + filter + "'";
    EXPECT_EQ(process.run_line(line), 0) << line << "\n" << process.summary();
    EXPECT_NE(process.summary().find(" mutants of "), std::string::npos) << line;
  }
}

INSTANTIATE_TEST_SUITE_P(, Mutants, testing::Values("cpu", "vulkan:0"), [](const auto& info) {
  return std::string(info.param).substr(0, std::string_view(info.param).find(':'));
});

}  // namespace
}  // namespace primset::conformance
