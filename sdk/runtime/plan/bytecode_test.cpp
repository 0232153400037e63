#include "sdk/runtime/plan/bytecode.h"

#include <gtest/gtest.h>

#include "primset/error.h"

namespace primset::runtime {
namespace {

using prims::SymContext;
using prims::SymInt;

int64_t evaluate(const Code& code, Slot slot, std::vector<int64_t> slots) {
  slots.resize(code.slots);
  code.start(slots.data());
  Code::run(code.insts, slots.data());
  return slots[slot];
}

struct Two {
  SymContext context;
  SymInt a = context.symbol("a", 6, 2), b = context.symbol("b", 4, 2);
  CodeBuilder code{context, 2};
  Two() {
    code.bind(0, 0);
    code.bind(1, 1);
  }
};

TEST(Bytecode, EvaluatesAsTheContextDoes) {
  Two t;
  const SymInt e = prims::floor_div(t.a * t.a + 3 * t.b - 7, t.b) + prims::max(t.a, t.b) -
                   prims::mod(t.a, SymInt(5)) * prims::min(t.b, SymInt(3)) + prims::ceil_log2(t.a);
  const Slot slot = t.code.slot(e);
  const Code code = std::move(t.code).finish();
  for (int64_t a : {2, 9, 100}) {
    for (int64_t b : {2, 3, 50}) {
      const std::vector<int64_t> symbols = {a, b};
      EXPECT_EQ(evaluate(code, slot, symbols), t.context.evaluate(e.poly(), symbols));
    }
  }
}

TEST(Bytecode, EqualSubexpressionsShareASlot) {
  Two t;
  const Slot x = t.code.slot(t.a * t.b), y = t.code.slot(t.b * t.a);
  EXPECT_EQ(x, y);
  EXPECT_EQ(t.code.slot(SymInt(5)), t.code.slot(SymInt(5)));
}

TEST(Bytecode, NumbersOfTheRunAreEvaluatedAgain) {
  SymContext context;
  const SymInt n = context.symbol("n", 3), count = context.symbol("count", 0);
  CodeBuilder builder(context, 1);
  builder.bind(0, 0);
  const uint32_t number = builder.bind_dynamic(1);
  const Slot slot = builder.slot(n * count + 1);
  EXPECT_TRUE(builder.is_dynamic(slot));
  const Code code = std::move(builder).finish();
  std::vector<int64_t> slots(code.slots);
  slots[0] = 10;
  code.start(slots.data());
  Code::run(code.insts, slots.data());
  for (int64_t value : {4, 7}) {
    slots[code.dynamic_slots[number]] = value;
    Code::run(code.dynamic[number], slots.data());
    EXPECT_EQ(slots[slot], 10 * value + 1);
  }
}

// As the sizes of a long chain of poolings are; half as deep again through both operands.
TEST(Bytecode, DeepNestsTakeNoDeepStack) {
  SymContext context;
  const SymInt n = context.symbol("n", 1 << 20, 2), m = context.symbol("m", 7, 2);
  SymInt value = n;
  for (int i = 0; i < 100000; ++i) {
    value = prims::floor_div(value + m, 2) + m;
    if (i % 2 == 0) value = prims::max(prims::mod(value, m), value + 1);
  }
  CodeBuilder builder(context, 2);
  builder.bind(0, 0);
  builder.bind(1, 1);
  const Slot slot = builder.slot(value);
  const Code code = std::move(builder).finish();
  std::vector<int64_t> slots(code.slots);
  slots[0] = 1 << 20;
  slots[1] = 7;
  code.start(slots.data());
  Code::run(code.insts, slots.data());
  EXPECT_EQ(slots[slot], value.hint());
  EXPECT_EQ(context.evaluate(value.poly(), slots), value.hint());
}

TEST(Bytecode, NumbersOfTheRunAreToldApartHoweverMany) {
  SymContext context;
  constexpr uint32_t kCount = 100;
  CodeBuilder builder(context, 0);
  std::vector<SymInt> symbols;
  std::vector<Slot> doubled;
  for (uint32_t i = 0; i < kCount; ++i) {
    symbols.push_back(context.symbol("count", 0));
    EXPECT_EQ(builder.bind_dynamic(i), i);
  }
  for (const SymInt& s : symbols) doubled.push_back(builder.slot(s * 2));
  const Code code = std::move(builder).finish();
  for (uint32_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(code.dynamic[i].size(), 1u) << i;
    EXPECT_EQ(code.dynamic[i][0].target, doubled[i]);
  }
}

TEST(Bytecode, ASymbolWithoutSourceIsAnError) {
  SymContext context;
  const SymInt n = context.symbol("n", 3);
  CodeBuilder builder(context, 0);
  EXPECT_THROW(builder.slot(n), Error);
}

}  // namespace
}  // namespace primset::runtime
