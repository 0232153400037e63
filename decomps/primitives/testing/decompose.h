// Derived primitives expanded into core ones and run by the reference interpreter, for tests.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_TESTING_DECOMPOSE_H_
#define PRIMSET_DECOMPS_PRIMITIVES_TESTING_DECOMPOSE_H_

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "decomps/engine/engine.h"
#include "prims/reference/testing/interpret.h"
#include "specs/bundle/reader.h"

namespace primset::decomps {

using prims::Prim;
using prims::reference::Array;
using prims::reference::array;
using prims::reference::expect_equal;
using prims::reference::integers;
using prims::reference::kInf;
using prims::reference::kNan;
using prims::reference::number;
using prims::reference::Result;
using prims::reference::vector;

// An optional operand that is absent is an array of rank 1 without elements and dtype c32.
inline Array absent() {
  return prims::reference::make_array(DType::c32, {0});
}

inline Result run_derived(Prim p, const std::vector<Array>& inputs,
                          std::vector<prims::Attr> attrs = {}, DeviceTraits device = {},
                          prims::reference::PermittedDeviations deviations = {}) {
  prims::Graph g;
  std::vector<Array> given;
  {
    prims::Builder b(g);
    prims::Builder::Values values;
    for (const Array& a : inputs) {
      if (a.dtype == DType::c32) {
        values.push_back(prims::kNoValue);
        continue;
      }
      given.push_back(a);
      const prims::SymInts shape(a.shape.begin(), a.shape.end());
      values.push_back(b.tensor_input("x" + std::to_string(given.size()), {a.dtype, shape}));
    }
    for (prims::ValueId v : b.add(p, std::move(values), std::move(attrs))) b.output("y", v);
  }
  expand_derived(
      g, specs::embedded_bundle(), [](const prims::Graph&, prims::NodeId) { return false; },
      device);
  return run(g, given, {}, deviations);
}

inline Array derived(Prim p, const std::vector<Array>& inputs, std::vector<prims::Attr> attrs = {},
                     DeviceTraits device = {}) {
  return run_derived(p, inputs, std::move(attrs), device).outputs.at(0);
}

inline double step_at(DType t, double v) {
  int exponent;
  std::frexp(v, &exponent);
  const int digits = t == DType::f64 ? 53 : t == DType::f32 ? 24 : t == DType::f16 ? 11 : 8;
  const int least = t == DType::f64    ? -1074
                    : t == DType::f16  ? -24
                    : t == DType::bf16 ? -133
                                       : -149;
  return std::ldexp(1.0, std::max(exponent - digits, least));
}

// In units of the last place of `want`; specials and zeros must agree to the sign.
inline double ulps(DType t, double got, double want) {
  if (t == DType::f32 && std::isfinite(want)) {
    if (std::isinf(static_cast<float>(want))) want = static_cast<float>(want);
  }
  if (std::isnan(want) || std::isinf(want) || want == 0 || !std::isfinite(got)) {
    const bool same =
        std::isnan(want) ? std::isnan(got) : got == want && std::signbit(got) == std::signbit(want);
    return same ? 0 : HUGE_VAL;
  }
  return std::fabs(got - want) / step_at(t, want);
}

// Complex arrays from parts, one after the other.
inline Array complexes(DType t, std::vector<int64_t> shape, const std::vector<double>& parts) {
  Array a = prims::reference::make_array(t, std::move(shape));
  EXPECT_EQ(a.data.size() * 2, parts.size());
  for (size_t i = 0; i < a.data.size(); ++i) {
    a.data[i].re = real_type(t) == DType::f32 ? static_cast<float>(parts[2 * i]) : parts[2 * i];
    a.data[i].im =
        real_type(t) == DType::f32 ? static_cast<float>(parts[2 * i + 1]) : parts[2 * i + 1];
  }
  return a;
}

// Each element within a relative and an absolute distance; NaN for NaN.
inline void expect_near(const Array& got, const std::vector<int64_t>& shape,
                        const std::vector<double>& want, double relative, double absolute = 0) {
  ASSERT_EQ(got.shape, shape);
  for (size_t i = 0; i < want.size(); ++i) {
    const double v = prims::reference::plain(got.dtype, got.data[i]);
    EXPECT_FALSE(got.data[i].undecided) << "element " << i;
    if (std::isfinite(want[i])) {
      EXPECT_NEAR(v, want[i], std::fabs(want[i]) * relative + absolute) << "element " << i;
    } else {
      EXPECT_EQ(ulps(DType::f64, v, want[i]), 0) << "element " << i << ": " << v;
    }
  }
}

// One sample: arguments, then what is right for them.
struct Sample {
  std::vector<double> x;
  double want;
};

// Elementwise over f32 and f64; returns the greatest distance in ulp and expects it below `bound`.
inline void expect_ulps(Prim p, DType t, const std::vector<Sample>& samples, double bound) {
  std::vector<Array> inputs;
  for (size_t k = 0; k < samples[0].x.size(); ++k) {
    std::vector<double> values;
    for (const Sample& s : samples) values.push_back(s.x[k]);
    inputs.push_back(vector(t, values));
  }
  const Array got = derived(p, inputs);
  double worst = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double v = static_cast<double>(got.data[i].re), d = ulps(t, v, samples[i].want);
    worst = std::max(worst, d);
    EXPECT_LE(d, bound) << prims::info(p).name << " of " << samples[i].x[0] << " in " << name(t)
                        << " gives " << v << ", expected " << samples[i].want;
    EXPECT_FALSE(got.data[i].undecided)
        << prims::info(p).name << " of " << samples[i].x[0] << " in " << name(t);
  }
  ::testing::Test::RecordProperty(std::string(prims::info(p).name) + "_" + std::string(name(t)),
                                  std::to_string(worst));
}

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_PRIMITIVES_TESTING_DECOMPOSE_H_
