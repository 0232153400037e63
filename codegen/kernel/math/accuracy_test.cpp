// The bounds that math.h promises, on samples of every function, type and kind of device.
#include "codegen/kernel/math/testing/accuracy.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace primset::kir::math_test {
namespace {

using Arrays = std::vector<std::vector<uint64_t>>;

uint64_t bits_of(Scalar type, double v) {
  return type == Scalar::f64 ? std::bit_cast<uint64_t>(v)
                             : std::bit_cast<uint32_t>(static_cast<float>(v));
}

// Both signs of the first and last mantissas of every binade and a few in between.
std::vector<uint64_t> binade_edges(Scalar type) {
  const int mantissa = type == Scalar::f64 ? 52 : 23, width = type == Scalar::f64 ? 64 : 32;
  std::vector<uint64_t> out;
  for (uint64_t e = 0; e < uint64_t{1} << (width - 1 - mantissa); ++e) {
    const uint64_t first = e << mantissa, size = uint64_t{1} << mantissa;
    for (uint64_t m : {uint64_t{0}, uint64_t{1}, size / 3, size / 2, size - 2, size - 1}) {
      out.push_back(first + m);
      out.push_back((first + m) | uint64_t{1} << (width - 1));
    }
  }
  return out;
}

// Bit patterns at a fixed odd stride: 2^17 f32 values, every binade alike.
void add_strided(std::vector<uint64_t>& out) {
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += (1u << 15) + 1) out.push_back(bits);
}

// Random values where the functions do something: all magnitudes, up to the exponential's
// thresholds, around 1, and small.
double interesting(std::mt19937_64& random) {
  const double u = std::ldexp(static_cast<double>(random() >> 11), -52) - 1;
  switch (random() % 5) {
    case 0:
      return u * 750;
    case 1:
      return u * 4;
    case 2:
      return 1 + u * 0.3;
    case 3:
      return u * 28;
    default:
      return std::copysign(std::exp2(u * 60), static_cast<int64_t>(random()) < 0 ? -1 : 1);
  }
}

// Multiples of pi/2 and their neighbours, where the trigonometric functions cancel worst, and the
// double closest to one: Muller, Handbook of Floating-Point Arithmetic, section 11.
void add_near_right_angles(std::vector<uint64_t>& out, Scalar type) {
  for (int k = 1; k < 2000; ++k) {
    const uint64_t near = bits_of(type, static_cast<double>(k * 1.57079632679489661923L));
    for (uint64_t step = 0; step < 3; ++step) out.push_back(near + step - 1);
  }
  out.push_back(bits_of(type, 0x1.6ac5b262ca1ffp+849));
  out.push_back(bits_of(type, 16367173.0 * 0x1p72));
}

// Where exhaustive runs found the functions of one f32 argument at their worst.
constexpr float kWorstSingles[] = {
    -0x1.765026p+2f, 0x1.2067a6p+2f, -0x1.f9fc6ap+6f, 0x1.956c9p-2f,   0x1.6315f4p-2f,
    0x1.66560ap-1f,  0x1.6680b4p-1f, 0x1.69a6d4p+0f,  0x1.68c53p+0f,   0x1.80c93cp+0f,
    0x1.4bee88p+0f,  0x1.afbd8ap-2f, 0x1.bfdfa2p-2f,  0x1.878ed4p+18f, 0x1.fda6d8p+14f,
    0x1.f46bdep+14f, 0x1.18d284p+0f, 0x1.14dbc8p+0f,  0x1.203f7p-1f,   0x1.203bc6p-1f,
    0x1.0c532cp+0f,  0x1.0796dep+0f, 0x1.a19f74p-1f,  0x1.a325a4p-1f};

Arrays sample(const Case& c, Scalar type) {
  std::mt19937_64 random(20080531);
  Arrays out(static_cast<size_t>(c.arguments));
  if (c.arguments == 1) {
    out[0] = binade_edges(type);
    add_near_right_angles(out[0], type);
    if (type == Scalar::f32) add_strided(out[0]);
    for (float x : kWorstSingles) out[0].push_back(bits_of(type, x));
  }
  const size_t count = type == Scalar::f32 ? 50000 : 100000;
  for (size_t i = 0; i < count; ++i) {
    for (auto& a : out) {
      const bool any_bits = i % 4 == 0;
      a.push_back(any_bits ? random() & (type == Scalar::f64 ? ~uint64_t{0} : 0xffffffffu)
                           : bits_of(type, interesting(random)));
    }
  }
  return out;
}

// The device's power of two is 2 ulp off itself.
double units_of_device(const Device& device, Scalar type) {
  return device.target.fast_exp2 && type == Scalar::f32 ? 2 : 0;
}

class Accuracy : public testing::TestWithParam<std::tuple<size_t, Scalar>> {};

