// Expressions that compilers like to simplify, on a Vulkan device against the interpreter of kernel
// IR: constants that look neutral, a value with itself, comparisons that look like min and max.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "codegen/emit/spirv/testing/reference_ops.h"
#include "codegen/emit/spirv/testing/vulkan_harness.h"
#include "codegen/kernel/interpreter/interpreter.h"
#include "codegen/kernel/ir/builder.h"
#include "codegen/kernel/math/math.h"

namespace primset::emit::testing {
namespace {

using Buffer = VulkanHarness::Buffer;
using kir::Builder;
using kir::Kernel;
using kir::Op;
using kir::Scalar;
using kir::Type;
using kir::Value;

constexpr uint32_t kPatternThreads = 64;
constexpr size_t kPatternElements = 1024;

// x and y are loaded; the result has their type.
struct Pattern {
  std::string name;
  std::function<Value(Builder&, Value x, Value y)> make;
};

std::vector<Pattern> constant_patterns() {
  using Binary = Value (Builder::*)(Value, Value);
  const std::pair<const char*, Binary> ops[] = {
      {"+", &Builder::fadd}, {"-", &Builder::fsub}, {"*", &Builder::fmul}, {"/", &Builder::fdiv}};
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<Pattern> patterns;
  for (double c : {0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -2.0, 4.0, infinity, -infinity}) {
    for (const auto& [name, op] : ops) {
      const std::string text =
          std::signbit(c) ? "(-" + std::to_string(-c) + ")" : std::to_string(c);
      patterns.push_back({"x " + std::string(name) + " " + text, [=](Builder& b, Value x, Value) {
                            return (b.*op)(x, b.constant_f(b.type(x), c));
                          }});
      patterns.push_back({text + " " + name + " x", [=](Builder& b, Value x, Value) {
                            return (b.*op)(b.constant_f(b.type(x), c), x);
                          }});
    }
  }
  return patterns;
}

Value one(Builder& b, Value x) {
  return b.constant(b.type(x), 1);
}

#define PATTERN(expression)                         \
  Pattern {                                         \
    #expression, [](Builder& b, Value x, Value y) { \
      (void)y;                                      \
      return expression;                            \
    }                                               \
  }

std::vector<Pattern> algebra_patterns() {
  return {
      PATTERN(b.fsub(x, x)),
      PATTERN(b.fdiv(x, x)),
      PATTERN(b.fadd(x, b.fneg(x))),
      PATTERN(b.fneg(b.fneg(x))),
      PATTERN(b.fabs(b.fneg(x))),
      PATTERN(b.fneg(b.fabs(x))),
      PATTERN(b.fneg(b.fsub(x, y))),
      PATTERN(b.fneg(b.fadd(x, y))),
      PATTERN(b.fneg(b.fmul(x, y))),
      PATTERN(b.fsub(b.fneg(x), y)),
      PATTERN(b.fmul(b.fneg(x), b.fneg(y))),
      PATTERN(b.fmul(b.fabs(x), b.fabs(y))),
      PATTERN(b.fsub(b.fmul(x, y), b.fmul(x, y))),
      PATTERN(b.fadd(b.fmul(x, y), b.fmul(x, x))),
      PATTERN(b.fadd(b.fsub(x, y), y)),
      PATTERN(b.fsub(b.fadd(x, y), x)),
      PATTERN(b.fmul(b.fdiv(x, y), y)),
      PATTERN(b.fdiv(b.fmul(x, y), y)),
      PATTERN(b.fdiv(one(b, x), b.fdiv(one(b, x), x))),
      PATTERN(b.fdiv(one(b, x), b.fsqrt(x))),
      PATTERN(b.fmul(b.fsqrt(x), b.fsqrt(x))),
      PATTERN(b.fsqrt(b.fmul(x, x))),
      PATTERN(b.fsub(x, b.ffloor(x))),
      PATTERN(b.fneg(b.ffloor(b.fneg(x)))),
      PATTERN(b.ftrunc(b.ffloor(x))),
      PATTERN(b.fadd(b.fmul(x, b.constant_f(b.type(x), 2)), x)),
      PATTERN(b.fmul(b.fmul(x, b.constant_f(b.type(x), 3)), b.constant_f(b.type(x), 7))),
      PATTERN(b.fadd(b.fadd(x, b.constant_f(b.type(x), 1e-8)), b.constant_f(b.type(x), 1))),
      PATTERN(b.fdiv(x, b.constant_f(b.type(x), 3))),
      PATTERN(b.fmul(b.fadd(x, y), b.fadd(x, y))),
      PATTERN(b.fsub(b.fmul(x, b.constant_f(b.type(x), 0)), y)),
  };
}

// Zeros that a compiler can compute.
std::vector<Pattern> zero_patterns() {
  return {
      PATTERN(b.fdiv(x, b.fsub(one(b, x), one(b, x)))),
      PATTERN(b.fmul(x, b.fsub(one(b, x), one(b, x)))),
      PATTERN(b.fadd(x, b.fneg(b.fsub(one(b, x), one(b, x))))),
      PATTERN(b.fdiv(x, b.sitofp(b.i32(0), b.type(x).scalar))),
      PATTERN(b.fmul(x, b.sitofp(b.i32(0), b.type(x).scalar))),
  };
}

// Choices that look like min, max, abs, clamp.
std::vector<Pattern> choice_patterns() {
  return {
      PATTERN(b.select(b.flt(x, y), x, y)),
      PATTERN(b.select(b.flt(x, y), y, x)),
      PATTERN(b.select(b.fle(x, y), x, y)),
      PATTERN(b.select(b.fle(x, y), y, x)),
      PATTERN(b.select(b.flt(x, b.constant(b.type(x), 0)), b.constant(b.type(x), 0), x)),
      PATTERN(b.select(b.flt(b.constant(b.type(x), 0), x), x, b.constant(b.type(x), 0))),
      PATTERN(b.select(b.flt(x, b.constant(b.type(x), 0)), b.fneg(x), x)),
      PATTERN(b.select(b.flt(x, b.constant(b.type(x), 0)), b.constant(b.type(x), 0),
                       b.select(b.flt(one(b, x), x), one(b, x), x))),
      PATTERN(b.select(b.fne(x, x), y, x)),
      PATTERN(b.select(b.feq(x, y), x, y)),
      PATTERN(b.select(b.feq(x, b.constant(b.type(x), 0)), b.constant(b.type(x), 0), x)),
      PATTERN(b.select(b.feq(x, x), one(b, x), y)),
      PATTERN(b.select(b.flt(x, x), one(b, x), y)),
      PATTERN(b.select(b.fle(x, x), one(b, x), y)),
      PATTERN(b.select(b.not_(b.flt(x, y)), x, y)),
      PATTERN(b.select(b.not_(b.fle(x, y)), x, y)),
      PATTERN(b.select(b.not_(b.feq(x, y)), x, y)),
      PATTERN(b.select(b.not_(b.fne(x, y)), x, y)),
      PATTERN(b.select(b.flt(b.fneg(x), b.fneg(y)), x, y)),
      PATTERN(b.select(b.flt(b.fabs(x), b.constant(b.type(x), 0)), x, y)),
      PATTERN(b.select(b.fle(b.constant(b.type(x), 0), b.fabs(x)), one(b, x), y)),
      PATTERN(b.select(b.fle(b.constant(b.type(x), 0), b.fmul(x, x)), one(b, x), y)),
      PATTERN(b.select(b.feq(b.fmul(x, x), b.constant(b.type(x), 0)), one(b, x), y)),
      PATTERN(b.select(b.flt(b.fadd(x, one(b, x)), b.fadd(y, one(b, x))), x, y)),
      PATTERN(b.select(b.fle(b.fadd(x, one(b, x)), one(b, x)), one(b, x), y)),
      PATTERN(b.select(b.and_(b.feq(x, x), b.feq(y, y)), x, y)),
      PATTERN(b.select(b.or_(b.flt(x, y), b.flt(y, x)), one(b, x), y)),
      PATTERN(b.select(b.and_(b.fle(x, y), b.fle(y, x)), one(b, x), y)),
      PATTERN(b.fmul(b.select(b.flt(x, y), one(b, x), b.constant(b.type(x), 0)), x)),
      PATTERN(b.fadd(b.select(b.flt(x, y), one(b, x), b.constant(b.type(x), 0)), x)),
  };
}

// Roundings in between.
std::vector<Pattern> rounding_patterns() {
  return {
      PATTERN(b.type(x) == kir::kF64 ? b.fpext(b.fptrunc(x, Scalar::f32), Scalar::f64)
                                     : b.fptrunc(b.fpext(x, Scalar::f64), Scalar::f32)),
      PATTERN(b.type(x) == kir::kF32 ? b.fpext(b.fptrunc(x, Scalar::f16), Scalar::f32) : x),
      PATTERN(b.bitcast(b.xor_(b.bitcast(x, b.type(x) == kir::kF32 ? Scalar::i32 : Scalar::i64),
                               b.bitcast(y, b.type(x) == kir::kF32 ? Scalar::i32 : Scalar::i64)),
                        b.type(x).scalar)),
      PATTERN(b.fsub(b.fadd(x, b.constant_f(b.type(x), 12582912.0)),
                     b.constant_f(b.type(x), 12582912.0))),
      PATTERN(
          b.sitofp(b.fptosi(b.select(b.flt(b.fabs(x), b.constant(b.type(x), 1000)), x, one(b, x)),
                            Scalar::i32),
                   b.type(x).scalar)),
  };
}

#undef PATTERN

// Zeros that only the driver's compiler finds.
std::vector<Pattern> loop_patterns() {
  const auto looped = [](Value (*body)(Builder&, Value x, Value k, Value sum), double first) {
    return [=](Builder& b, Value x, Value) {
      return b.for_loop(b.i32(0), b.i32(3), b.i32(1), {b.constant_f(b.type(x), first)},
                        [&](Value k, std::span<const Value> sum) {
                          return Builder::Values{body(b, x, k, sum[0])};
                        })[0];
    };
  };
  const auto times_counter = [](Builder& b, Value x, Value k, Value sum) {
    return b.fadd(sum, b.fmul(x, b.sitofp(k, b.type(x).scalar)));
  };
  const auto sum = [](Builder& b, Value x, Value, Value sum) { return b.fadd(sum, x); };
  const auto product = [](Builder& b, Value x, Value, Value sum) { return b.fmul(sum, x); };
  return {{"sum of x * k from 0", looped(times_counter, 0.0)},
          {"sum of x * k from 1", looped(times_counter, 1.0)},
          {"sum of x from 0", looped(sum, 0.0)},
          {"sum of x from -0", looped(sum, -0.0)},
          {"product of x from 0", looped(product, 0.0)},
          {"product of x from 1", looped(product, 1.0)}};
}

std::vector<Pattern> math_patterns() {
#define PATTERN(expression)                          \
  Pattern {                                          \
    #expression, [=](Builder& b, Value x, Value y) { \
      (void)y;                                       \
      return kir::math::expression;                  \
    }                                                \
  }
  return {PATTERN(exp(b, x)),       PATTERN(exp2(b, x)),    PATTERN(expm1(b, x)),
          PATTERN(log(b, x)),       PATTERN(log2(b, x)),    PATTERN(log10(b, x)),
          PATTERN(log1p(b, x)),     PATTERN(sin(b, x)),     PATTERN(cos(b, x)),
          PATTERN(tan(b, x)),       PATTERN(atan(b, x)),    PATTERN(atan2(b, x, y)),
          PATTERN(tanh(b, x)),      PATTERN(erf(b, x)),     PATTERN(erfc(b, x)),
          PATTERN(pow(b, x, y)),    PATTERN(div(b, x, y)),  PATTERN(sqrt(b, x)),
          PATTERN(fma(b, x, y, x)), PATTERN(fmod(b, x, y)), PATTERN(min_nan(b, x, y)),
          PATTERN(max_nan(b, x, y))};
#undef PATTERN
}

