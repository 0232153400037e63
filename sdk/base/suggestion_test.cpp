#include "sdk/base/suggestion.h"

#include <gtest/gtest.h>

namespace primset {
namespace {

TEST(Suggestion, NearestName) {
  EXPECT_EQ(nearest("slef", {"self", "other"}), "self");
  EXPECT_EQ(nearest("selff", {"self", "other"}), "self");
  EXPECT_EQ(nearest("x", {"y", "z"}), "");
  EXPECT_EQ(nearest("self", {"self"}), "");
  EXPECT_EQ(nearest("something", {"else"}), "");
}

TEST(Suggestion, TailOfAMessage) {
  EXPECT_EQ(quote_with_suggestion("slef", {"self", "other"}), "'slef' (did you mean 'self'?)");
  EXPECT_EQ(quote_with_suggestion("x", {"self", "other"}), "'x'");
  EXPECT_EQ(one_of({"a", "b", "c"}), "a, b or c");
  EXPECT_EQ(one_of({"a"}), "a");
}

}  // namespace
}  // namespace primset
