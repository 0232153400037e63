#include "conformance/cases/ids/filter.h"

#include <gtest/gtest.h>

#include "primset/error.h"

namespace primset::conformance {
namespace {

TEST(Glob, Matches) {
  EXPECT_TRUE(glob_matches("add.*", "add.Tensor"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a*b*c", "a__b__b__c"));
  EXPECT_TRUE(glob_matches("a?c", "abc"));
  EXPECT_FALSE(glob_matches("add", "add_"));
  EXPECT_FALSE(glob_matches("a*b", "a__bc"));
  EXPECT_FALSE(glob_matches("?", ""));
}

constexpr const char* kId = "add.Tensor:dtype=f16;case=broadcast_2;layout=strided";

TEST(Filter, Selects) {
  const std::pair<std::vector<std::string>, bool> kCases[] = {
      {{}, true},
      {{"add.Tensor"}, true},
      {{"add.*"}, true},
      {{"add"}, false},
      {{"*:*case=broadcast*"}, true},
      {{"*:*dtype=f32*"}, false},
      {{kId}, true},
      {{"/broadcast_[12]/"}, true},
      {{"/^broadcast/"}, false},
      {{"-add.*"}, false},
      {{"-sub.*"}, true},
      {{"add.*", "-/strided$/"}, false},
      {{"sub.*", "add.*"}, true},
  };
  for (const auto& [patterns, selected] : kCases) {
    EXPECT_EQ(Filter(patterns).matches(kId), selected) << testing::PrintToString(patterns);
  }
}

TEST(Filter, SubjectsThatCannotMatch) {
  EXPECT_TRUE(Filter({}).may_match_subject("add.Tensor"));
  EXPECT_TRUE(Filter({"add.Tensor:dtype=f32;case=a"}).may_match_subject("add.Tensor"));
  EXPECT_FALSE(Filter({"add.Tensor:dtype=f32;case=a"}).may_match_subject("add.Scalar"));
  EXPECT_TRUE(Filter({"prim/*:dtype=f32*"}).may_match_subject("prim/add"));
  EXPECT_TRUE(Filter({"*:*case=a"}).may_match_subject("add.Tensor"));
  EXPECT_TRUE(Filter({"/x/"}).may_match_subject("add.Tensor"));
  EXPECT_TRUE(Filter({"-add.*"}).may_match_subject("mul.Tensor"));
}

TEST(Filter, BadRegularExpression) {
  EXPECT_THROW(Filter({"/(/"}), Error);
}

// A count or a back reference that std::regex's integer does not hold.
TEST(Filter, NumbersOfARegularExpressionAreBounded) {
  EXPECT_THROW(Filter({"/a\\2222222222222222222/"}), Error);
  EXPECT_THROW(Filter({"/a{92233720368547758070}/"}), Error);
  EXPECT_TRUE(Filter({"/^add.*123456789|_[12]/"}).matches("add.Tensor:case=x_1"));
}

}  // namespace
}  // namespace primset::conformance
