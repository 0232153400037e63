// Special functions against mpmath, their poles and ends, and how far a device may be off.
#include "prims/reference/testing/interpret.h"
#include "prims/reference/testing/special_samples.h"

namespace primset::prims::reference {
namespace {

std::vector<Array> operands(DType t, const std::vector<double>& x) {
  std::vector<Array> out;
  for (double v : x) out.push_back(vector(t, {v}));
  return out;
}

Element special_value(Prim p, const std::vector<double>& x, std::vector<Attr> attrs = {},
                      DType t = DType::f64) {
  return first(run_prim(p, operands(t, x), std::move(attrs))).data[0];
}

TEST(Special, AgreesWithMpmath) {
  for (const SpecialSamples& f : kSpecialSamples) {
    for (const SpecialSample& s : f.samples) {
      const Element e = special_value(f.prim, s.x, f.attrs);
      EXPECT_FALSE(e.undecided) << info(f.prim).name << " of " << s.x[0];
      EXPECT_LE(std::fabs(e.re - s.want), 0.51L * ulp(s.want, DType::f64))
          << info(f.prim).name << " of " << s.x[0] << " gives " << show(static_cast<double>(e.re));
    }
  }
}

struct Edge {
  Prim prim;
  std::vector<double> x;
  double want;
  std::vector<Attr> attrs = {};
};

TEST(Special, EdgesAreAtens) {
  const std::vector<Attr> kPlain = {{"shifted", false}};
  const Edge edges[] = {
      {Prim::erfinv, {1}, kInf},
      {Prim::erfinv, {-1}, -kInf},
      {Prim::erfinv, {1.5}, kNan},
      {Prim::erfcx, {kInf}, 0},
      {Prim::erfcx, {-kInf}, kInf},
      {Prim::ndtri, {0}, -kInf},
      {Prim::ndtri, {1}, kInf},
      {Prim::ndtri, {-0.5}, kNan},
      {Prim::log_ndtr, {kInf}, -0.0},
      {Prim::log_ndtr, {-kInf}, -kInf},
      {Prim::lgamma, {0}, kInf},
      {Prim::lgamma, {-3}, kInf},
      {Prim::lgamma, {-kInf}, kInf},
      {Prim::digamma, {0}, -kInf},
      {Prim::digamma, {-0.0}, kInf},
      {Prim::digamma, {-3}, kNan},
      {Prim::digamma, {kInf}, kInf},
      {Prim::polygamma, {-3}, -kInf, {{"n", int64_t{2}}}},
      {Prim::polygamma, {kInf}, 0, {{"n", int64_t{1}}}},
      {Prim::zeta, {1, 3}, kInf},
      {Prim::zeta, {0.5, 3}, kNan},
      {Prim::zeta, {2, -3}, kInf},
      {Prim::zeta, {2.5, -3.5}, kNan},
      {Prim::bessel_j0, {kInf}, kNan},
      {Prim::bessel_y0, {0}, -kInf},
      {Prim::bessel_y1, {-1}, kNan},
      {Prim::bessel_i0, {kInf}, kNan},
      {Prim::bessel_i0, {1e3}, kInf},
      {Prim::bessel_i0e, {kInf}, 0},
      {Prim::bessel_k0, {0}, kInf},
      {Prim::bessel_k0, {kInf}, 0},
      {Prim::bessel_k1e, {-1}, kNan},
      {Prim::spherical_bessel_j0, {0}, 1},
      {Prim::spherical_bessel_j0, {-kInf}, 0},
      {Prim::airy_ai, {kInf}, kNan},
      {Prim::airy_ai, {104}, 0},
      {Prim::chebyshev_t, {0.5, -1}, 0, kPlain},
      {Prim::chebyshev_t, {0.5, kNan}, 0, kPlain},
      {Prim::chebyshev_u, {-1, 3}, -4, kPlain},
      {Prim::chebyshev_w, {1, 3.5}, 7, kPlain},
      {Prim::chebyshev_t, {0.5, 2}, -1, {{"shifted", true}}},
      {Prim::hermite_h, {0.5, 513}, kNan},
      {Prim::laguerre_l, {0, 20}, 1},
      {Prim::legendre_p, {1, 20}, 1},
  };
  for (const Edge& e : edges) {
    const Element got = special_value(e.prim, e.x, e.attrs);
    EXPECT_FALSE(got.undecided) << info(e.prim).name << " of " << e.x[0];
    EXPECT_EQ(show(static_cast<double>(got.re)), show(e.want))
        << info(e.prim).name << " of " << e.x[0];
  }
}

// At 30 the phase has five bits in front of the point.
TEST(Special, WavesMayBeOffByTheRoundingOfTheirPhase) {
  const Element e = special_value(Prim::bessel_j0, {30}, {}, DType::f32);
  EXPECT_GE(e.error, 30 * 0x1p-24 * 0.1L);
  EXPECT_LE(e.error, 30 * 0x1p-22);
  EXPECT_LE(special_value(Prim::bessel_j0, {1e30}, {}, DType::f32).error, 1e-14L);
  EXPECT_LE(special_value(Prim::erfinv, {0.5}, {}, DType::f32).error, 17 * 0x1p-24);
}

TEST(Special, ErrorsOfOperandsGrowWithTheSlope) {
  const auto of = [](Prim p, double x, double error) {
    return first(run_prim(p, {with_errors(vector(DType::f64, {x}), {error})})).data[0];
  };
  EXPECT_NEAR(static_cast<double>(of(Prim::bessel_i0e, 2, 1e-3).error), 0.934e-4, 1e-6);
  EXPECT_TRUE(of(Prim::lgamma, -2, 1e-3).undecided);
  EXPECT_TRUE(of(Prim::ndtri, 0.999, 0.01).undecided);
  EXPECT_TRUE(of(Prim::airy_ai, -1e300, 0).undecided) << "the phase overflows";
}

TEST(Special, ComplexFunctionsAreThoseOfC99) {
  Array z = vector(DType::c128, {0.0});
  z.data[0].im = kNan;
  const Element w = first(run_prim(Prim::complex_asinh, {z})).data[0];
  EXPECT_TRUE(std::isnan(w.im));
  z.data[0] = {.re = 1e-20L, .im = 0};
  EXPECT_EQ(first(run_prim(Prim::complex_log1p, {z})).data[0].re, 1e-20);
  z.data[0] = {.re = -2, .im = -0.0L};
  const Element below = first(run_prim(Prim::complex_acos, {z})).data[0];
  EXPECT_NEAR(static_cast<double>(below.im), 1.3169578969248166, 1e-15);
}

}  // namespace
}  // namespace primset::prims::reference
