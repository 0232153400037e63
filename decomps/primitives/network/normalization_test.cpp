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

// The gradients' input; kRows is x.
const std::vector<double> kWeight = {0.25, 0.5, 0.75, 1.0};

Array rows_array(std::vector<int64_t> shape, const std::vector<double>& values = kRows) {
  return array(DType::f64, std::move(shape), values);
}

// Each result within 1e-13.
void expect_results(const Result& r, const std::vector<std::vector<int64_t>>& shapes,
                    const std::vector<std::vector<double>>& want) {
  ASSERT_EQ(r.outputs.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    expect_near(r.outputs[i], shapes[i], want[i], 1e-13, 1e-14);
}

TEST(SoftmaxBackward, AndOfItsLogarithm) {
  const Array x = rows_array({3, 4}), grad = rows_array({3, 4}, kMoreRows);
  const auto gradient = [&](Prim forward, Prim backward) {
    return derived(backward, {grad, derived(forward, {x}, kDim1)}, kDim1);
  };
  expect_near(gradient(Prim::softmax, Prim::softmax_backward), {3, 4},
              {0.277430190117008, -0.1129675180168004, -0.3459592708633959, 0.1814965987631881,
               0.007107808048636543, 0.04097337105210385, 0.3512844680412782, -0.3993656471420187,
               0.233372958101456, -0.01032738380238556, -0.07349991704487258, -0.1495456572541978},
              1e-13, 1e-15);
  expect_near(
      gradient(Prim::log_softmax, Prim::log_softmax_backward), {3, 4},
      {0.9660314147583251, -0.8219282925842628, -0.7570487529237204, 0.6129456307496582, 0.0, 0.25,
       0.75, -1.0, 0.6145279404346566, 0.1338700729525128, -0.225841973661607, -0.5225560397255622},
      1e-13, 1e-15);
}

TEST(LayerNormBackward, OfRows) {
  expect_results(
      run_derived(Prim::layer_norm_backward,
                  {rows_array({3, 4}, kMoreRows), rows_array({3, 4}),
                   vector(DType::f64, {0.0, -0.21875, 0.78125}),
                   vector(DType::f64, {1.890877836988262, 0.9357685253445337, 2.402554071272684}),
                   vector(DType::f64, kWeight)},
                  {{"dims", int64_t{1}}}),
      {{3, 4}, {4}, {4}},
      {{0.601380359555406, -0.3376213875313803, -0.6244881543510026, 0.3607291823269767,
        -0.1243830341698657, 0.1154706671859212, 0.7179706816762864, -0.7090583146923418,
        0.4059557964284032, 0.1959523913118752, -0.03690507240258209, -0.5650031153376962},
       {0.6927529776264507, -0.844835448503068, -1.633091422116941, -1.288011484741843},
       {1.625, -0.875, -1.0, -0.875}});
}

TEST(RmsNormBackward, OfRows) {
  expect_results(
      run_derived(Prim::rms_norm_backward,
                  {rows_array({3, 4}, kMoreRows), rows_array({3, 4}),
                   vector(DType::f64, {1.890877836988262, 0.9167586853672688, 1.129677602479296}),
                   vector(DType::f64, kWeight)},
                  {{"dims", int64_t{1}}}),
      {{3, 4}, {4}},
      {{-0.2406511772284293, -1.179652924315216, -1.466519691134839, -0.4813023544568585,
        -0.1931859754333932, 0.02543207777857329, 0.5899790587627015, -0.8127354678262109,
        0.1767585032294063, 0.1648267763089027, 0.01193172692050352, -0.2508478400071642},
       {1.193388486014326, -0.3675709350930111, -1.680234556222278, -1.162082067091066}});
}

TEST(GroupNorm, AndItsGradients) {
  const Array weight = vector(DType::f64, kWeight);
  const prims::Attr groups{"groups", int64_t{2}};
  const Result r = run_derived(Prim::group_norm, {rows_array({1, 4, 3}), weight, weight},
                               {groups, {"eps", Scalar(0.1)}});
  expect_results(r, {{1, 4, 3}, {1, 2}, {1, 2}},
                 {{0.2971871272893727, 0.4185254546049028, 0.5803098910256095, 0.4325898181580388,
                   -0.2954401457351413, 0.2708053817373322, 0.471515779820222, 0.9489173001284126,
                   1.426318820436603, -0.007847653983958092, 0.9469553866324232, 1.265223066837884},
                  {-0.3958333333333333, 0.7708333333333334},
                  {1.294275491365654, 2.546141441643683}});
  expect_results(
      run_derived(Prim::group_norm_backward,
                  {rows_array({1, 4, 3}, kMoreRows), rows_array({1, 4, 3}),
                   array(DType::f64, {1, 2}, {-0.3958333333333333, 0.7708333333333334}),
                   array(DType::f64, {1, 2}, {1.294275491365654, 2.546141441643683}), weight},
                  {groups}),
      {{1, 4, 3}, {4}, {4}},
      {{0.3004668928261256, -0.2500695234903311, -0.2426060783173677, 0.2360660065818789,
        -0.215522417937938, 0.1716651203376322, 0.9843999647322801, -2.339948044436853,
        1.735427511170967, 0.4895358114358889, -0.120805599492731, -0.7486096434095516},
       {-3.394102655742743, -0.1483024000523145, 0.4707709436372435, -0.4177263302696668},
       {-2.875, 0.5, 0.875, 0.375}});
}

const std::vector<double> kChannelMean = {-0.25, -0.08333333333333333, 0.6666666666666666,
                                          0.4166666666666667};
const std::vector<double> kChannelVariance = {1.260416666666667, 0.2326388888888889,
                                              0.003472222222222238, 0.420138888888889};
const std::vector<double> kChannelRstd = {0.85736159974107, 1.733857851156404, 3.108766560905039,
                                          1.386565331273835};

TEST(BatchNorm, OfTheBatchAndOfWhatIsGiven) {
  const Array x = rows_array({3, 4, 1}), weight = vector(DType::f64, kWeight);
  const std::vector<double> y = {0.25,
                                 0.6806101928287921,
                                 0.6528510449717175,
                                 -0.271018220334349,
                                 -0.04471804991099278,
                                 -0.0779526170521346,
                                 0.6528510449717175,
                                 1.635509110167175,
                                 0.5447180499109928,
                                 0.8973424242233425,
                                 0.9442979100565649,
                                 1.635509110167175};
  const std::vector<prims::Attr> eps = {{"eps", Scalar(0.1)}};
  for (const bool fast : {false, true}) {
    expect_results(run_derived(Prim::batch_norm, {x, absent(), absent(), weight, weight}, eps,
                               DeviceTraits{.fast_f64 = fast}),
                   {{3, 4, 1}, {4}, {4}}, {y, kChannelMean, kChannelVariance});
  }
  expect_results(run_derived(Prim::batch_norm,
                             {x, vector(DType::f64, kChannelMean),
                              vector(DType::f64, kChannelVariance), weight, weight},
                             eps),
                 {{3, 4, 1}, {4}, {4}}, {y, kChannelMean, kChannelVariance});
}

TEST(BatchNormBackward, OfTheBatchAndOfWhatIsGiven) {
  const Array x = rows_array({3, 4, 1}), grad = rows_array({3, 4, 1}, kMoreRows);
  const Array mean = vector(DType::f64, kChannelMean), rstd = vector(DType::f64, kChannelRstd);
  const std::vector<double> dweight = {1.326231224599468, -0.5328000688449365, 0.1781064175518511,
                                       -1.032702304021659};
  const std::vector<double> dbias = {1.625, -0.875, -1.0, -0.875};
  expect_results(
      run_derived(Prim::batch_norm_backward, {grad, x, mean, rstd, vector(DType::f64, kWeight)},
                  {{"of_batch", true}}),
      {{3, 4, 1}, {4}, {4}},
      {{-0.008930849997302804, -0.9919232448323658, -3.576581159782841, 0.1443953215478762,
        -0.00439704176743162, 0.2916157059160497, 2.543803006998953, -0.6788199932062409,
        0.01332789176473445, 0.7003075389163163, 1.032778152783889, 0.5344246716583649},
       dweight,
       dbias});
  expect_results(run_derived(Prim::batch_norm_backward, {grad, x, mean, rstd, absent()},
                             {{"of_batch", false}}),
                 {{3, 4, 1}, {4}, {4}},
                 {{0.428680799870535, -2.600786776734606, -5.828937301696947, 0.3466413328184588,
                   0.0, 0.4334644627891009, 2.331574920678779, -1.386565331273835,
                   0.9645317997087037, 0.6501966941836514, 0.3885958201131298, -0.1733206664092294},
                  dweight,
                  dbias});
}

}  // namespace
}  // namespace primset::decomps