// The integers' own.
std::vector<Pattern> integer_patterns() {
#define PATTERN(expression)                          \
  Pattern {                                          \
    #expression, [=](Builder& b, Value x, Value y) { \
      (void)y;                                       \
      return expression;                             \
    }                                                \
  }
  const auto k = [](Builder& b, Value x, int64_t v) { return b.constant(b.type(x), v); };
  const auto wide = [](Builder& b, Value x) { return b.int_resize(x, Scalar::i64, true); };
  const auto sign = [wide](Builder& b, Value x) {  // of the widened x
    const Value w = wide(b, x), zero = b.i64(0), one = b.i64(1);
    const Value below = b.select(b.slt(w, zero), zero, one);
    return b.int_resize(b.select(b.slt(zero, w), one, below), b.type(x).scalar, true);
  };
  return {
      PATTERN(b.sdiv(x, k(b, x, 3))),
      PATTERN(b.srem(x, k(b, x, 3))),
      PATTERN(b.sdiv(x, k(b, x, 8))),
      PATTERN(b.srem(x, k(b, x, 8))),
      PATTERN(b.sdiv(x, k(b, x, -5))),
      PATTERN(b.srem(x, k(b, x, -8))),
      PATTERN(b.udiv(x, k(b, x, 7))),
      PATTERN(b.urem(x, k(b, x, 7))),
      PATTERN(b.udiv(x, k(b, x, 16))),
      PATTERN(b.urem(x, k(b, x, 16))),
      PATTERN(b.udiv(x, k(b, x, -1))),
      PATTERN(b.mul(x, k(b, x, 12))),
      PATTERN(b.shl(b.lshr(x, k(b, x, 3)), k(b, x, 3))),
      PATTERN(b.ashr(b.shl(x, k(b, x, 4)), k(b, x, 4))),
      PATTERN(b.sub(x, x)),
      PATTERN(b.xor_(x, x)),
      PATTERN(b.sub(b.add(x, y), y)),
      PATTERN(b.select(b.slt(x, y), x, y)),
      PATTERN(b.select(b.ult(x, y), x, y)),
      PATTERN(b.select(b.slt(x, k(b, x, 0)), b.sub(k(b, x, 0), x), x)),
      PATTERN(b.select(b.slt(b.add(x, k(b, x, 1)), x), k(b, x, 1), y)),
      // Comparisons of what was widened.
      PATTERN(sign(b, x)),
      PATTERN(b.select(b.slt(wide(b, x), b.i64(0)), k(b, x, 3), y)),
      PATTERN(b.select(b.slt(b.i64(0), wide(b, x)), k(b, x, 3), y)),
      PATTERN(b.select(b.sle(wide(b, x), b.i64(5)), k(b, x, 3), y)),
      PATTERN(b.select(b.slt(wide(b, x), b.i64(int64_t{1} << 40)), k(b, x, 3), y)),
      PATTERN(b.select(b.slt(wide(b, x), wide(b, y)), x, y)),
      PATTERN(b.select(b.ult(wide(b, x), wide(b, y)), x, y)),
      PATTERN(b.select(b.ult(wide(b, x), b.i64(5)), k(b, x, 3), y)),
      PATTERN(b.select(b.ieq(wide(b, x), b.i64(-1)), k(b, x, 3), y)),
      PATTERN(b.mul_hi_u(x, k(b, x, 77))),
      PATTERN(b.mul_hi_s(x, k(b, x, -77))),
      PATTERN(b.or_(b.shl(x, k(b, x, 3)), b.lshr(x, k(b, x, kir::width(b.type(x).scalar) - 3)))),
  };
