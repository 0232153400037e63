// Every operation on values, for every type and 1, 4 and 16 lanes, run as native code and compared
// with plain C++ over all combinations of special values.
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <optional>

#include <gtest/gtest.h>

#include "codegen/emit/llvm/testing/native_runner.h"
#include "codegen/kernel/ir/builder.h"

namespace primset::emit {
namespace {

using kir::Builder;
using kir::Op;
using kir::Scalar;
using kir::Type;
using kir::Value;

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

constexpr uint16_t kLanes[] = {1, 4, 16};
constexpr Scalar kInts[] = {Scalar::i8, Scalar::i16, Scalar::i32, Scalar::i64};

int64_t sign_extend(uint64_t v, int width) {
  return static_cast<int64_t>(v << (64 - width)) >> (64 - width);
}

// --- values to try, as bit patterns --------------------------------------------------------------

std::vector<uint64_t> int_values(int width) {
  const uint64_t top = uint64_t{1} << (width - 1);
  std::vector<uint64_t> v{0,
                          1,
                          2,
                          3,
                          7,
                          100,
                          top - 1,
                          top,
                          top + 1,
                          ~uint64_t{0},
                          ~uint64_t{0} - 1,
                          0x123456789abcdef1,
                          0xfedcba9876543210};
  for (uint64_t& x : v) x &= kir::low_bits(width);
  return v;
}

std::vector<uint64_t> float_values(Scalar s) {
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<uint64_t> out;
  if (s == Scalar::f16)
    return {0, 0x8000, 0x3c00, 0xbc01, 1, 0x83ff, 0x7bff, 0x7c00, 0xfc00, 0x7e00};
  for (double v : {0.0, 1.0, 1.5, 2.5, 0.5, 3.0, 1e-3, 1234567.75, 16777217.0, 1e20, 1e30, inf}) {
    for (double x : {v, -v}) {
      out.push_back(s == Scalar::f32 ? std::bit_cast<uint32_t>(static_cast<float>(x))
                                     : std::bit_cast<uint64_t>(x));
    }
  }
  const bool f32 = s == Scalar::f32;
  out.push_back(1);                                      // the least denormal
  out.push_back(f32 ? 0x807fffff : 0x800fffffffffffff);  // the greatest, negative
  out.push_back(f32 ? 0x7f7fffff : 0x7fefffffffffffff);  // the greatest number
  out.push_back(f32 ? 0x00800000 : 0x0010000000000000);  // the least normal
  out.push_back(f32 ? 0x7fc00000 : 0x7ff8000000000000);  // NaN
  out.push_back(f32 ? 0xffc12345 : 0xfff8000000012345);  // NaN with sign and payload
  return out;
}

std::vector<uint64_t> values_of(Scalar s) {
  return kir::is_float(s) ? float_values(s) : int_values(kir::width(s));
}

// --- arrays of one element type ------------------------------------------------------------------

std::vector<uint8_t> pack(const std::vector<uint64_t>& values, Scalar s) {
  const auto size = static_cast<size_t>(kir::bytes(s));
  std::vector<uint8_t> out(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(&out[i * size], &values[i], size);
  return out;
}

uint64_t unpack(const std::vector<uint8_t>& bytes, Scalar s, size_t i) {
  const auto size = static_cast<size_t>(kir::bytes(s));
  uint64_t v = 0;
  std::memcpy(&v, &bytes[i * size], size);
  return v;
}

bool is_nan(uint64_t v, Scalar s) {
  if (s == Scalar::f16) return (v & 0x7fff) > 0x7c00;
  return s == Scalar::f32 ? std::isnan(std::bit_cast<float>(static_cast<uint32_t>(v)))
                          : s == Scalar::f64 && std::isnan(std::bit_cast<double>(v));
}

using Apply = std::function<Value(Builder&, const std::vector<Value>&)>;
// Empty where the operation gives no defined result.
using Expect = std::function<std::optional<uint64_t>(const std::vector<uint64_t>&)>;

// Runs `apply` over rows of operands and compares each row's result. Truth values travel as i8.
void check(const std::string& what, const std::vector<Scalar>& in, Scalar out,
           std::vector<std::vector<uint64_t>> rows, uint16_t lanes, const Apply& apply,
           const Expect& expect, bool nan_bits_matter = false) {
  while (rows.size() % lanes != 0) rows.push_back(rows[0]);
  Builder b("k", native_model());
  std::vector<Value> pointers;
  for (size_t i = 0; i < in.size(); ++i) {
    pointers.push_back(b.pointer_param("in" + std::to_string(i), true, false));
  }
  const Scalar stored = out == Scalar::i1 ? Scalar::i8 : out;
  const Value result = b.pointer_param("out", false, true);
  const Value n = b.scalar_param("n", kir::kI64);
  b.for_loop(b.i64(0), n, b.i64(lanes), {}, [&](Value i, auto) {
    std::vector<Value> operands;
    for (size_t k = 0; k < in.size(); ++k) {
      const Scalar s = in[k] == Scalar::i1 ? Scalar::i8 : in[k];
      const auto align = static_cast<uint32_t>(kir::bytes(s));
      Value v = b.load({s, lanes}, pointers[k], i, align);
      operands.push_back(in[k] == Scalar::i1 ? b.trunc(v, Scalar::i1) : v);
    }
    Value v = apply(b, operands);
    if (out == Scalar::i1) v = b.zext(v, Scalar::i8);
    b.store(result, i, v, static_cast<uint32_t>(kir::bytes(stored)));
    return Builder::Values{};
  });
  std::vector<std::vector<uint8_t>> inputs;
  std::vector<const void*> addresses;
  for (size_t k = 0; k < in.size(); ++k) {
    std::vector<uint64_t> column;
    for (const auto& row : rows) column.push_back(row[k]);
    inputs.push_back(pack(column, in[k]));
  }
  std::vector<uint8_t> output(rows.size() * static_cast<size_t>(kir::bytes(stored)));
  for (const auto& v : inputs) addresses.push_back(v.data());
  addresses.push_back(output.data());
  NativeRunner(std::move(b).finish()).run(addresses, {rows.size()});
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto wanted = expect(rows[i]);
    if (!wanted) continue;
    const uint64_t got = unpack(output, stored, i);
    if (!nan_bits_matter && is_nan(*wanted, out) && is_nan(got, out)) continue;
    ASSERT_EQ(got, *wanted & kir::low_bits(kir::width(stored)))
        << what << " with " << lanes << " lanes of " << rows[i][0] << ", " << rows[i].back();
  }
}

std::vector<std::vector<uint64_t>> singles(Scalar s) {
  std::vector<std::vector<uint64_t>> rows;
  for (uint64_t a : values_of(s)) rows.push_back({a});
  return rows;
}
std::vector<std::vector<uint64_t>> pairs(Scalar s,
                                         const std::function<bool(uint64_t, uint64_t)>& keep) {
  std::vector<std::vector<uint64_t>> rows;
  for (uint64_t a : values_of(s)) {
    for (uint64_t b : values_of(s)) {
      if (keep(a, b)) rows.push_back({a, b});
    }
  }
  return rows;
}

// --- integers ------------------------------------------------------------------------------------

using Binary2 = Value (Builder::*)(Value, Value);
using Unary = Value (Builder::*)(Value);

struct IntCase {
  const char* name;
  Binary2 build;
  // x and y as unsigned, and the width.
  uint64_t (*expect)(uint64_t x, uint64_t y, int w);
  enum { Any, Divisor, SignedDivisor, Amount } domain = Any;
};

int64_t s(uint64_t v, int w) {
  return sign_extend(v, w);
}

const IntCase kIntCases[] = {
    {"add", &Builder::add, [](uint64_t x, uint64_t y, int) { return x + y; }},
    {"sub", &Builder::sub, [](uint64_t x, uint64_t y, int) { return x - y; }},
    {"mul", &Builder::mul, [](uint64_t x, uint64_t y, int) { return x * y; }},
    {"and", &Builder::and_, [](uint64_t x, uint64_t y, int) { return x & y; }},
    {"or", &Builder::or_, [](uint64_t x, uint64_t y, int) { return x | y; }},
    {"xor", &Builder::xor_, [](uint64_t x, uint64_t y, int) { return x ^ y; }},
    {"mul_hi_s", &Builder::mul_hi_s,
     [](uint64_t x, uint64_t y, int w) {
       return static_cast<uint64_t>((int128{s(x, w)} * s(y, w)) >> w);
     }},
    {"mul_hi_u", &Builder::mul_hi_u,
     [](uint64_t x, uint64_t y, int w) { return static_cast<uint64_t>((uint128{x} * y) >> w); }},
    {"sdiv", &Builder::sdiv,
     [](uint64_t x, uint64_t y, int w) { return static_cast<uint64_t>(s(x, w) / s(y, w)); },
     IntCase::SignedDivisor},
    {"srem", &Builder::srem,
     [](uint64_t x, uint64_t y, int w) { return static_cast<uint64_t>(s(x, w) % s(y, w)); },
     IntCase::SignedDivisor},
    {"udiv", &Builder::udiv, [](uint64_t x, uint64_t y, int) { return x / y; }, IntCase::Divisor},
    {"urem", &Builder::urem, [](uint64_t x, uint64_t y, int) { return x % y; }, IntCase::Divisor},
    {"shl", &Builder::shl, [](uint64_t x, uint64_t y, int) { return x << y; }, IntCase::Amount},
    {"lshr", &Builder::lshr, [](uint64_t x, uint64_t y, int) { return x >> y; }, IntCase::Amount},
    {"ashr", &Builder::ashr,
     [](uint64_t x, uint64_t y, int w) { return static_cast<uint64_t>(s(x, w) >> y); },
     IntCase::Amount},
};

TEST(NativeValuesTest, Integers) {
  for (const IntCase& c : kIntCases) {
    for (Scalar type : kInts) {
      const int w = kir::width(type);
      const auto keep = [&](uint64_t x, uint64_t y) {
        if (c.domain == IntCase::Amount) return y < static_cast<uint64_t>(w);
        if (c.domain != IntCase::Any && y == 0) return false;
        const bool overflows = x == uint64_t{1} << (w - 1) && y == kir::low_bits(w);
        return !(c.domain == IntCase::SignedDivisor && overflows);
      };
      for (uint16_t lanes : kLanes) {
        check(
            c.name + std::to_string(w), {type, type}, type, pairs(type, keep), lanes,
            [&](Builder& b, const auto& v) { return (b.*c.build)(v[0], v[1]); },
            [&](const auto& v) { return std::optional(c.expect(v[0], v[1], w)); });
      }
    }
  }
}

TEST(NativeValuesTest, LogicOnTruthValues) {
  const std::vector<std::vector<uint64_t>> rows{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  for (uint16_t lanes : kLanes) {
    const auto run = [&](const char* name, Binary2 build, auto f) {
      check(
          name, {Scalar::i1, Scalar::i1}, Scalar::i1, rows, lanes,
          [&](Builder& b, const auto& v) { return (b.*build)(v[0], v[1]); },
          [&](const auto& v) { return std::optional<uint64_t>(f(v[0], v[1])); });
    };
    run("and", &Builder::and_, [](auto x, auto y) { return x & y; });
    run("or", &Builder::or_, [](auto x, auto y) { return x | y; });
    run("xor", &Builder::xor_, [](auto x, auto y) { return x ^ y; });
    run("ieq", &Builder::ieq, [](auto x, auto y) { return x == y; });
  }
}

// --- floats --------------------------------------------------------------------------------------

template <typename T>
T from_bits(uint64_t v) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(static_cast<uint32_t>(v));
  } else {
    return std::bit_cast<T>(v);
  }
}
template <typename T>
uint64_t to_bits(T v) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<uint32_t>(v);
  } else {
    return std::bit_cast<uint64_t>(v);
  }
}

