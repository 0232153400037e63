#include "backends/common/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/common/status.h"

namespace primset_backend {
namespace {

// Results of an API that there is not.
enum : int64_t { XY_OUT_OF_MEMORY = -4, XY_NO_KERNEL = 3, XY_LOST = 0x70000001 };

constexpr KnownResult kKnown[] = {
    PRIMSET_KNOWN_RESULT(XY_OUT_OF_MEMORY, PRIMSET_OUT_OF_MEMORY),
    PRIMSET_KNOWN_RESULT(XY_NO_KERNEL, PRIMSET_UNSUPPORTED),
    PRIMSET_KNOWN_RESULT(XY_LOST, PRIMSET_DEVICE_LOST),
};
constexpr Results kResults(kKnown);

template <typename F>
BackendError thrown(F&& f) {
  try {
    f();
  } catch (const BackendError& e) {
    return e;
  }
  return {PRIMSET_OK, "nothing"};
}

TEST(Results, HaveTheNamesOfTheirHeaderAndItsWayToWriteNumbers) {
  EXPECT_EQ(kResults.name(XY_OUT_OF_MEMORY), "XY_OUT_OF_MEMORY (-4)");
  EXPECT_EQ(kResults.name(XY_LOST), "XY_LOST (0x70000001)");
  EXPECT_EQ(kResults.name(7), "result (7)");
}

TEST(Results, ThrowUnlessAllIsWell) {
  EXPECT_EQ(thrown([] { kResults.check(0, "xyRun"); }).code(), uint32_t{PRIMSET_OK});
  const BackendError lost = thrown([] { kResults.check(XY_LOST, "xyRun"); });
  EXPECT_EQ(lost.code(), uint32_t{PRIMSET_DEVICE_LOST});
  EXPECT_STREQ(lost.what(), "xyRun: XY_LOST (0x70000001)");
  EXPECT_EQ(thrown([] { kResults.check(7, "xyRun"); }).code(), uint32_t{PRIMSET_INTERNAL});
  EXPECT_STREQ(thrown([] { kResults.fail(7, "xyBuild", "line 3"); }).what(),
               "xyBuild: result (7): line 3");
}

TEST(Results, OfAModuleRefuseItUnlessTheMachineIsAtFault) {
  const auto code = [](int64_t result) {
    return thrown([&] { kResults.refuse_module(result, "xyBuild"); }).code();
  };
  EXPECT_EQ(code(XY_NO_KERNEL), uint32_t{PRIMSET_LOAD_FAILED});
  EXPECT_EQ(code(7), uint32_t{PRIMSET_LOAD_FAILED});
  EXPECT_EQ(code(XY_OUT_OF_MEMORY), uint32_t{PRIMSET_OUT_OF_MEMORY});
  EXPECT_EQ(code(XY_LOST), uint32_t{PRIMSET_DEVICE_LOST});
}

}  // namespace
}  // namespace primset_backend
