// `primset conform --without-native` as a process: what the CPU runs natively passes by kernels too
// and is timed both ways; operators that write their arguments can be timed as others.
#include <gtest/gtest.h>

#include "conformance/runner/conform_process.h"

namespace primset::conformance {
namespace {

constexpr const char* kWithoutNative = "--device cpu --without-native ";

TEST(WithoutNative, BothWaysAreTimed) {
  ConformProcess conform("routes");
  EXPECT_EQ(conform.run(std::string(kWithoutNative) + "--dtype f32 --tier smoke --filter mm"), 0);
  size_t timed = 0;
  for (const CaseResult& r : conform.results()) timed += r.verdict.native_ratio > 0;
  EXPECT_GE(timed, 1u);
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

}  // namespace
}  // namespace primset::conformance