template <typename T>
void check_float_ops(Scalar type) {
  const auto all = [](uint64_t, uint64_t) { return true; };
  const auto binary = [&](const char* name, Binary2 build, T (*f)(T, T)) {
    for (uint16_t lanes : kLanes) {
      check(
          name, {type, type}, type, pairs(type, all), lanes,
          [&](Builder& b, const auto& v) { return (b.*build)(v[0], v[1]); },
          [&](const auto& v) {
            return std::optional(to_bits(f(from_bits<T>(v[0]), from_bits<T>(v[1]))));
          });
    }
  };
  binary("fadd", &Builder::fadd, [](T x, T y) { return x + y; });
  binary("fsub", &Builder::fsub, [](T x, T y) { return x - y; });
  binary("fmul", &Builder::fmul, [](T x, T y) { return x * y; });
  binary("fdiv", &Builder::fdiv, [](T x, T y) { return x / y; });
  const auto unary = [&](const char* name, Unary build, T (*f)(T), bool bits = false) {
    for (uint16_t lanes : kLanes) {
      check(
          name, {type}, type, singles(type), lanes,
          [&](Builder& b, const auto& v) { return (b.*build)(v[0]); },
          [&](const auto& v) { return std::optional(to_bits(f(from_bits<T>(v[0])))); }, bits);
    }
  };
  unary("fneg", &Builder::fneg, [](T x) { return -x; }, true);
  unary("fabs", &Builder::fabs, [](T x) { return std::fabs(x); }, true);
  unary("fsqrt", &Builder::fsqrt, [](T x) { return std::sqrt(x); });
  unary("ffloor", &Builder::ffloor, [](T x) { return std::floor(x); });
  unary("fceil", &Builder::fceil, [](T x) { return std::ceil(x); });
  unary("ftrunc", &Builder::ftrunc, [](T x) { return std::trunc(x); });
  unary("frint", &Builder::frint, [](T x) { return std::nearbyint(x); });
}