TEST_P(Accuracy, HoldsItsBoundOnEveryKindOfDevice) {
  const Case& c = cases()[std::get<0>(GetParam())];
  const Scalar type = std::get<1>(GetParam());
  const double bound = type == Scalar::f64 ? c.bound_f64 : c.bound_f32;
  const Arrays arguments = sample(c, type);
  const auto references = reference_values(c, type, arguments);
  for (const Device& device : devices()) {
    if (type == Scalar::f64 && !device.target.f64) continue;
    const Worst worst = measure(device, c, type, 64, arguments, references);
    EXPECT_LE(worst.ulp, bound + units_of_device(device, type))
        << device.name << ": " << to_string(worst);
    RecordProperty(device.name, to_string(worst));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Accuracy,
                         testing::Combine(testing::Range<size_t>(0, cases().size()),
                                          testing::Values(Scalar::f32, Scalar::f64)),
                         [](const auto& info) {
                           return cases()[std::get<0>(info.param)].name + "_" +
                                  std::string(name(std::get<1>(info.param)));
                         });

// --- special values ------------------------------------------------------------------------------

std::vector<double> special_values(Scalar type) {
  const bool wide = type == Scalar::f64;
  const double least = wide ? 0x1p-1074 : 0x1p-149, normal = wide ? 0x1p-1022 : 0x1p-126;
  const double most = wide ? 0x1.fffffffffffffp+1023 : 0x1.fffffep+127;
  std::vector<double> v;
  for (double x : {0.0,
                   least,
                   normal - least,
                   normal,
                   0.25,
                   0.5,
                   1.0,
                   1.5,
                   2.0,
                   3.0,
                   4.0,
                   5.0,
                   88.0,
                   710.0,
                   0x1p23,
                   0x1p24 - 1,
                   0x1p52,
                   0x1p53 - 1,
                   most,
                   std::numeric_limits<double>::infinity(),
                   std::numeric_limits<double>::quiet_NaN()}) {
    v.push_back(x);
    v.push_back(-x);
  }
  return v;
}

// Zeros and infinities with their signs, NaN for NaN, and the rest within the bound.
void expect_like(const Device& device, const Case& c, Scalar type, const std::string& where,
                 double got, long double expected) {
  const double error = ulp_error(device, type, got, expected);
  if (expected == 0 && error == 0) {
    EXPECT_EQ(std::signbit(got), std::signbit(expected)) << where;
  }
  // Where e^x is the device's power of two it is off as that is; elsewhere these are exact cases.
  const double more = device.target.flush_denormals_f32 ? units_of_device(device, type) : 0;
  EXPECT_LE(error, (type == Scalar::f64 ? c.bound_f64 : c.bound_f32) + more)
      << where << ": got " << got << ", expected " << static_cast<double>(expected);
}

class Special : public testing::TestWithParam<std::tuple<size_t, Scalar>> {};

TEST_P(Special, FollowsTheCLibrary) {
  const Case& c = cases()[std::get<0>(GetParam())];
  const Scalar type = std::get<1>(GetParam());
  Arrays arguments(static_cast<size_t>(c.arguments));
  for (double x : special_values(type)) {
    if (c.arguments == 1) {
      arguments[0].push_back(bits_of(type, x));
      continue;
    }
    for (double y : special_values(type)) {
      arguments[0].push_back(bits_of(type, x));
      arguments[1].push_back(bits_of(type, y));
    }
  }
  const auto references = reference_values(c, type, arguments);
  for (const Device& device : devices()) {
    if (type == Scalar::f64 && !device.target.f64) continue;
    const auto results = evaluate(device, c.function, type, type, 4, arguments);
    for (size_t i = 0; i < results.size(); ++i) {
      std::string where = device.name + " " + c.name + "(";
      for (const auto& a : arguments) where += " " + std::to_string(as_double(type, a[i]));
      expect_like(device, c, type, where + " )", as_double(type, results[i]), references[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Special,
                         testing::Combine(testing::Range<size_t>(0, cases().size()),
                                          testing::Values(Scalar::f32, Scalar::f64)),
                         [](const auto& info) {
                           return cases()[std::get<0>(info.param)].name + "_" +
                                  std::string(name(std::get<1>(info.param)));
                         });

// The same bits for every number of lanes, and for a lane whatever its neighbours need.
TEST(Lanes, DoNotChangeAResult) {
  std::mt19937_64 random(7);
  for (const Case& c : cases()) {
    for (Scalar type : {Scalar::f32, Scalar::f64}) {
      Arrays arguments(static_cast<size_t>(c.arguments));
      for (int i = 0; i < 256; ++i) {
        for (auto& a : arguments) {
          a.push_back(i % 3 == 0 ? random() >> (type == Scalar::f64 ? 0 : 32)
                                 : bits_of(type, interesting(random)));
        }
      }
      for (const Device& device : devices()) {
        if (type == Scalar::f64 && !device.target.f64) continue;
        const auto one = evaluate(device, c.function, type, type, 1, arguments);
        for (uint16_t lanes : {4, 16}) {
          const auto many = evaluate(device, c.function, type, type, lanes, arguments);
          for (size_t i = 0; i < one.size(); ++i) {
            const bool nan = std::isnan(as_double(type, one[i]));
            if (nan && std::isnan(as_double(type, many[i]))) continue;
            ASSERT_EQ(one[i], many[i]) << c.name << " " << device.name << " lanes " << lanes
                                       << " at " << as_double(type, arguments[0][i]);
          }
        }
      }
    }
  }
}

// Whole powers come out exact.
TEST(ExactResults, OfLogarithmsAndPowers) {
  const Device& device = devices()[0];
  for (const Case& c : cases()) {
    if (c.name != "exp2" && c.name != "log2") continue;
    for (Scalar type : {Scalar::f32, Scalar::f64}) {
      const int low = type == Scalar::f64 ? -1074 : -149, high = type == Scalar::f64 ? 1024 : 128;
      Arrays arguments(1);
      for (int n = low; n < high; ++n) {
        arguments[0].push_back(bits_of(type, c.name == "exp2" ? n : std::ldexp(1.0, n)));
      }
      const auto results = evaluate(device, c.function, type, type, 16, arguments);
      for (int n = low; n < high; ++n) {
        const double got = as_double(type, results[static_cast<size_t>(n - low)]);
        EXPECT_EQ(got, c.name == "exp2" ? std::ldexp(1.0, n) : n) << c.name << " " << n;
      }
    }
  }
}

}  // namespace
}  // namespace primset::kir::math_test
