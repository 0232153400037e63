// Correctly rounded and exact functions, bit for bit against the C library.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "codegen/kernel/math/math.h"
#include "codegen/kernel/math/testing/accuracy.h"

namespace primset::kir::math_test {
namespace {

using Arrays = std::vector<std::vector<uint64_t>>;

template <class T>
uint64_t to_bits(T v) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<uint32_t>(v);
  } else {
    return std::bit_cast<uint64_t>(v);
  }
}
template <class T>
T from_bits(uint64_t bits) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(static_cast<uint32_t>(bits));
  } else {
    return std::bit_cast<T>(bits);
  }
}
template <class T>
constexpr Scalar kScalar = sizeof(T) == 4 ? Scalar::f32 : Scalar::f64;

// Specials in all combinations would be too many for three arguments: they are drawn often instead.
template <class T>
T draw(std::mt19937_64& random) {
  using L = std::numeric_limits<T>;
  static const T kSpecials[] = {
      0,        L::denorm_min(), L::min(),      L::min() - L::denorm_min(), 1, 1 + L::epsilon(), 3,
      L::max(), L::infinity(),   L::quiet_NaN()};
  const bool negative = random() & 1;
  T v;
  switch (random() % 6) {
    case 0:
      v = kSpecials[random() % std::size(kSpecials)];
      break;
    case 1:  // few bits, so that results are exact or ties
      v = std::ldexp(static_cast<T>(random() % 64), static_cast<int>(random() % 20) - 10);
      break;
    case 2:  // few bits, near the denormals
      v = std::ldexp(static_cast<T>(random() % 4096),
                     L::min_exponent - L::digits - 8 + static_cast<int>(random() % 24));
      break;
    case 3:
      v = from_bits<T>(random() >> (64 - 8 * sizeof(T)));
      break;
    default:
      v = std::ldexp(static_cast<T>(1) + static_cast<T>(random() >> 40) * L::epsilon(),
                     static_cast<int>(random() % 40) - 20);
  }
  return negative ? -v : v;
}

template <class T>
Arrays drawn(size_t arguments, size_t count) {
  std::mt19937_64 random(1234567);
  Arrays out(arguments);
  for (size_t i = 0; i < count; ++i) {
    for (auto& a : out) a.push_back(to_bits(draw<T>(random)));
  }
  return out;
}

template <class T, class Reference>
void expect_exact(const Function& f, const Arrays& arguments, Reference reference) {
  for (const Device& device : devices()) {
    if (sizeof(T) == 8 && !device.target.f64) continue;
    for (uint16_t lanes : {1, 16}) {
      const auto results = evaluate(device, f, kScalar<T>, kScalar<T>, lanes, arguments);
      int failures = 0;
      for (size_t i = 0; i < results.size() && failures < 5; ++i) {
        const T expected = reference(i), got = from_bits<T>(results[i]);
        if (std::isnan(expected) && std::isnan(got)) continue;
        if (to_bits(expected) == results[i]) continue;
        ++failures;
        std::string at;
        for (const auto& a : arguments) {
          char text[40];
          std::snprintf(text, sizeof text, " %a", static_cast<double>(from_bits<T>(a[i])));
          at += text;
        }
        ADD_FAILURE() << device.name << " lanes " << lanes << " at" << at << ": got "
                      << std::hexfloat << got << ", expected " << expected;
      }
    }
  }
}

template <class T>
class Exact : public testing::Test {
 protected:
  static constexpr size_t kCount = 40000;
  T at(const std::vector<uint64_t>& a, size_t i) const { return from_bits<T>(a[i]); }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Exact, Types);

TYPED_TEST(Exact, Fma) {
  const Arrays x = drawn<TypeParam>(3, this->kCount);
  expect_exact<TypeParam>(
      [](Builder& b, const std::vector<Value>& v) { return math::fma(b, v[0], v[1], v[2]); }, x,
      [&](size_t i) { return std::fma(this->at(x[0], i), this->at(x[1], i), this->at(x[2], i)); });
}

// z close to -x*y, where one rounding and two differ most.
TYPED_TEST(Exact, FmaOfCancellingTerms) {
  Arrays x = drawn<TypeParam>(3, this->kCount);
  for (size_t i = 0; i < this->kCount; ++i) {
    x[2][i] = to_bits(-(this->at(x[0], i) * this->at(x[1], i)));
    if (i % 3 == 0) x[2][i] += i % 7;
  }
  expect_exact<TypeParam>(
      [](Builder& b, const std::vector<Value>& v) { return math::fma(b, v[0], v[1], v[2]); }, x,
      [&](size_t i) { return std::fma(this->at(x[0], i), this->at(x[1], i), this->at(x[2], i)); });
}

TYPED_TEST(Exact, Div) {
  const Arrays x = drawn<TypeParam>(2, this->kCount);
  expect_exact<TypeParam>(
      [](Builder& b, const std::vector<Value>& v) { return math::div(b, v[0], v[1]); }, x,
      [&](size_t i) { return this->at(x[0], i) / this->at(x[1], i); });
}

