// Which kernel attention takes, with torch._fused_sdp_choice's answers on the CPU.
#include <gtest/gtest.h>

#include "primset/invoke.h"

namespace primset {
namespace {

struct Operands {
  Tensor query, key, value, mask;
  double dropout = 0;
  bool grouped = false;
};

Tensor zeros(IntList sizes, DType dtype = DType::f32) {
  return Tensor::empty(sizes, dtype);
}

Operands operands() {
  return {zeros({2, 6, 5, 8}), zeros({2, 6, 7, 8}), zeros({2, 6, 7, 8}), {}, 0, false};
}

int64_t choice(const Operands& o) {
  return invoke("_fused_sdp_choice", {o.query, o.key, o.value, o.mask, o.dropout, false},
                {{"enable_gqa", o.grouped}})[0]
      .as<int64_t>();
}

template <typename Change>
int64_t choice_after(Change change) {
  Operands o = operands();
  change(o);
  return choice(o);
}

TEST(AttentionChoice, IsOneKernelForBatchesOfHeads) {
  EXPECT_EQ(choice(operands()), 1);
  EXPECT_EQ(choice_after([](Operands& o) { o.query = zeros({6, 5, 8}); }), 0);
  EXPECT_EQ(choice_after([](Operands& o) { o.query = zeros({2, 6, 0, 8}); }), 0);
  EXPECT_EQ(choice_after([](Operands& o) { o.value = zeros({2, 6, 7, 4}); }), 0);
  EXPECT_EQ(choice_after([](Operands& o) { o.key = zeros({2, 6, 7, 8}, DType::f64); }), 0);
  EXPECT_EQ(choice_after([](Operands& o) { o.dropout = 0.5; }), 0);
}

TEST(AttentionChoice, GroupsDivideTheHeads) {
  const auto heads = [](int64_t keys, bool grouped) {
    return choice_after([&](Operands& o) {
      o.key = o.value = zeros({2, keys, 7, 8});
      o.grouped = grouped;
    });
  };
  EXPECT_EQ(heads(3, true), 1);
  EXPECT_EQ(heads(3, false), 0);
  EXPECT_EQ(heads(4, true), 0);
}

TEST(AttentionChoice, MasksHaveTwoDimsOrFour) {
  const auto masked = [](IntList sizes) {
    return choice_after([&](Operands& o) { o.mask = zeros(sizes, DType::boolean); });
  };
  EXPECT_EQ(masked({5, 7}), 1);
  EXPECT_EQ(masked({2, 1, 1, 7}), 1);
  EXPECT_EQ(masked({6, 5, 7}), 0);
  EXPECT_EQ(masked({5, 6}), 0);
  EXPECT_THROW(masked({7}), Error);
}

TEST(AttentionChoice, LastDimsLieWithoutGaps) {
  const Tensor columns = zeros({2, 6, 8, 5});
  EXPECT_EQ(choice_after([&](Operands& o) {
              o.query = invoke("transpose.int", {columns, 2, 3})[0].tensor();
            }),
            0);
}

}  // namespace
}  // namespace primset
