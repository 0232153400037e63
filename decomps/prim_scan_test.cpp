// Expected values: PyTorch 2.13.
#include "decomps/prim_test_support.h"

namespace primset::decomps {
namespace {

const std::vector<prims::Attr> kDim0 = {{"dim", int64_t{0}}};

TEST(ScanLogAddExp, OfRealNumbers) {
  const std::vector<double> x = {1, -2, 5, -kInf, 3};
  const std::vector<double> want = {1, 1.048587351573742, 5.0190450078792574, 5.0190450078792574,
                                    5.143721747718616};
  expect_near(derived(Prim::scan_log_add_exp, {vector(DType::f64, x)}, kDim0), {5}, want, 1e-15);
  expect_near(derived(Prim::scan_log_add_exp, {vector(DType::f32, x)}, kDim0), {5}, want, 3e-7);
  expect_near(
      derived(Prim::scan_log_add_exp, {vector(DType::f32, {-kInf, -kInf, 2, kInf, kNan})}, kDim0),
      {5}, {-kInf, -kInf, 2, kInf, kNan}, 0);
}

TEST(ScanLogAddExp, OfComplexNumbers) {
  const Array x = complexes(DType::c128, {5}, {1, 1, -2, .5, 1.5, -2, -kInf, 2, .25, 3});
  const Array got = derived(Prim::scan_log_add_exp, {x}, kDim0);
  const double want[] = {1,
                         1,
                         1.0430261277608053,
                         0.977134033903333,
                         0.5568499928274864,
                         -1.73053055608096,
                         0.5568499928274864,
                         -1.73053055608096,
                         0.7817627161865455,
                         -2.3584615118537235};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(static_cast<double>(got.data[i].re), want[2 * i], 1e-14);
    EXPECT_NEAR(static_cast<double>(got.data[i].im), want[2 * i + 1], 1e-14);
  }
  const Array none = derived(Prim::scan_log_add_exp,
                             {complexes(DType::c64, {3}, {-kInf, 1, -kInf, 2, 3, 1})}, kDim0);
  expect_equal(none, complexes(DType::c64, {3}, {-kInf, 0, -kInf, 0, 3, 1}));
}

}  // namespace
}  // namespace primset::decomps