TEST(NativeValuesTest, Floats) {
  check_float_ops<float>(Scalar::f32);
  check_float_ops<double>(Scalar::f64);
}

// Two roundings, never one: the product's low bits are lost before the sum.
TEST(NativeValuesTest, NeverContracts) {
  for (uint16_t lanes : kLanes) {
    const double x = 1 + 0x1p-30;
    check(
        "x*x - 1", {Scalar::f64}, Scalar::f64, {{to_bits(x)}}, lanes,
        [](Builder& b, const auto& v) {
          return b.fsub(b.fmul(v[0], v[0]), b.constant_f(b.type(v[0]), 1));
        },
        [&](const auto&) { return std::optional(to_bits(0x1p-29)); });
  }
}

TEST(NativeValuesTest, Fma) {
  if (!native_model().fused_fma) GTEST_SKIP() << "this CPU has no fma";
  for (uint16_t lanes : kLanes) {
    check(
        "fma f64", {Scalar::f64, Scalar::f64}, Scalar::f64,
        pairs(Scalar::f64, [](auto, auto) { return true; }), lanes,
        [](Builder& b, const auto& v) { return b.fma(v[0], v[1], v[0]); },
        [](const auto& v) {
          const auto x = from_bits<double>(v[0]), y = from_bits<double>(v[1]);
          return std::optional(to_bits(std::fma(x, y, x)));
        });
    check(
        "fma f32", {Scalar::f32, Scalar::f32}, Scalar::f32,
        pairs(Scalar::f32, [](auto, auto) { return true; }), lanes,
        [](Builder& b, const auto& v) { return b.fma(v[0], v[1], v[1]); },
        [](const auto& v) {
          const auto x = from_bits<float>(v[0]), y = from_bits<float>(v[1]);
          return std::optional(to_bits(std::fma(x, y, y)));
        });
  }
}

