#include "sdk/runtime/plugin/log_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace primset::plugin {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class LogLimitTest : public testing::Test {
 protected:
  bool admits(size_t bytes = 10) {
    const LogLimit::Verdict verdict = limit_.admit(bytes, now_);
    if (!verdict.notice.empty()) notices_.push_back(verdict.notice);
    return verdict.admitted;
  }
  size_t admitted_of(int lines, size_t bytes = 10) {
    size_t n = 0;
    for (int i = 0; i < lines; ++i) n += admits(bytes);
    return n;
  }

  LogLimit limit_;
  LogLimit::Clock::time_point now_ = LogLimit::Clock::time_point() + std::chrono::hours(1);
  std::vector<std::string> notices_;
};

TEST_F(LogLimitTest, LinesBeyondTheRateAreDroppedAndCounted) {
  EXPECT_EQ(admitted_of(1500), 1000u);
  EXPECT_THAT(notices_, testing::IsEmpty());
  now_ += milliseconds(999);
  EXPECT_FALSE(admits());
  now_ += milliseconds(1);
  EXPECT_TRUE(admits());
  EXPECT_THAT(notices_, testing::ElementsAre(HasSubstr("501 lines of its log were dropped")));
  EXPECT_EQ(admitted_of(999), 999u) << "a new second";
  EXPECT_EQ(notices_.size(), 1u) << "reported once";
  EXPECT_EQ(limit_.last_notice(), "");
}

TEST_F(LogLimitTest, BytesAreDroppedForGood) {
  size_t lines = 0;
  for (int second = 0; second < 20; ++second, now_ += milliseconds(1000))
    lines += admitted_of(1000, 1000);
  EXPECT_EQ(lines, LogLimit::kMaxBytes / 1000);
  EXPECT_FALSE(admits(1));
  // 10,001 lines: at 1, 10, 100, 1000 and 10000.
  EXPECT_EQ(notices_.size(), 5u);
  EXPECT_THAT(notices_.front(), HasSubstr("1 line of its log was dropped"));
  EXPECT_THAT(limit_.last_notice(), HasSubstr("10001 lines"));
}

}  // namespace
}  // namespace primset::plugin
