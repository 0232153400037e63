// Cooperative matrices of the interpreter: right values, and each kind of mistake found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "codegen/kernel/interpreter/testing/group_runs.h"
#include "codegen/kernel/ir/builder.h"
#include "codegen/kernel/ir/text.h"

namespace primset::kir {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TargetModel cooperative() {
  TargetModel t;
  t.format = Format::spirv_vulkan;
  t.simt = t.cooperative = t.cooperative_bf16 = true;
  t.min_subgroup = t.max_subgroup = 32;
  return t;
}

constexpr Type kOperand = Type::matrix(Scalar::f16, MatrixUse::a);

struct Layout {
  bool left_by_columns, right_by_columns;
};
constexpr uint32_t kDistance = 3;  // of lines, in units of 16 bytes
constexpr int kSide = 16, kLineWords = 4 * kDistance, kLine = 2 * kLineWords;  // elements

// c = a b by one subgroup; x and y are 16 lines of kDistance each, z has rows of 5 times 16 bytes.
Kernel product(bool bf16, Layout layout) {
  Builder b("product", cooperative());
  b.set_group_size(32);
  const Value x = b.pointer_param("x", true, false), y = b.pointer_param("y", true, false),
              z = b.pointer_param("z", false, true);
  constexpr int kWords = kSide * kLineWords;
  const Value memory = b.group_alloc(Scalar::i32, 2 * kWords), lane = b.local_id(0);
  for (int i = 0; i < kWords; i += 32) {
    const Value at = b.add(lane, b.i32(i));
    b.store(memory, at, b.load(kI32, x, at, 4), 4);
    b.store(memory, b.add(at, b.i32(kWords)), b.load(kI32, y, at, 4), 4);
  }
  b.barrier();
  const Scalar element = bf16 ? Scalar::bf16 : Scalar::f16;
  const Value left = b.cooperative_load(Type::matrix(element, MatrixUse::a), memory, b.i32(0),
                                        kDistance, layout.left_by_columns);
  const Value right = b.cooperative_load(Type::matrix(element, MatrixUse::b), memory,
                                         b.i32(kWords / 4), kDistance, layout.right_by_columns);
  const Value zero = b.constant_bits(kAccumulator, 0);
  // Twice the product, in a loop.
  const auto sums =
      b.for_loop(b.i32(0), b.i32(2), b.i32(1), {zero}, [&](Value, std::span<const Value> now) {
        return Builder::Values{b.cooperative_multiply(left, right, now[0])};
      });
  b.barrier();
  b.cooperative_store(memory, b.i32(1), sums[0], 5);
  b.barrier();
  for (int i = 0; i < kSide * kSide; i += 32) {
    const Value n = b.add(lane, b.i32(i)), row = b.lshr(n, b.i32(4)), column = b.and_(n, b.i32(15));
    const Value at = b.add(b.i32(4), b.add(b.mul(row, b.i32(20)), column));
    b.store(z, n, b.load(kI32, memory, at, 4), 4);
  }
  return std::move(b).finish();
}

TEST(CooperativeMatrixTest, ProductsAreThoseOfTheElements) {
  const auto x = [](int i, int k) { return (7 * i + 3 * k) % 17 - 8; };
  const auto y = [](int k, int j) { return (5 * k + 11 * j) % 13 - 6; };
  for (int kind = 0; kind < 8; ++kind) {
    const bool bf16 = kind & 1;
    const Layout layout{(kind & 2) != 0, (kind & 4) != 0};
    std::vector<uint16_t> a(kSide * kLine), b(kSide * kLine);
    std::vector<float> c(kSide * kSide), want(kSide * kSide);
    const auto place = [](int row, int column, bool by_columns) {
      return by_columns ? column * kLine + row : row * kLine + column;
    };
    for (int i = 0; i < kSide; ++i) {
      for (int j = 0; j < kSide; ++j) {
        a[static_cast<size_t>(place(i, j, layout.left_by_columns))] = short_bits(x(i, j), bf16);
        b[static_cast<size_t>(place(i, j, layout.right_by_columns))] = short_bits(y(i, j), bf16);
        for (int k = 0; k < kSide; ++k)
          want[static_cast<size_t>(kSide * i + j)] += static_cast<float>(2 * x(i, k) * y(k, j));
      }
    }
    EXPECT_EQ(error_of(product(bf16, layout), cooperative(), {buffer(a), buffer(b), buffer(c)}),
              "");
    EXPECT_EQ(c, want) << kind;
  }
}

// Each row of sums by a number of its own.
Kernel scaled_rows() {
  Builder b("scaled", cooperative());
  b.set_group_size(32);
  const Value x = b.pointer_param("x", true, false), z = b.pointer_param("z", false, true);
  const Value memory = b.group_alloc(Scalar::i32, kSide * (kSide + 2)), lane = b.local_id(0);
  for (int i = 0; i < kSide * (kSide + 2); i += 32) {
    const Value at = b.add(b.i32(i), lane);
    b.store(memory, at, b.load(kI32, x, at, 4), 4);
  }
  b.barrier();
  const Value sums = b.cooperative_load(kAccumulator, memory, b.i32(kSide / 4), kSide / 4, false);
  const Value factors = b.cooperative_load(kAccumulator, memory, b.i32(0), 0, true);
  b.barrier();
  b.cooperative_store(memory, b.i32(kSide / 4), b.cooperative_scale(sums, factors), kSide / 4);
  b.barrier();
  for (int i = 0; i < kSide * kSide; i += 32) {
    const Value n = b.add(lane, b.i32(i));
    b.store(z, n, b.load(kI32, memory, b.add(n, b.i32(kSide)), 4), 4);
  }
  return std::move(b).finish();
}

TEST(CooperativeMatrixTest, ALineIsReadAsAllOfThem) {
  std::vector<float> x(kSide * (kSide + 2)), z(kSide * kSide), want;
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 37) - 9.5f;
  for (size_t i = 0; i < kSide * kSide; ++i) want.push_back(x[i / kSide] * x[kSide + i]);
  EXPECT_EQ(error_of(scaled_rows(), cooperative(), {buffer(x), buffer(z)}), "");
  EXPECT_EQ(z, want);
  const std::string text = print(scaled_rows());
  EXPECT_THAT(text, HasSubstr("cooperative_load[1, 0]"));
  EXPECT_EQ(print(parse(text)), text);
  Kernel mixed = scaled_rows();
  for (Inst& i : mixed.insts)
    if (i.op == Op::CooperativeScale) mixed.types[i.operands[1].id] = kOperand;
  std::vector<std::string> rules;
  for (const Violation& v : verify(mixed, cooperative())) rules.push_back(v.rule);
  EXPECT_THAT(rules, testing::Contains("K32"));
}

