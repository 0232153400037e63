// The known-answer vectors that the generator's authors publish.
#include <gtest/gtest.h>

#include "codegen/kernel/math/math.h"
#include "codegen/kernel/math/testing/function_runs.h"

namespace primset::kir::math_test {
namespace {

struct Vector {
  std::array<uint32_t, 4> counter;
  std::array<uint32_t, 2> key;
  std::array<uint32_t, 4> words;
};
constexpr Vector kVectors[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

TEST(Philox, GivesThePublishedWords) {
  std::vector<std::vector<uint64_t>> arguments(6);
  for (const Vector& v : kVectors) {
    for (size_t k = 0; k < 4; ++k) arguments[k].push_back(v.counter[k]);
    for (size_t k = 0; k < 2; ++k) arguments[4 + k].push_back(v.key[k]);
  }
  for (uint16_t lanes : {1, 4, 16}) {
    for (size_t word = 0; word < 4; ++word) {
      const auto results = evaluate(
          devices()[0],
          [&](Builder& b, const std::vector<Value>& x) {
            return math::philox4x32_10(b, {x[0], x[1], x[2], x[3]}, {x[4], x[5]})[word];
          },
          Scalar::i32, Scalar::i32, lanes, arguments);
      for (size_t i = 0; i < std::size(kVectors); ++i) {
        EXPECT_EQ(results[i], kVectors[i].words[word]) << "vector " << i << " word " << word;
      }
    }
  }
}

}  // namespace
}  // namespace primset::kir::math_test
