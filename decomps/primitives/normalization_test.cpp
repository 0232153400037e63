// Expected values: PyTorch 2.13 in f64.
#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

const std::vector<double> kRows = {-0.25, 0.125, 0.625, -0.5,  -1.625, -0.75,
                                   0.625, 0.875, 1.125, 0.375, 0.75,   0.875};
const std::vector<double> kMoreRows = {0.5,  -1.5, -1.875, 0.25,  0.0,   0.25,
                                       0.75, -1.0, 1.125,  0.375, 0.125, -0.125};
const std::vector<prims::Attr> kDim1 = {{"dim", int64_t{1}}};

std::vector<double> all_rows() {
  std::vector<double> v = kRows;
  v.insert(v.end(), kMoreRows.begin(), kMoreRows.end());
  return v;
}

TEST(Softmax, AndItsLogarithm) {
  const Array x = array(DType::f64, {3, 4}, kRows);
  expect_near(derived(Prim::softmax, {x}, kDim1), {3, 4},
              {0.1775357770507905, 0.25831303139647127, 0.4258861893623922, 0.138265002190346,
               0.0398897366447216, 0.09569050371987664, 0.378463283867029, 0.48595647576837286,
               0.3403147063768956, 0.16075328469832478, 0.23389464910773805, 0.2650373598170415},
              1e-15);
  expect_near(derived(Prim::log_softmax, {x}, kDim1), {3, 4},
              {-1.7285831295278014, -1.3535831295278014, -0.8535831295278015, -1.9785831295278014,
               -3.221636215124179, -2.346636215124179, -0.9716362151241789, -0.7216362151241789,
               -1.0778844824910574, -1.8278844824910574, -1.4528844824910574, -1.3278844824910574},
              1e-15);
}

TEST(Softmax, OfInfinities) {
  const Array x = array(DType::f32, {2, 2}, {-kInf, -kInf, -kInf, 3});
  expect_near(derived(Prim::softmax, {x}, kDim1), {2, 2}, {kNan, kNan, 0, 1}, 0);
  expect_near(derived(Prim::log_softmax, {x}, kDim1), {2, 2}, {kNan, kNan, -kInf, 0}, 0);
}

TEST(LayerNorm, OverTwoDims) {
  std::vector<double> weight, bias;
  for (int i = 0; i < 12; ++i) {
    weight.push_back((i + 1) / 4.0);
    bias.push_back(i / 8.0);
  }
  const std::vector<prims::Attr> attrs = {{"dims", int64_t{2}}, {"eps", Scalar(1e-5)}};
  const Result r = run_derived(Prim::layer_norm,
                               {array(DType::f64, {2, 3, 4}, all_rows()),
                                array(DType::f64, {3, 4}, weight), array(DType::f64, {3, 4}, bias)},
                               attrs);
  expect_near(r.outputs[0], {2, 3, 4},
              {-0.13936848527192322, 0.08518043277945053, 0.6681054558157697, -0.501030478852089,
               -2.3869186234898385,  -1.1668805249247274, 1.7255793969034627, 2.627060957704178,
               3.687820787387091,    1.7222935083082427,  3.2210685774172,    4.003091436556267,
               0.17106593544229504,  -0.6853123257792922, -1.289593418980655, 0.7711526926032095,
               0.6350520542965487,   1.2192290389048144,  2.4516558841365135, -1.2138051064532869,
               4.16021807053924,     2.475520542965487,   1.9432672120556167, 1.2669583565627611},
              1e-14);
  expect_near(r.outputs[1], {2}, {0.1875, -0.09375}, 1e-14);
  expect_near(r.outputs[2], {2}, {1.2742261510575839, 1.1524441966638823}, 1e-14);
  const Result empty =
      run_derived(Prim::layer_norm, {array(DType::f32, {0, 3, 4}, {}), absent(), absent()}, attrs);
  EXPECT_TRUE(empty.outputs[0].data.empty());
}

TEST(RmsNorm, OverTheLastDim) {
  const Result r = run_derived(
      Prim::rms_norm,
      {array(DType::f64, {2, 3, 4}, all_rows()), vector(DType::f64, {0.25, 0.5, 0.75, 1})},
      {{"dims", int64_t{1}}, {"eps", Scalar(1e-5)}});
  expect_near(r.outputs[0], {2, 3, 4},
              {-0.1474378535934407,
               0.1474378535934407,
               1.1057839019508051,
               -1.1795028287475255,
               -0.3891430357463881,
               -0.359208956073589,
               0.4490111950919863,
               0.8381542308383743,
               0.34016553764947116,
               0.22677702509964742,
               0.6803310752989422,
               1.0582927837983547,
               0.10140369164555342,
               -0.6084221498733206,
               -1.1407915310124759,
               0.20280738329110684,
               0.0,
               0.19611372144569655,
               0.8825117465056346,
               -1.5689097715655724,
               0.4691509043568948,
               0.3127672695712632,
               0.1563836347856316,
               -0.2085115130475088},
              1e-14);
}

}  // namespace
}  // namespace primset::decomps
