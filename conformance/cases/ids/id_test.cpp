#include "conformance/cases/ids/id.h"

#include <gtest/gtest.h>

#include <set>

#include "primset/error.h"

namespace primset::conformance {
namespace {

TEST(CaseId, RoundTrip) {
  for (const char* text :
       {"add.Tensor:dtype=f16;case=broadcast_2;layout=strided", "relu:dtype=bool;case=empty",
        "prim/reduce_sum:dtype=c64;case=last_dim"}) {
    EXPECT_EQ(CaseId::parse(text).to_string(), text);
  }
  CaseId id = CaseId::parse("prim/reduce_sum:dtype=bf16;case=a;layout=offset");
  EXPECT_EQ(id.level, Level::primitive);
  EXPECT_EQ(id.subject, "reduce_sum");
  EXPECT_EQ(id.dtype, DType::bf16);
  EXPECT_EQ(id.layout, "offset");
}

TEST(CaseId, ContiguousIsNeverWritten) {
  EXPECT_EQ(CaseId::parse("a:dtype=f32;case=b;layout=contiguous").to_string(),
            "a:dtype=f32;case=b");
}

TEST(CaseId, MalformedTextSaysWhatIsWrong) {
  const std::pair<const char*, const char*> kCases[] = {
      {"add.Tensor", "there is no ':'"},
      {":dtype=f32;case=a", "the operator is empty"},
      {"a b:dtype=f32;case=a", "has the character ' '"},
      {"a:case=b", "'dtype=' must follow"},
      {"a:dtype=float32;case=b", "is not a dtype"},
      {"a:dtype=f99;case=b", "is not a dtype"},
      {"a:dtype=f32", "'case=' must follow"},
      {"a:dtype=f32;case=", "case is empty"},
      {"a:dtype=f32;case=b;", "nothing follows"},
      {"a:dtype=f32;case=b;layout=c;seed=1", "left over"},
      {"a:dtype=f32;layout=c;case=b", "'case=' must follow"},
  };
  for (const auto& [text, what] : kCases) {
    try {
      CaseId::parse(text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
    }
  }
}

// Shards and values depend on it: another machine must get these very numbers.
TEST(StableHash, IsFixed) {
  EXPECT_EQ(stable_hash("add.Tensor:dtype=f32;case=matrix"),
            stable_hash("add.Tensor:dtype=f32;case=matrix"));
  EXPECT_EQ(stable_hash(""), 0xf52a15e9a9b5e89bu);
  EXPECT_NE(stable_hash("a", 1), stable_hash("a", 2));
}

TEST(StableHash, SpreadsOverShards) {
  size_t counts[7] = {};
  for (int i = 0; i < 7000; ++i) ++counts[stable_hash("case" + std::to_string(i)) % 7];
  for (size_t n : counts) {
    EXPECT_GT(n, 850u);
    EXPECT_LT(n, 1150u);
  }
}

}  // namespace
}  // namespace primset::conformance