// Divisors whose reciprocals are the hardest to round: next to a power of two from below. Dividends
// next to multiples of theirs.
TYPED_TEST(Exact, DivByAlmostAPowerOfTwo) {
  using L = std::numeric_limits<TypeParam>;
  Arrays x = drawn<TypeParam>(2, this->kCount);
  for (size_t i = 0; i < this->kCount; ++i) {
    x[1][i] =
        to_bits(static_cast<TypeParam>(2) - static_cast<TypeParam>(1 + i % 16) * L::epsilon());
    if (i % 3 == 0) continue;
    const TypeParam v = this->at(x[1], i) * (1 + static_cast<TypeParam>(i) * L::epsilon() / 2);
    x[0][i] = to_bits(v) + i % 5 - 2;
  }
  // Found by trying all: wrong with one step of Newton's less.
  for (const auto [a, y] : {std::pair{0x1.e38e28p-1, 2 - 0x9p-23},
                            {0x1.db6daap-1, 2 - 0x7p-23},
                            {0x1.ccccc4p-1, 2 - 0x5p-23},
                            {0x1p0, 2 - 0x1p-23}}) {
    x[0].push_back(to_bits(static_cast<TypeParam>(a)));
    x[1].push_back(to_bits(static_cast<TypeParam>(y)));
  }
  expect_exact<TypeParam>(
      [](Builder& b, const std::vector<Value>& v) { return math::div(b, v[0], v[1]); }, x,
      [&](size_t i) { return this->at(x[0], i) / this->at(x[1], i); });
}

TYPED_TEST(Exact, Sqrt) {
  Arrays x = drawn<TypeParam>(1, this->kCount);
  for (size_t i = 0; i < this->kCount / 4; ++i) {  // squares and their neighbours
    const TypeParam v = this->at(x[0], i);
    x[0][i] = to_bits(v * v) + i % 3;
  }
  expect_exact<TypeParam>(
      [](Builder& b, const std::vector<Value>& v) { return math::sqrt(b, v[0]); }, x,
      [&](size_t i) { return std::sqrt(this->at(x[0], i)); });
}

TYPED_TEST(Exact, Fmod) {
  const Arrays x = drawn<TypeParam>(2, this->kCount / 2);
  expect_exact<TypeParam>(
      [](Builder& b, const std::vector<Value>& v) { return math::fmod(b, v[0], v[1]); }, x,
      [&](size_t i) { return std::fmod(this->at(x[0], i), this->at(x[1], i)); });
}

TYPED_TEST(Exact, MinAndMaxLetNanWin) {
  const Arrays x = drawn<TypeParam>(2, 4000);
  auto check = [&](auto function, bool least) {
    const auto results = evaluate(
        devices()[0],
        [&](Builder& b, const std::vector<Value>& v) { return function(b, v[0], v[1]); },
        kScalar<TypeParam>, kScalar<TypeParam>, 4, x);
    for (size_t i = 0; i < results.size(); ++i) {
      const TypeParam p = this->at(x[0], i), q = this->at(x[1], i), r = this->at(results, i);
      if (std::isnan(p) || std::isnan(q)) {
        EXPECT_TRUE(std::isnan(r));
      } else {
        EXPECT_EQ(r, least ? std::min(p, q) : std::max(p, q));
      }
    }
  };
  check(math::min_nan, true);
  check(math::max_nan, false);
}

// --- integers ------------------------------------------------------------------------------------

class SafeDivision : public testing::TestWithParam<bool> {};

TEST_P(SafeDivision, NeverTraps) {
  Device device = devices()[0];
  device.target.simt = GetParam();
  for (Scalar type : {Scalar::i8, Scalar::i16, Scalar::i32, Scalar::i64}) {
    const int w = width(type);
    const uint64_t mask = w == 64 ? ~uint64_t{0} : (uint64_t{1} << w) - 1;
    const uint64_t lowest = uint64_t{1} << (w - 1);
    std::vector<uint64_t> values = {0, 1, 2, 7, mask, mask - 1, lowest, lowest + 1, lowest - 1};
    // To both sides of where a GPU divides by words.
    for (uint64_t v : {0xffffffffu * uint64_t{1}, uint64_t{1} << 32, 0 - (uint64_t{1} << 32)})
      values.push_back(v & mask);
    Arrays x(2);
    for (uint64_t p : values) {
      for (uint64_t q : values) x[0].push_back(p), x[1].push_back(q);
    }
    for (bool is_signed : {false, true}) {
      auto run = [&](auto function) {
        return evaluate(
            device,
            [&](Builder& b, const std::vector<Value>& v) {
              return function(b, v[0], v[1], is_signed);
            },
            type, type, 4, x);
      };
      const auto quotients = run(math::safe_div), rests = run(math::safe_rem);
      for (size_t i = 0; i < x[0].size(); ++i) {
        const uint64_t p = x[0][i], q = x[1][i];
        const auto sp = static_cast<int64_t>(p << (64 - w)) >> (64 - w);
        const auto sq = static_cast<int64_t>(q << (64 - w)) >> (64 - w);
        uint64_t quotient = 0, rest = 0;
        if (q != 0 && is_signed && sq == -1) {
          quotient = (0 - p) & mask, rest = 0;
        } else if (q != 0 && is_signed) {
          quotient = static_cast<uint64_t>(sp / sq) & mask;
          rest = static_cast<uint64_t>(sp % sq) & mask;
        } else if (q != 0) {
          quotient = p / q, rest = p % q;
        }
        EXPECT_EQ(quotients[i], quotient) << sp << " / " << sq << " of " << w << " bits";
        EXPECT_EQ(rests[i], rest) << sp << " % " << sq << " of " << w << " bits";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnCpusAndGpus, SafeDivision, testing::Bool());

}  // namespace
}  // namespace primset::kir::math_test