// --- comparisons, choice -------------------------------------------------------------------------

TEST(NativeValuesTest, IntegerComparisons) {
  const auto all = [](uint64_t, uint64_t) { return true; };
  for (Scalar type : kInts) {
    const int w = kir::width(type);
    for (uint16_t lanes : kLanes) {
      const auto run = [&](const char* name, Binary2 build, auto f) {
        check(
            name + std::to_string(w), {type, type}, Scalar::i1, pairs(type, all), lanes,
            [&](Builder& b, const auto& v) { return (b.*build)(v[0], v[1]); },
            [&](const auto& v) { return std::optional<uint64_t>(f(v[0], v[1])); });
      };
      run("ieq", &Builder::ieq, [](auto x, auto y) { return x == y; });
      run("ine", &Builder::ine, [](auto x, auto y) { return x != y; });
      run("ult", &Builder::ult, [](auto x, auto y) { return x < y; });
      run("ule", &Builder::ule, [](auto x, auto y) { return x <= y; });
      run("slt", &Builder::slt, [w](auto x, auto y) { return s(x, w) < s(y, w); });
      run("sle", &Builder::sle, [w](auto x, auto y) { return s(x, w) <= s(y, w); });
    }
  }
}

template <typename T>
void check_float_comparisons(Scalar type) {
  const auto all = [](uint64_t, uint64_t) { return true; };
  for (uint16_t lanes : kLanes) {
    const auto run = [&](const char* name, Binary2 build, bool (*f)(T, T)) {
      check(
          name, {type, type}, Scalar::i1, pairs(type, all), lanes,
          [&](Builder& b, const auto& v) { return (b.*build)(v[0], v[1]); },
          [&](const auto& v) {
            return std::optional<uint64_t>(f(from_bits<T>(v[0]), from_bits<T>(v[1])));
          });
    };
    run("feq", &Builder::feq, [](T x, T y) { return x == y; });
    run("fne", &Builder::fne, [](T x, T y) { return x != y; });
    run("flt", &Builder::flt, [](T x, T y) { return x < y; });
    run("fle", &Builder::fle, [](T x, T y) { return x <= y; });
  }
}