#undef PATTERN
}

class VulkanPatterns : public ::testing::Test {
 protected:
  void SetUp() override {
    vulkan_ = VulkanHarness::get();
    if (vulkan_ == nullptr) GTEST_SKIP() << "no Vulkan device";
  }

  void check(const std::vector<Pattern>& patterns, Scalar s) {
    constexpr size_t kBatch = 20;
    for (size_t first = 0; first < patterns.size(); first += kBatch) {
      check_batch(std::span(patterns).subspan(first, std::min(kBatch, patterns.size() - first)), s);
      vulkan_->free_buffers();
    }
  }

  Kernel build(std::span<const Pattern> patterns, Scalar s) const {
    Builder b("patterns", vulkan_->target());
    const Value x_pointer = b.pointer_param("x", true, false),
                y_pointer = b.pointer_param("y", true, false),
                out = b.pointer_param("out", false, true);
    b.set_group_size(kPatternThreads);
    const Value i = b.add(b.mul(b.group_id(0), b.i32(kPatternThreads)), b.local_id(0));
    const auto align = static_cast<uint32_t>(kir::bytes(s));
    const Value x = b.load({s}, x_pointer, i, align), y = b.load({s}, y_pointer, i, align);
    for (size_t p = 0; p < patterns.size(); ++p) {
      const Value at = b.add(i, b.i32(static_cast<int64_t>(p * kPatternElements)));
      b.store(out, at, patterns[p].make(b, x, y), align);
    }
    return std::move(b).finish();
  }

