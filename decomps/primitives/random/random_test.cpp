// Expected values: an independent Philox in Python, checked with the known answers of Random123;
// normal values by mpmath.
#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

using prims::SymInts;

Result draw(Prim p, int64_t key, int64_t offset, std::vector<prims::Attr> attrs,
            DeviceTraits device = {}) {
  Array k = number(DType::i64, 0), o = k;
  k.data[0].integer = key;
  o.data[0].integer = offset;
  return run_derived(p, {k, o}, std::move(attrs), device);
}

constexpr DeviceTraits kWithoutI64{.i64 = false};

Array words(int64_t key, int64_t offset, SymInts shape, DeviceTraits device = {}) {
  return draw(Prim::philox_bits, key, offset, {{"shape", shape}}, device).outputs[0];
}

Array u32(std::vector<int64_t> shape, const std::vector<int64_t>& values) {
  Array a = integers(DType::u32, values);
  a.shape = std::move(shape);
  return a;
}

TEST(Philox, KnownAnswers) {
  expect_equal(words(0, 0, {}), u32({4}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  // The counter carries into its second word.
  expect_equal(
      words(0x123456789abcdef, 0xffffffff, {3, 1}),
      u32({3, 1, 4}, {120849060, 2541040414, 1690931885, 844121516, 3644927338, 1507671912,
                      2638651410, 1562893785, 1235296977, 1608982731, 809859007, 1555351850}));
  const Array wrapped = words(0, -1, {2});
  EXPECT_EQ(wrapped.data[4].integer, 0x6627e8d5);
}

TEST(Philox, CountersOfWordsAreThoseOf64Bits) {
  for (const int64_t offset :
       {int64_t{0}, int64_t{0xffffffff}, int64_t{0x7fffffffffff}, int64_t{-2}})
    expect_equal(words(0x123456789abcdef, offset, {3, 1}, kWithoutI64),
                 words(0x123456789abcdef, offset, {3, 1}));
}

Array uniform(DType t, double low, double high, SymInts shape) {
  return draw(Prim::random_uniform, 7, 5,
              {{"shape", shape}, {"dtype", t}, {"low", Scalar(low)}, {"high", Scalar(high)}})
      .outputs[0];
}

TEST(RandomUniform, OfAsManyBitsAsTheSignificandHas) {
  expect_equal(uniform(DType::f32, 0, 1, {3, 2}),
               array(DType::f32, {3, 2},
                     {0.3386129140853882, 0.8027053475379944, 0.2706468105316162,
                      0.012694716453552246, 0.5680689215660095, 0.7579346895217896}));
  expect_equal(uniform(DType::f64, 0, 1, {6}),
               vector(DType::f64, {0.33623943881565066, 0.46800581431079313, 0.4722965069279649,
                                   0.9432354150369517, 0.014647556833938813, 0.9956876257802207}));
  expect_equal(uniform(DType::f16, 0, 1, {6}),
               vector(DType::f16, {0.33837890625, 0.80224609375, 0.2705078125, 0.01220703125,
                                   0.56787109375, 0.7578125}));
}

TEST(RandomUniform, NeverReachesTheUpperEnd) {
  // Of these two neighbours in bf16 every sum rounds to one or the other.
  const Array y = uniform(DType::bf16, 1, 1.0078125, {64});
  for (const auto& e : y.data) EXPECT_EQ(static_cast<double>(e.re), 1);
}

Array normal(DType t, double mean, double std, SymInts shape) {
  return draw(Prim::random_normal, 7, 5,
              {{"shape", shape}, {"dtype", t}, {"mean", Scalar(mean)}, {"std", Scalar(std)}})
      .outputs[0];
}

TEST(RandomNormal, ByBoxAndMuller) {
  const double f32[] = {-0.7589795867194962, -0.649623686086739, -1.5923187981019657,
                        2.769210379923057,   1.0589957271115937, 0.7442508006226796,
                        0.5430171350486325,  -1.5052536375959524};
  const double f64[] = {-0.28278504497038115, -1.0383352683425224, -0.6470490225150214,
                        -0.08457506018831379, 2.423160054006514,   -0.06964335081579426,
                        0.4625024990032394,   0.37170404509799804};
  const Array a = normal(DType::f32, 0, 1, {8}), b = normal(DType::f64, 0, 1, {8});
  double worst = 0;
  for (size_t i = 0; i < 8; ++i) {
    worst = std::max(worst, ulps(DType::f32, static_cast<double>(a.data[i].re), f32[i]));
    worst = std::max(worst, ulps(DType::f64, static_cast<double>(b.data[i].re), f64[i]));
  }
  RecordProperty("random_normal", std::to_string(worst));
  EXPECT_LE(worst, 4);
  expect_near(normal(DType::f64, 3, 0, {2}), {2}, {3, 3}, 0);
}

Array whole(DType t, int64_t low, int64_t high, SymInts shape, DeviceTraits device = {}) {
  return draw(Prim::random_integers, 7, 5,
              {{"shape", shape}, {"dtype", t}, {"low", Scalar(low)}, {"high", Scalar(high)}},
              device)
      .outputs[0];
}

TEST(RandomIntegers, OfAnyRange) {
  expect_equal(whole(DType::i64, -5, 12, {8}), integers(DType::i64, {7, 1, 6, -1, 10, 1, -5, -2}));
  expect_equal(whole(DType::i8, -5, 12, {4}), integers(DType::i8, {7, 1, 6, -1}));
  expect_equal(
      whole(DType::i64, 0, int64_t{3} << 61, {3}),
      integers(DType::i64, {4975966653931781473, 2832652372675914879, 4575406675483257029}));
  expect_equal(
      whole(DType::i64, INT64_MIN, INT64_MIN, {3}),
      integers(DType::i64, {4045872373629974787, -1669632376385669464, 2977712431100576269}));
}

TEST(RandomIntegers, OfWordsAreThoseOf64Bits) {
  constexpr int64_t kHalf = int64_t{1} << 31;
  const std::pair<int64_t, int64_t> ranges[] = {
      {-5, 12}, {0, 1}, {0, kHalf}, {-kHalf, kHalf - 1}, {-kHalf, -7}, {1, kHalf}};
  for (const auto& [low, high] : ranges)
    expect_equal(whole(DType::i32, low, high, {64}, kWithoutI64),
                 whole(DType::i32, low, high, {64}));
}

TEST(RandomPermutation, OfWordsIsThatOf64Bits) {
  const auto permutation = [](DeviceTraits device) {
    return draw(Prim::random_permutation, 7, 5, {{"n", prims::SymInt(500)}}, device).outputs[0];
  };
  expect_equal(permutation(kWithoutI64), permutation({}));
}

Result dropout(double p) {
  Array k = number(DType::i64, 7), o = number(DType::i64, 5);
  return run_derived(Prim::dropout, {k, o, vector(DType::f32, {1, 2, 3, 4})}, {{"p", Scalar(p)}});
}

TEST(Dropout, KeepsAndScales) {
  const Result r = dropout(0.5);
  expect_equal(r.outputs[0], vector(DType::f32, {2, 0, 6, 8}));
  expect_equal(r.outputs[1], integers(DType::boolean, {1, 0, 1, 1}));
  expect_equal(dropout(1).outputs[0], vector(DType::f32, {0, 0, 0, 0}));
  expect_equal(dropout(0).outputs[0], vector(DType::f32, {1, 2, 3, 4}));
}

}  // namespace
}  // namespace primset::decomps
