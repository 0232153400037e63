// Making, moving, cutting and windowing arrays.
#include "prims/reference/testing/interpret.h"

namespace primset::prims::reference {
namespace {

using Values = Builder::Values;

Array counting(Ints shape) {
  Array a = make_array(DType::f32, std::move(shape));
  for (size_t i = 0; i < a.data.size(); ++i) a.data[i].re = static_cast<long double>(i);
  return a;
}

TEST(Constant, EveryKind) {
  auto constant = [](Attr value, DType t, SymInts shape) {
    return first(run_prim(Prim::constant, {}, {value, {"dtype", t}, {"shape", shape}}));
  };
  expect_equal(constant({"value", Scalar(0.1)}, DType::f16, {2}), vector(DType::f16, {0.1, 0.1}));
  expect_equal(constant({"value", Scalar(300)}, DType::u8, {1}), integers(DType::u8, {44}));
  expect_equal(constant({"value", Scalar(true)}, DType::boolean, {1}),
               integers(DType::boolean, {1}));
  expect_equal(constant({"value", SymInt(7)}, DType::i64, {1}), integers(DType::i64, {7}));
  EXPECT_EQ(constant({"value", Scalar(std::complex<double>(1, -2))}, DType::c64, {}).data[0].im,
            -2);
  EXPECT_TRUE(constant({"value", Scalar(1)}, DType::f32, {0, 3}).data.empty());
}

TEST(Iota, AlongADim) {
  Array r = first(run_prim(Prim::iota, {},
                           {{"shape", SymInts{2, 3}}, {"dim", int64_t{1}}, {"dtype", DType::f32}}));
  expect_equal(r, f32({2, 3}, {0, 1, 2, 0, 1, 2}));
}

TEST(BroadcastInDim, NewDimsAndSizeOne) {
  auto broadcast = [](const Array& x, SymInts shape, Ints dims) {
    return first(run_prim(Prim::broadcast_in_dim, {x}, {{"shape", shape}, {"dims", dims}}));
  };
  expect_equal(broadcast(f32({2}, {1, 2}), {2, 3}, {0}), f32({2, 3}, {1, 1, 1, 2, 2, 2}));
  expect_equal(broadcast(f32({1, 2}, {1, 2}), {2, 2}, {0, 1}), f32({2, 2}, {1, 2, 1, 2}));
  expect_equal(broadcast(number(DType::f32, 5), {2}, {}), f32({2}, {5, 5}));
  expect_equal(broadcast(f32({1}, {4}), {0}, {0}), f32({0}, {}));
}

TEST(Reshape, KeepsTheOrder) {
  Array r = first(run_prim(Prim::reshape, {counting({2, 3})}, {{"shape", SymInts{3, 2}}}));
  expect_equal(r, f32({3, 2}, {0, 1, 2, 3, 4, 5}));
}

TEST(Transpose, Permutes) {
  Array r =
      first(run_prim(Prim::transpose, {counting({1, 2, 3})}, {{"permutation", Ints{2, 0, 1}}}));
  expect_equal(r, f32({3, 1, 2}, {0, 3, 1, 4, 2, 5}));
}

TEST(Slice, StartsLimitsStrides) {
  auto slice = [](SymInts start, SymInts limit, SymInts stride) {
    return first(run_prim(Prim::slice, {counting({3, 4})},
                          {{"start", start}, {"limit", limit}, {"stride", stride}}));
  };
  expect_equal(slice({1, 0}, {3, 4}, {1, 3}), f32({2, 2}, {4, 7, 8, 11}));
  expect_equal(slice({1, 2}, {1, 4}, {1, 1}), f32({0, 2}, {}));
}

TEST(Pad, AddsAndCrops) {
  auto pad = [](const Array& x, SymInts low, SymInts high, SymInts interior) {
    return first(run_prim(Prim::pad, {x, number(DType::f32, 9)},
                          {{"low", low}, {"high", high}, {"interior", interior}}));
  };
  expect_equal(pad(f32({2}, {1, 2}), {1}, {2}, {1}), f32({6}, {9, 1, 9, 2, 9, 9}));
  expect_equal(pad(f32({4}, {1, 2, 3, 4}), {-1}, {-2}, {0}), f32({1}, {2}));
  expect_equal(pad(f32({3}, {1, 2, 3}), {-1}, {1}, {1}), f32({5}, {9, 2, 9, 3, 9}));
  expect_equal(pad(f32({0}, {}), {1}, {1}, {3}), f32({2}, {9, 9}));
}

TEST(Concatenate, AlongADim) {
  Array r = first(run_prim(Prim::concatenate,
                           {f32({2, 1}, {1, 2}), f32({2, 0}, {}), f32({2, 2}, {3, 4, 5, 6})},
                           {{"dim", int64_t{1}}}));
  expect_equal(r, f32({2, 3}, {1, 3, 4, 2, 5, 6}));
}

TEST(Reverse, SomeDims) {
  Array r = first(run_prim(Prim::reverse, {counting({2, 3})}, {{"dims", Ints{1}}}));
  expect_equal(r, f32({2, 3}, {2, 1, 0, 5, 4, 3}));
}

TEST(DynamicSlice, Clamps) {
  auto slice = [](int64_t start) {
    return first(run_prim(Prim::dynamic_slice,
                          {counting({5}), number(DType::i64, static_cast<double>(start))},
                          {{"sizes", SymInts{2}}}));
  };
  expect_equal(slice(1), f32({2}, {1, 2}));
  expect_equal(slice(9), f32({2}, {3, 4}));
  expect_equal(slice(-9), f32({2}, {0, 1}));
}

TEST(DynamicUpdateSlice, Clamps) {
  auto update = [](int64_t start) {
    return first(run_prim(
        Prim::dynamic_update_slice,
        {counting({4}), f32({2}, {8, 9}), number(DType::i64, static_cast<double>(start))}));
  };
  expect_equal(update(1), f32({4}, {0, 8, 9, 3}));
  expect_equal(update(7), f32({4}, {0, 1, 8, 9}));
}

std::vector<Attr> window_attrs(Ints dims, SymInts sizes, SymInts strides, SymInts dilations) {
  return {{"dims", dims}, {"sizes", sizes}, {"strides", strides}, {"dilations", dilations}};
}

TEST(Window, StridesAndDilations) {
  expect_equal(first(run_prim(Prim::window, {counting({6})}, window_attrs({0}, {2}, {2}, {3}))),
               f32({2, 2}, {0, 3, 2, 5}));
  expect_equal(first(run_prim(Prim::window, {counting({2, 3})}, window_attrs({1}, {2}, {1}, {1}))),
               f32({2, 2, 2}, {0, 1, 1, 2, 3, 4, 4, 5}));
}

TEST(WindowScatterAdd, IsTheAdjoint) {
  std::vector<Attr> attrs = window_attrs({0}, {2}, {1}, {1});
  attrs.push_back({"shape", SymInts{4}});
  Array r = first(run_prim(Prim::window_scatter_add, {f32({3, 2}, {1, 2, 3, 4, 5, 6})}, attrs));
  EXPECT_EQ(r.shape, Ints{4});
  std::vector<double> want = {1, 5, 9, 6};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(r.data[i].re, want[i]);
}

TEST(SetDim, CutsToARunTimeCount) {
  auto cut = [](double count) {
    return run_graph({counting({4}), number(DType::i64, count)}, [](Builder& b, const Values& v) {
      ValueId y = b.set_dim(v[0], v[1], 0);
      return Values{y, b.reshape(b.binary(Prim::add, y, y), {b.shape(y)[0], 1})};
    });
  };
  Result r = cut(2);
  expect_equal(r.outputs[0], f32({2}, {0, 1}));
  expect_equal(r.outputs[1], f32({2, 1}, {0, 2}));
  EXPECT_TRUE(r.failures.empty());
  r = cut(5);
  EXPECT_EQ(r.outputs[0].shape, Ints{4});
  ASSERT_EQ(r.failures.size(), 1u);
  EXPECT_EQ(r.failures[0].message, "a run-time size of 5 is outside of 0 to 4");
}

TEST(Symbols, SizesComeWithTheCall) {
  Graph g = parse(
      "symbol n = 3 min 0\n"
      "graph(%0 x: f32[n]) {\n"
      "  %1: f32[2*n] = concatenate(%0, %0) {dim = 0}\n  return %1 y\n}");
  Array x = f32({2}, {1, 2});
  std::vector<int64_t> symbols = {2};
  expect_equal(run(g, {{x}}, symbols).outputs[0], f32({4}, {1, 2, 1, 2}));
  EXPECT_THROW(run(g, {{f32({3}, {1, 2, 3})}}, symbols), Error);
}

}  // namespace
}  // namespace primset::prims::reference