  void check_batch(std::span<const Pattern> patterns, Scalar s) {
    const Kernel kernel = build(patterns, s);
    const auto size = static_cast<size_t>(kir::bytes(s));
    const auto xs = interesting_values(s, 251, 31), ys = interesting_values(s, 97, 37);
    const Buffer x = vulkan_->buffer(kPatternElements * size),
                 y = vulkan_->buffer(kPatternElements * size),
                 out = vulkan_->buffer(kPatternElements * size * patterns.size());
    for (size_t i = 0; i < kPatternElements; ++i) {
      std::memcpy(x.bytes.data() + i * size, &xs[i % xs.size()], size);
      std::memcpy(y.bytes.data() + i * size, &ys[i % ys.size()], size);
    }
    vulkan_->launch(kernel, {x.address, y.address, out.address},
                    {kPatternElements / kPatternThreads, 1, 1});
    std::vector<std::byte> expected(out.bytes.size());
    kir::InterpreterBuffer buffers[] = {{x.bytes, {}}, {y.bytes, {}}, {expected, {}}};
    kir::InterpreterOptions options;
    options.groups = {kPatternElements / kPatternThreads, 1, 1};
    kir::interpret(kernel, buffers, {}, options);
    for (size_t p = 0; p < patterns.size(); ++p) {
      size_t wrong = 0;
      std::string first;
      for (size_t i = 0; i < kPatternElements; ++i) {
        uint64_t want = 0, seen = 0;
        std::memcpy(&want, &expected[(p * kPatternElements + i) * size], size);
        std::memcpy(&seen, &out.bytes[(p * kPatternElements + i) * size], size);
        if (same_result(Op::FAdd, s, want, seen)) continue;
        std::ostringstream text;
        text << std::hex << "x " << xs[i % xs.size()] << ", y " << ys[i % ys.size()]
             << ": expected " << want << ", got " << seen;
        if (wrong++ == 0) first = text.str();
      }
      EXPECT_EQ(wrong, 0u) << kir::name(s) << ": " << patterns[p].name << "; " << first;
    }
  }

  VulkanHarness* vulkan_ = nullptr;
};

TEST_F(VulkanPatterns, FloatConstants) {
  for (Scalar s : {Scalar::f32, Scalar::f64}) check(constant_patterns(), s);
}

TEST_F(VulkanPatterns, FloatAlgebra) {
  for (Scalar s : {Scalar::f32, Scalar::f64}) {
    for (const auto& patterns :
         {algebra_patterns, zero_patterns, choice_patterns, rounding_patterns})
      check(patterns(), s);
  }
}

TEST_F(VulkanPatterns, FloatLoops) {
  for (Scalar s : {Scalar::f32, Scalar::f64}) check(loop_patterns(), s);
}

// Large kernels with every kind of control flow, and the reason for all of the above.
TEST_F(VulkanPatterns, MathLibrary) {
  for (Scalar s : {Scalar::f32, Scalar::f64}) {
    for (const Pattern& p : math_patterns()) check({p}, s);
  }
}

TEST_F(VulkanPatterns, Integers) {
  for (Scalar s : {Scalar::i8, Scalar::i16, Scalar::i32, Scalar::i64}) check(integer_patterns(), s);
}

}  // namespace
}  // namespace primset::emit::testing