TEST(NativeValuesTest, FloatComparisons) {
  check_float_comparisons<float>(Scalar::f32);
  check_float_comparisons<double>(Scalar::f64);
}

TEST(NativeValuesTest, Select) {
  for (Scalar type :
       {Scalar::i8, Scalar::i16, Scalar::i32, Scalar::i64, Scalar::f32, Scalar::f64}) {
    const auto rows = pairs(type, [](auto, auto) { return true; });
    for (uint16_t lanes : kLanes) {
      check(
          "select by lane", {type, type}, type, rows, lanes,
          [&](Builder& b, const auto& v) {
            const bool f = kir::is_float(type);
            return b.select(f ? b.flt(v[0], v[1]) : b.ult(v[0], v[1]), v[0], v[1]);
          },
          [&](const auto& v) {
            const bool less = type == Scalar::f32 ? from_bits<float>(v[0]) < from_bits<float>(v[1])
                              : type == Scalar::f64
                                  ? from_bits<double>(v[0]) < from_bits<double>(v[1])
                                  : v[0] < v[1];
            return std::optional(less ? v[0] : v[1]);
          },
          true);
      check(
          "select whole", {type, type}, type, rows, lanes,
          [&](Builder& b, const auto& v) {
            const Value c = b.ieq(
                b.bitcast(b.extract(v[0], 0),
                          kInts[std::countr_zero(static_cast<unsigned>(kir::bytes(type)))]),
                b.constant({kInts[std::countr_zero(static_cast<unsigned>(kir::bytes(type)))]}, -1));
            return b.select(c, v[0], v[1]);
          },
          [&](const auto& v) {
            return lanes == 1 ? std::optional(v[0] == kir::low_bits(kir::width(type)) ? v[0] : v[1])
                              : std::nullopt;
          },
          true);
    }
  }
}

// --- conversions ---------------------------------------------------------------------------------

TEST(NativeValuesTest, IntegerConversions) {
  for (Scalar from : {Scalar::i1, Scalar::i8, Scalar::i16, Scalar::i32, Scalar::i64}) {
    for (Scalar to : {Scalar::i1, Scalar::i8, Scalar::i16, Scalar::i32, Scalar::i64}) {
      const int wf = kir::width(from), wt = kir::width(to);
      const auto rows =
          from == Scalar::i1 ? std::vector<std::vector<uint64_t>>{{0}, {1}} : singles(from);
      for (uint16_t lanes : kLanes) {
        for (bool sign : {false, true}) {
          check(
              "resize " + std::to_string(wf) + " to " + std::to_string(wt), {from}, to, rows, lanes,
              [&](Builder& b, const auto& v) { return b.int_resize(v[0], to, sign); },
              [&](const auto& v) {
                const uint64_t x = sign ? static_cast<uint64_t>(s(v[0], wf)) : v[0];
                return std::optional(x & kir::low_bits(wt));
              });
        }
      }
    }
  }
}

