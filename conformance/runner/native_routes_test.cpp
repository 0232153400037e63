// `primset conform --without-native` as a process: what the CPU runs natively passes by kernels too
// and is timed both ways; operators that write their arguments can be timed as others. And
// `--under`: workers are run by what it names.
#include <gtest/gtest.h>

#include "conformance/runner/process/conform_process.h"

namespace primset::conformance {
namespace {

constexpr const char* kWithoutNative = "--device cpu --without-native ";

TEST(WithoutNative, BothWaysAreTimed) {
  ConformProcess conform("routes");
  EXPECT_EQ(conform.run(std::string(kWithoutNative) + "--dtype f32 --tier standard --filter mm"),
            0);
  size_t timed = 0;
  for (const CaseResult& r : conform.results()) timed += r.verdict.native_ratio > 0;
  EXPECT_GE(timed, 1u);
  EXPECT_NE(conform.summary().find("at least 6 cases compute something for each of 1 pairs"),
            std::string::npos)
      << conform.summary();
}

// The second call of any of these would find what the first one left, and refuse it.
TEST(WithoutNative, EveryCallHasArgumentsOfItsOwn) {
  ConformProcess conform("routes");
  EXPECT_EQ(conform.run(std::string(kWithoutNative) +
                        "--dtype i32 --tier standard --filter squeeze_.dims "
                        "--filter remainder_.Tensor --filter fmod_.Tensor"),
            0)
      << conform.summary();
  EXPECT_GE(conform.results().size(), 30u);
}

TEST(Under, WorkersRunByTheCommand) {
  const std::string cases = "--device cpu --tier smoke --dtype f32 --filter add.Tensor --under ";
  ConformProcess by_env("under_env");
  EXPECT_EQ(by_env.run(cases + "'env PRIMSET_FUSE=0'"), 0) << by_env.summary();
  EXPECT_GE(by_env.results().size(), 1u);
  // Under one that runs nothing no case is run, and none passes.
  ConformProcess by_false("under_false");
  EXPECT_NE(by_false.run(cases + "false"), 0);
  for (const CaseResult& r : by_false.results()) EXPECT_EQ(r.verdict.outcome, Outcome::not_run);
}

}  // namespace
}  // namespace primset::conformance
