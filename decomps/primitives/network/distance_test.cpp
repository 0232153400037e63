// Expected values: PyTorch 2.13 in f64.
#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

const struct {
  double p;
  std::vector<double> d, grad_x;
} kDistances[] = {
    {0, {1, 3, 2, 2}, {0, 0, 0, 0, 0, 0}},
    {1, {0.5, 2.5, 3, 4}, {2, 2, -3, 7, 4, 3}},
    {2,
     {0.5, 1.5, 2.5495097567963922, 3.5355339059327378},
     {1.3333333333333333, 0.6666666666666666, -2.333333333333333, 6.901540001717427,
      0.565685424949238, 0.5883484054145521}},
    {2.5,
     {0.5, 1.3649776856490068, 2.517793449199152, 3.510774097647492},
     {1.2541274340159145, 0.44340100653236875, -2.2541274340159143, 6.949855324380063,
      0.21498624268274322, 0.26548874364972785}},
    {kInf, {0.5, 1, 2.5, 3.5}, {2, 0, -3, 7, 0, 0}},
};

TEST(Cdist, AndItsGradientOfEveryNorm) {
  for (DType t : {DType::f32, DType::f64}) {
    const Array x = array(t, {2, 3}, {0, 1, 2, 2.5, 1, 3});
    const Array y = array(t, {2, 3}, {0, 1, 2.5, -1, 0.5, 3});
    const Array grad = array(t, {2, 2}, {1, 2, 3, 4});
    const double precision = t == DType::f64 ? 1e-14 : 2e-6;
    for (const auto& c : kDistances) {
      const Array d = derived(Prim::cdist, {x, y}, {{"p", Scalar(c.p)}});
      expect_near(d, {2, 2}, c.d, precision);
      const Array exact = array(t, {2, 2}, c.d);
      expect_near(derived(Prim::cdist_backward, {grad, x, y, exact}, {{"p", Scalar(c.p)}}), {2, 3},
                  c.grad_x, precision);
    }
  }
}

TEST(Cdist, NothingIsAtDistanceZeroAndNanAtNone) {
  const Array none = array(DType::f32, {2, 0}, {});
  for (double p : {0.0, 1.0, 2.0, 2.5, kInf}) {
    expect_near(derived(Prim::cdist, {none, none}, {{"p", Scalar(p)}}), {2, 2}, {0, 0, 0, 0}, 0);
    const Array x = array(DType::f32, {1, 2}, {kNan, 1}), y = array(DType::f32, {1, 2}, {0, 1});
    expect_near(derived(Prim::cdist, {x, y}, {{"p", Scalar(p)}}), {1, 1}, {kNan}, 0);
  }
}

// A distance that is not known, as PyTorch's _pdist_backward has it.
TEST(Cdist, TheGradientOfNanIsNan) {
  const Array x = array(DType::f32, {1, 2}, {kNan, 1}), y = array(DType::f32, {1, 2}, {2, 3});
  const Array grad = array(DType::f32, {1, 1}, {1}), d = array(DType::f32, {1, 1}, {kNan});
  for (double p : {1.5, 2.0, kInf}) {
    expect_near(derived(Prim::cdist_backward, {grad, x, y, d}, {{"p", Scalar(p)}}), {1, 2},
                {kNan, kNan}, 0);
  }
}

}  // namespace
}  // namespace primset::decomps