TEST(CooperativeMatrixTest, PrintedKernelsAreReadBack) {
  const std::string text = print(product(true, {false, true}));
  EXPECT_THAT(text, HasSubstr("cooperative_load[1, 3]"));
  EXPECT_THAT(text, HasSubstr("matrix<bf16, b>"));
  EXPECT_EQ(print(parse(text)), text);
}

// Of some operations on words that hold zeros.
std::string error_of_words(const std::function<void(Builder&, Value memory, Value lane)>& body) {
  Builder b("k", cooperative());
  b.set_group_size(32);
  const Value memory = b.group_alloc(Scalar::i32, 512), lane = b.local_id(0);
  for (int i = 0; i < 512; i += 32) b.store(memory, b.add(lane, b.i32(i)), b.i32(0), 4);
  b.barrier();
  body(b, memory, lane);
  return error_of(std::move(b).finish(), cooperative(), {});
}

TEST(CooperativeMatrixTest, AllLanesNameOneMatrix) {
  EXPECT_THAT(error_of_words([](Builder& b, Value memory, Value lane) {
                b.cooperative_load(kOperand, memory, lane, 2, false);
              }),
              HasSubstr("the lanes name different matrices"));
}

TEST(CooperativeMatrixTest, MatricesEndInTheirMemory) {
  EXPECT_THAT(error_of_words([](Builder& b, Value memory, Value) {
                b.cooperative_load(kOperand, memory, b.i32(128 - 31), 2, false);
              }),
              HasSubstr("out of bounds"));
}

TEST(CooperativeMatrixTest, WhatASubgroupStoresOthersReadAfterABarrier) {
  EXPECT_THAT(error_of_words([](Builder& b, Value memory, Value lane) {
                b.cooperative_store(memory, b.i32(0), b.constant_bits(kAccumulator, 0), 4);
                b.store(memory, lane, b.load(kI32, memory, b.add(lane, b.i32(32)), 4), 4);
              }),
              HasSubstr("race"));
}

// --- the verifier: K32 ---------------------------------------------------------------------------

std::vector<std::string> broken(const Kernel& kernel, const TargetModel& target = cooperative()) {
  std::vector<std::string> rules;
  for (const Violation& v : verify(kernel, target)) rules.push_back(v.rule);
  return rules;
}

TEST(CooperativeMatrixTest, TheVerifierKnowsTheRules) {
  const Kernel fine = product(true, {false, false});
  EXPECT_THAT(broken(fine), IsEmpty());
  TargetModel without = cooperative();
  without.cooperative = false;
  EXPECT_THAT(broken(fine, without), testing::Contains("K32"));
  TargetModel f16_alone = cooperative();
  f16_alone.cooperative_bf16 = false;
  EXPECT_THAT(broken(fine, f16_alone), testing::Contains("K32"));
  TargetModel wide = cooperative();
  wide.max_subgroup = 64;
  EXPECT_THAT(broken(fine, wide), testing::Contains("K32"));

  const auto changed = [&](Op op, const std::function<void(Kernel&, Inst&)>& change) {
    Kernel k = fine;
    for (Inst& inst : k.insts) {
      if (inst.op != op) continue;
      change(k, inst);
      break;
    }
    return broken(k);
  };
  const auto has_rule = testing::Contains("K32");
  EXPECT_THAT(changed(Op::CooperativeLoad, [](Kernel&, Inst& i) { i.imm.count = 1; }), has_rule);
  EXPECT_THAT(changed(Op::CooperativeLoad, [](Kernel&, Inst& i) { i.imm.index = 2; }), has_rule);
  EXPECT_THAT(changed(Op::CooperativeStore, [](Kernel&, Inst& i) { i.imm.count = 3; }), has_rule);
  EXPECT_THAT(changed(Op::GroupAlloc, [](Kernel&, Inst& i) { i.imm.elem = Scalar::f32; }),
              has_rule);
  EXPECT_THAT(changed(Op::CooperativeMultiply,
                      [](Kernel&, Inst& i) { std::swap(i.operands[0], i.operands[1]); }),
              has_rule);
  EXPECT_THAT(changed(Op::CooperativeLoad, [](Kernel&, Inst& i) { i.imm.count = 0; }), has_rule);
  EXPECT_THAT(changed(Op::CooperativeLoad,
                      [](Kernel& k, Inst& i) { k.types[i.results[0].id] = kAccumulator; }),
              has_rule);
  EXPECT_THAT(changed(Op::Const, [](Kernel& k, Inst& i) { k.types[i.results[0].id] = kOperand; }),
              has_rule);
}

}  // namespace
}  // namespace primset::kir