template <typename T>
void check_int_float(Scalar real) {
  for (Scalar integer : kInts) {
    const int w = kir::width(integer);
    for (uint16_t lanes : kLanes) {
      check(
          "sitofp", {integer}, real, singles(integer), lanes,
          [&](Builder& b, const auto& v) { return b.sitofp(v[0], real); },
          [&](const auto& v) { return std::optional(to_bits(static_cast<T>(s(v[0], w)))); });
      check(
          "uitofp", {integer}, real, singles(integer), lanes,
          [&](Builder& b, const auto& v) { return b.uitofp(v[0], real); },
          [&](const auto& v) { return std::optional(to_bits(static_cast<T>(v[0]))); });
      const auto to_int = [&](bool sign) {
        return [=](const std::vector<uint64_t>& v) -> std::optional<uint64_t> {
          const double x = std::trunc(static_cast<double>(from_bits<T>(v[0])));
          const double low = sign ? -std::ldexp(1, w - 1) : 0,
                       high = std::ldexp(1, sign ? w - 1 : w);
          if (!(x >= low && x < high)) return std::nullopt;
          return sign ? static_cast<uint64_t>(static_cast<int64_t>(x)) : static_cast<uint64_t>(x);
        };
      };
      check(
          "fptosi", {real}, integer, singles(real), lanes,
          [&](Builder& b, const auto& v) { return b.fptosi(v[0], integer); }, to_int(true));
      check(
          "fptoui", {real}, integer, singles(real), lanes,
          [&](Builder& b, const auto& v) { return b.fptoui(v[0], integer); }, to_int(false));
    }
  }
}

TEST(NativeValuesTest, IntegerToAndFromFloat) {
  check_int_float<float>(Scalar::f32);
  check_int_float<double>(Scalar::f64);
}

TEST(NativeValuesTest, FloatConversions) {
  for (uint16_t lanes : kLanes) {
    check(
        "fpext", {Scalar::f32}, Scalar::f64, singles(Scalar::f32), lanes,
        [](Builder& b, const auto& v) { return b.fpext(v[0], Scalar::f64); },
        [](const auto& v) { return std::optional(to_bits(double{from_bits<float>(v[0])})); });
    check(
        "fptrunc", {Scalar::f64}, Scalar::f32, singles(Scalar::f64), lanes,
        [](Builder& b, const auto& v) { return b.fptrunc(v[0], Scalar::f32); },
        [](const auto& v) {
          return std::optional(to_bits(static_cast<float>(from_bits<double>(v[0]))));
        });
    check(
        "bitcast", {Scalar::f32}, Scalar::i32, singles(Scalar::f32), lanes,
        [](Builder& b, const auto& v) { return b.bitcast(v[0], Scalar::i32); },
        [](const auto& v) { return std::optional(v[0]); });
    check(
        "bitcast", {Scalar::i64}, Scalar::f64, singles(Scalar::i64), lanes,
        [](Builder& b, const auto& v) { return b.bitcast(v[0], Scalar::f64); },
        [](const auto& v) { return std::optional(v[0]); }, true);
  }
}

TEST(NativeValuesTest, Halves) {
  if (!native_model().f16) GTEST_SKIP() << "this CPU has no f16c";
  for (uint16_t lanes : kLanes) {
    check(
        "f16 to f32", {Scalar::f16}, Scalar::f32, singles(Scalar::f16), lanes,
        [](Builder& b, const auto& v) { return b.fpext(v[0], Scalar::f32); },
        [](const auto& v) {
          const auto h = std::bit_cast<_Float16>(static_cast<uint16_t>(v[0]));
          return std::optional(to_bits(static_cast<float>(h)));
        });
    check(
        "f32 to f16", {Scalar::f32}, Scalar::f16, singles(Scalar::f32), lanes,
        [](Builder& b, const auto& v) { return b.fptrunc(v[0], Scalar::f16); },
        [](const auto& v) {
          const auto h = static_cast<_Float16>(from_bits<float>(v[0]));
          return std::optional<uint64_t>(std::bit_cast<uint16_t>(h));
        });
  }
}

}  // namespace
}  // namespace primset::emit
