#include "sdk/runtime/support/side_by_side.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace primset::runtime {
namespace {

TEST(SideBySide, EveryPieceIsDoneOnce) {
  for (const size_t count : {0, 1, 2, 7, 300}) {
    std::vector<std::atomic<int>> done(count);
    side_by_side(count, [&](size_t i) { ++done[i]; });
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(done[i], 1) << i << " of " << count;
  }
}

TEST(SideBySide, TheFirstErrorIsThrownAfterAllIsDone) {
  std::atomic<int> done = 0;
  try {
    side_by_side(50, [&](size_t i) {
      ++done;
      if (i % 10 == 3) throw std::runtime_error(std::to_string(i));
    });
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "3");
  }
  EXPECT_EQ(done, 50);
}

}  // namespace
}  // namespace primset::runtime
