#include "codegen/kernel/ir/builder.h"

#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "codegen/kernel/ir/text.h"
#include "codegen/kernel/verifier/verifier.h"
#include "primset/error.h"

namespace primset::kir {
namespace {

class BuilderTest : public testing::Test {
 protected:
  TargetModel target_;
  Builder b_{"k", target_};
  Value p_ = b_.pointer_param("p", true, true);
  Value n_ = b_.scalar_param("n", kI32);
  Value x_ = b_.scalar_param("x", kF32);

  int64_t known(Value v) { return b_.known_int(v).value(); }
};

TEST_F(BuilderTest, FoldsIntegerConstants) {
  const Value a = b_.i32(-7), c = b_.i32(2);
  EXPECT_EQ(known(b_.add(a, c)), -5);
  EXPECT_EQ(known(b_.sub(a, c)), -9);
  EXPECT_EQ(known(b_.mul(a, c)), -14);
  EXPECT_EQ(known(b_.mul_hi_s(a, c)), -1);
  EXPECT_EQ(known(b_.mul_hi_u(a, c)), 1);
  EXPECT_EQ(known(b_.sdiv(a, c)), -3);
  EXPECT_EQ(known(b_.srem(a, c)), -1);
  EXPECT_EQ(known(b_.udiv(a, c)), 0x7ffffffc);
  EXPECT_EQ(known(b_.urem(a, c)), 1);
  EXPECT_EQ(known(b_.shl(a, c)), -28);
  EXPECT_EQ(known(b_.lshr(a, c)), 0x3ffffffe);
  EXPECT_EQ(known(b_.ashr(a, c)), -2);
  EXPECT_EQ(known(b_.add(b_.constant(kI8, 127), b_.constant(kI8, 1))), -128);
  EXPECT_EQ(known(b_.slt(a, c)), -1);  // an i1 that is true
  EXPECT_EQ(known(b_.ult(a, c)), 0);
}

TEST_F(BuilderTest, LeavesUndefinedIntegerOperationsAlone) {
  const Value zero = b_.i32(0), min = b_.i32(INT32_MIN);
  EXPECT_FALSE(b_.known_bits(b_.sdiv(min, zero)));
  EXPECT_FALSE(b_.known_bits(b_.sdiv(min, b_.i32(-1))));
  EXPECT_FALSE(b_.known_bits(b_.urem(min, zero)));
  EXPECT_FALSE(b_.known_bits(b_.shl(min, b_.i32(32))));
}

TEST_F(BuilderTest, FoldsIdentities) {
  const Value zero = b_.i32(0), one = b_.i32(1), ones = b_.i32(-1);
  EXPECT_EQ(b_.add(n_, zero), n_);
  EXPECT_EQ(b_.add(zero, n_), n_);
  EXPECT_EQ(b_.sub(n_, zero), n_);
  EXPECT_EQ(b_.mul(one, n_), n_);
  EXPECT_EQ(b_.mul(n_, zero), zero);
  EXPECT_EQ(b_.shl(n_, zero), n_);
  EXPECT_EQ(b_.and_(n_, zero), zero);
  EXPECT_EQ(b_.and_(n_, ones), n_);
  EXPECT_EQ(b_.or_(n_, ones), ones);
  EXPECT_EQ(b_.or_(n_, zero), n_);
  EXPECT_EQ(b_.xor_(n_, n_), zero);
  EXPECT_EQ(b_.not_(b_.not_(n_)), n_);
  EXPECT_EQ(b_.udiv(n_, one), n_);
  EXPECT_EQ(b_.trunc(b_.sext(n_, Scalar::i64), Scalar::i32), n_);
  EXPECT_EQ(b_.bitcast(b_.bitcast(x_, Scalar::i32), Scalar::f32), x_);
  EXPECT_EQ(b_.select(b_.slt(n_, one), x_, x_), x_);
  EXPECT_EQ(b_.select(b_.i1(false), n_, one), one);
}

TEST_F(BuilderTest, NeverFoldsWhatChangesAFloat) {
  const Value zero = b_.constant_f(kF32, 0), one = b_.constant_f(kF32, 1);
  EXPECT_NE(b_.fadd(x_, zero), x_);
  EXPECT_NE(b_.fmul(x_, one), x_);
  EXPECT_NE(b_.fsub(x_, x_), zero);
  EXPECT_FALSE(b_.known_bits(b_.feq(x_, x_)));
  EXPECT_FALSE(b_.known_bits(b_.fadd(one, one)));
  const Value nan = b_.constant_bits(kF32, 0x7fa00001);
  EXPECT_FALSE(b_.known_bits(b_.fpext(nan, Scalar::f64)));
  EXPECT_EQ(b_.known_bits(b_.fneg(nan)), 0xffa00001u);
  EXPECT_EQ(b_.known_bits(b_.fabs(b_.constant_f(kF32, -0.0))), 0u);
  EXPECT_EQ(b_.fneg(b_.fneg(x_)), x_);
}

TEST_F(BuilderTest, ComparesWidenedNumbersAsTheyWere) {
  const Value wide = b_.sext(n_, Scalar::i64);
  EXPECT_EQ(b_.slt(wide, b_.i64(5)), b_.slt(n_, b_.i32(5)));
  EXPECT_EQ(b_.slt(b_.i64(-5), wide), b_.slt(b_.i32(-5), n_));
  EXPECT_EQ(b_.sle(wide, b_.i64(INT32_MAX)), b_.sle(n_, b_.i32(INT32_MAX)));
  EXPECT_EQ(b_.ieq(wide, b_.i64(INT32_MIN)), b_.ieq(n_, b_.i32(INT32_MIN)));
  const int64_t above = int64_t{INT32_MAX} + 1, below = int64_t{INT32_MIN} - 1;
  EXPECT_EQ(b_.known_bits(b_.slt(wide, b_.i64(above))), 1u);
  EXPECT_EQ(b_.known_bits(b_.slt(wide, b_.i64(below))), 0u);
  EXPECT_EQ(b_.known_bits(b_.sle(b_.i64(above), wide)), 0u);
  EXPECT_EQ(b_.known_bits(b_.sle(b_.i64(below), wide)), 1u);
  EXPECT_EQ(b_.known_bits(b_.ieq(wide, b_.i64(above))), 0u);
  EXPECT_EQ(b_.known_bits(b_.ine(b_.i64(below), wide)), 1u);
  EXPECT_FALSE(b_.known_bits(b_.ult(wide, b_.i64(above))));
  EXPECT_FALSE(b_.known_bits(b_.slt(b_.zext(n_, Scalar::i64), b_.i64(above))));
}

TEST_F(BuilderTest, FoldsComparisonsOfFloatConstants) {
  for (const Type t : {kF32, kF64}) {
    const Value zero = b_.constant_f(t, 0), minus_zero = b_.constant_f(t, -0.0);
    const Value tiny = b_.constant_bits(t, 1), one = b_.constant_f(t, 1);
    const Value nan = b_.constant_f(t, std::nan(""));
    EXPECT_EQ(b_.known_bits(b_.feq(zero, minus_zero)), 1u);
    EXPECT_EQ(b_.known_bits(b_.feq(zero, tiny)), 0u);
    EXPECT_EQ(b_.known_bits(b_.flt(zero, tiny)), 1u);
    EXPECT_EQ(b_.known_bits(b_.flt(one, zero)), 0u);
    EXPECT_EQ(b_.known_bits(b_.fle(one, one)), 1u);
    EXPECT_EQ(b_.known_bits(b_.fne(nan, nan)), 1u);
    EXPECT_EQ(b_.known_bits(b_.fle(nan, one)), 0u);
    EXPECT_EQ(b_.select(b_.feq(zero, zero), one, tiny), one);
  }
  EXPECT_FALSE(b_.known_bits(b_.feq(x_, b_.constant_f(kF32, 0))));
}

TEST_F(BuilderTest, FoldsConversionsOfConstants) {
  EXPECT_EQ(known(b_.zext(b_.constant(kI8, -1), Scalar::i32)), 255);
  EXPECT_EQ(known(b_.sext(b_.constant(kI8, -1), Scalar::i32)), -1);
  EXPECT_EQ(known(b_.sext(b_.i1(true), Scalar::i8)), -1);
  EXPECT_EQ(known(b_.trunc(b_.i32(0x1ff), Scalar::i8)), -1);
  EXPECT_EQ(b_.known_bits(b_.sitofp(b_.i64(INT64_MAX), Scalar::f32)),
            std::bit_cast<uint32_t>(0x1p63f));
  EXPECT_EQ(b_.known_bits(b_.uitofp(b_.i64(-1), Scalar::f64)), std::bit_cast<uint64_t>(0x1p64));
  EXPECT_EQ(b_.known_bits(b_.fptrunc(b_.constant_f(kF64, 0.1), Scalar::f32)),
            std::bit_cast<uint32_t>(0.1f));
  EXPECT_EQ(b_.known_bits(b_.uitofp(b_.i1(true), Scalar::f32)), std::bit_cast<uint32_t>(1.0f));
}

TEST_F(BuilderTest, FoldsVectors) {
  const Value c = b_.splat(b_.i32(5), 8);
  EXPECT_EQ(b_.type(c), (Type{Scalar::i32, 8}));
  EXPECT_EQ(known(c), 5);
  EXPECT_EQ(b_.extract(c, 3), b_.i32(5));
  const Value v = b_.splat(n_, 8);
  EXPECT_EQ(b_.extract(v, 7), n_);
  EXPECT_EQ(known(b_.extract(b_.lane_iota({Scalar::i32, 8}), 6)), 6);
  EXPECT_EQ(b_.extract(b_.insert(v, b_.i32(1), 2), 2), b_.i32(1));
  EXPECT_EQ(b_.extract(b_.insert(v, b_.i32(1), 2), 3), n_);
  EXPECT_EQ(b_.type(b_.add(v, n_)), (Type{Scalar::i32, 8}));
  EXPECT_EQ(b_.splat(n_, 1), n_);
  EXPECT_EQ(b_.type(b_.active_lane_mask(n_, 8)), (Type{Scalar::i1, 8}));
  EXPECT_EQ(b_.active_lane_mask(n_, 1), b_.slt(b_.i32(0), n_));
  const Value mask = b_.splat(b_.slt(n_, b_.i32(3)), 8);
  EXPECT_EQ(b_.any(mask), b_.slt(n_, b_.i32(3)));
}

TEST_F(BuilderTest, SharesEqualValuesInScopeOnly) {
  const Value one = b_.i32(1);
  const Value a = b_.add(n_, one);
  EXPECT_EQ(b_.add(one, n_), a);
  Value inside{};
  b_.if_then(b_.slt(n_, one), [&] {
    EXPECT_EQ(b_.add(n_, one), a);
    inside = b_.mul(n_, b_.i32(9));
  });
  EXPECT_NE(b_.mul(n_, b_.i32(9)), inside);
  EXPECT_NE(b_.load(kI32, p_, one, 4), b_.load(kI32, p_, one, 4));
}

TEST_F(BuilderTest, ConstantControlFlowDisappears) {
  const Value taken = b_.if_else(
      b_.i1(true), [&] { return Builder::Values{n_}; }, [&] { return Builder::Values{}; })[0];
  EXPECT_EQ(taken, n_);
  const auto once = b_.for_loop(b_.i32(3), b_.i32(4), b_.i32(1), {n_}, [&](Value i, auto carried) {
    return Builder::Values{b_.add(carried[0], i)};
  });
  EXPECT_EQ(once[0], b_.add(n_, b_.i32(3)));
  EXPECT_EQ(b_.for_loop(b_.i32(3), b_.i32(3), b_.i32(1), {n_}, nullptr)[0], n_);
}

TEST_F(BuilderTest, MasksFold) {
  const Value zero = b_.i32(0);
  const Type t{Scalar::f32, 8};
  const Value nothing = b_.constant(t, 0);
  EXPECT_EQ(b_.masked_load(t, p_, zero, b_.i1(false), nothing, 4), nothing);
  b_.masked_store(p_, zero, nothing, b_.i1(true), 4);
  b_.masked_store(p_, zero, nothing, b_.i1(false), 4);
  const std::string text = print(std::move(b_).finish());
  EXPECT_EQ(text.find("masked"), std::string::npos) << text;
  EXPECT_NE(text.find("store"), std::string::npos) << text;
}

TEST_F(BuilderTest, FinishDropsWhatIsUnused) {
  b_.fadd(x_, x_);
  b_.store(p_, b_.add(n_, b_.i32(0)), x_, 4);
  const Kernel k = std::move(b_).finish();
  EXPECT_EQ(print(k),
            "kernel @k(p: ptr<global> read write, n: i32, x: f32) group_size(1, 1, 1) {\n"
            "  %0 = param[0] : ptr<global>\n"
            "  %1 = param[1] : i32\n"
            "  %2 = param[2] : f32\n"
            "  store %0, %1, %2 align 4\n"
            "}\n");
  EXPECT_TRUE(verify(k, target_).empty());
}

TEST_F(BuilderTest, RefusesWrongTypes) {
  const auto message = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "nothing thrown";
  };
  EXPECT_EQ(message([&] { b_.add(n_, x_); }),
            "kernel builder: add wants two integers of one type; got i32, f32");
  EXPECT_EQ(message([&] { b_.fadd(n_, n_); }),
            "kernel builder: fadd wants two operands of one type, f32 or f64; got i32, i32");
  EXPECT_EQ(message([&] {
              b_.for_loop(n_, n_, n_, {x_}, [&](Value, auto) { return Builder::Values{n_}; });
            }),
            "kernel builder: the body of for yields i32 for a carried f32");
}

}  // namespace
}  // namespace primset::kir
