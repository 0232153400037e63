// Expected values of scatter_reduce: PyTorch 2.13.
#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

Array matrix(DType t, int64_t rows, const std::vector<double>& values) {
  return array(t, {rows, static_cast<int64_t>(values.size()) / rows}, values);
}

Array integer_matrix(int64_t rows, const std::vector<int64_t>& values, DType t = DType::i64) {
  Array a = integers(t, values);
  a.shape = {rows, static_cast<int64_t>(values.size()) / rows};
  return a;
}

TEST(GatherAlongDim, OfASmallerIndex) {
  const Array x = matrix(DType::f32, 2, {1, 2, 3, 4, 5, 6});
  const std::vector<prims::Attr> dim1 = {{"dim", int64_t{1}}};
  expect_equal(
      derived(Prim::gather_along_dim, {x, integer_matrix(2, {2, 0, 1, 1}, DType::i32)}, dim1),
      matrix(DType::f32, 2, {3, 1, 5, 5}));
  const Result r = run_derived(Prim::gather_along_dim, {x, integer_matrix(1, {3, 0})}, dim1);
  expect_equal(r.outputs[0], matrix(DType::f32, 1, {0, 1}));
  EXPECT_EQ(r.failures.size(), 1u);
}

TEST(ScatterAlongDim, OfALargerSource) {
  const Array x = matrix(DType::f32, 2, {1, 2, 3, 4, 5, 6});
  expect_equal(derived(Prim::scatter_along_dim,
                       {x, integer_matrix(1, {1, 0}), matrix(DType::f32, 2, {7, 8, 9, 10, 11, 12})},
                       {{"dim", int64_t{0}}}),
               matrix(DType::f32, 2, {1, 8, 3, 7, 5, 6}));
}

TEST(ScatterReduce, EveryReductionWithAndWithoutItself) {
  const struct {
    const char* reduce;
    bool self;
    std::vector<int64_t> want;
  } cases[] = {
      {"sum", true, {11, -3, -4, 0, 25, 36}},        {"sum", false, {10, -5, -7, -4, 20, 30}},
      {"prod", true, {10, -10, -21, -16, 100, 180}}, {"prod", false, {10, -5, -7, -4, 20, 30}},
      {"mean", true, {5, -2, -2, 0, 12, 18}},        {"mean", false, {10, -5, -7, -4, 20, 30}},
      {"amin", true, {1, -5, -7, -4, 5, 6}},         {"amin", false, {10, -5, -7, -4, 20, 30}},
      {"amax", true, {10, 2, 3, 4, 20, 30}},         {"amax", false, {10, -5, -7, -4, 20, 30}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.reduce);
    for (DType t : {DType::i64, DType::i16}) {
      expect_equal(
          derived(
              Prim::scatter_reduce_along_dim,
              {integer_matrix(2, {1, 2, 3, 4, 5, 6}, t), integer_matrix(2, {0, 1, 1, 1, 0, 0}),
               integer_matrix(2, {10, 20, 30, -4, -5, -7}, t)},
              {{"dim", int64_t{0}}, {"reduce", std::string(c.reduce)}, {"include_self", c.self}}),
          integer_matrix(2, c.want, t));
    }
  }
}

TEST(ScatterReduce, UntouchedElementsKeepTheirValue) {
  for (const char* reduce : {"sum", "prod", "mean", "amin", "amax"}) {
    expect_near(
        derived(Prim::scatter_reduce_along_dim,
                {vector(DType::f16, {1, 2, 3}), integers(DType::i64, {1}), vector(DType::f16, {5})},
                {{"dim", int64_t{0}}, {"reduce", std::string(reduce)}, {"include_self", false}}),
        {3}, {1, 5, 3}, 0);
  }
}

TEST(IndexSelect, PutsTheIndexWhereTheDimWas) {
  expect_equal(derived(Prim::index_select,
                       {matrix(DType::f32, 2, {1, 2, 3, 4, 5, 6}), integers(DType::i64, {2, 0, 2})},
                       {{"dim", int64_t{1}}}),
               matrix(DType::f32, 2, {3, 1, 3, 6, 4, 6}));
}

Result put(const Array& x, const std::vector<Array>& indices, const Array& values,
           std::vector<int64_t> dims, bool accumulate) {
  std::vector<Array> inputs = {x};
  inputs.insert(inputs.end(), indices.begin(), indices.end());
  inputs.push_back(values);
  return run_derived(Prim::index_put, inputs, {{"dims", dims}, {"accumulate", accumulate}});
}

TEST(IndexPut, BroadcastsCountsFromTheEndAndAccumulates) {
  const Array x = matrix(DType::f32, 2, {1, 2, 3, 4, 5, 6});
  const Array rows = integer_matrix(2, {0, -1}), columns = integers(DType::i32, {-1, 1});
  expect_equal(put(x, {rows, columns}, matrix(DType::f32, 1, {10, 20}), {0, 1}, false).outputs[0],
               matrix(DType::f32, 2, {1, 20, 10, 4, 20, 10}));
  expect_equal(
      put(x, {integers(DType::i64, {2, 2, 0})}, number(DType::f32, 1), {1}, true).outputs[0],
      matrix(DType::f32, 2, {2, 2, 5, 5, 5, 8}));
  const Result out = put(x, {integers(DType::i64, {-3})}, number(DType::f32, 9), {0}, false);
  expect_equal(out.outputs[0], x);
  ASSERT_EQ(out.failures.size(), 1u);
  EXPECT_EQ(out.failures[0].value.integer, -3);
}

TEST(IndexPut, AddsComplexNumbers) {
  expect_equal(put(complexes(DType::c64, {2}, {1, 2, 3, 4}), {integers(DType::i64, {1, 1})},
                   complexes(DType::c64, {2}, {1, 1, 2, -5}), {0}, true)
                   .outputs[0],
               complexes(DType::c64, {2}, {1, 2, 6, 0}));
}

TEST(Nonzero, CoordinatesInOrder) {
  const Result r = run_derived(Prim::nonzero, {matrix(DType::f32, 2, {0, kNan, -0.0, 3, 0, 1})});
  expect_equal(r.outputs[0], integer_matrix(3, {0, 1, 1, 0, 1, 2}));
  EXPECT_EQ(r.outputs[1].data[0].integer, 3);
  const Result scalar = run_derived(Prim::nonzero, {number(DType::f32, 2)});
  EXPECT_EQ(scalar.outputs[0].shape, (std::vector<int64_t>{1, 0}));
  const Result none = run_derived(Prim::nonzero, {complexes(DType::c64, {2}, {0, 0, -0.0, 0})});
  EXPECT_EQ(none.outputs[0].shape, (std::vector<int64_t>{0, 1}));
}

TEST(MaskedSelect, InRowMajorOrder) {
  const Result r = run_derived(
      Prim::masked_select,
      {matrix(DType::f32, 2, {1, 2, 3, 4}), integer_matrix(2, {0, 1, 1, 0}, DType::boolean)});
  expect_equal(r.outputs[0], vector(DType::f32, {2, 3}));
  EXPECT_EQ(r.outputs[1].data[0].integer, 2);
}

TEST(MaskedScatter, TakesInOrder) {
  const Array x = vector(DType::f32, {1, 2, 3}), src = vector(DType::f32, {7, 8});
  Array mask = prims::reference::make_array(DType::boolean, {3});
  mask.data[0].integer = mask.data[2].integer = 1;
  expect_equal(derived(Prim::masked_scatter, {x, mask, src}), vector(DType::f32, {7, 2, 8}));
  const Result r = run_derived(Prim::masked_scatter, {x, mask, vector(DType::f32, {7})});
  EXPECT_EQ(r.failures.size(), 1u);
}

TEST(RepeatInterleave, AsOftenAsTheRepeatsSay) {
  const Array x = vector(DType::f32, {1, 2, 3}), repeats = integers(DType::i64, {2, 0, 1});
  const std::vector<prims::Attr> attrs = {{"dim", int64_t{0}}, {"size", prims::SymInt(3)}};
  expect_equal(derived(Prim::repeat_interleave, {x, repeats}, attrs),
               vector(DType::f32, {1, 1, 3}));
}

TEST(EmbeddingBag, EveryMode) {
  const Array weight = matrix(DType::f32, 3, {1, 2, 3, -4, 5, 6});
  const Array indices = integers(DType::i64, {2, 0, 1, 1}),
              bags = integers(DType::i64, {0, 0, 1, 1});
  const struct {
    const char* mode;
    std::vector<double> y, places;
  } cases[] = {{"sum", {6, 8, 6, -8}, {0, 0, 0, 0}},
               {"mean", {3, 4, 3, -4}, {0, 0, 0, 0}},
               {"max", {5, 6, 3, -4}, {2, 2, 1, 1}}};
  for (const auto& c : cases) {
    const Result r = run_derived(Prim::embedding_bag, {weight, indices, bags, absent()},
                                 {{"count", prims::SymInt(2)},
                                  {"mode", std::string(c.mode)},
                                  {"padding_idx", prims::SymInt(-1)}});
    expect_near(r.outputs[0], {2, 2}, c.y, 0);
    expect_near(r.outputs[1], {2}, {2, 2}, 0);
    expect_near(r.outputs[2], {2, 2}, c.places, 0);
  }
}

TEST(EmbeddingBackward, LeavesPaddingOutAndDividesByTheFrequency) {
  const Array grad = matrix(DType::f32, 3, {1, 2, 4}), indices = integers(DType::i64, {1, 1, 0});
  expect_near(derived(Prim::embedding_backward, {grad, indices},
                      {{"rows", prims::SymInt(3)},
                       {"padding_idx", prims::SymInt(0)},
                       {"scale_grad_by_freq", true},
                       {"in_bounds", false}}),
              {3, 1}, {0, 1.5, 0}, 0);
}

TEST(SegmentReduce, EveryReduction) {
  const Array x = vector(DType::f32, {1, -2, 3, 4, 5}),
              offsets = integers(DType::i64, {0, 2, 2, 4});
  const struct {
    const char* reduce;
    std::vector<double> want;
  } cases[] = {{"sum", {-1, 0, 7}},
               {"prod", {-2, 1, 12}},
               {"mean", {-0.5, kNan, 3.5}},
               {"max", {1, -kInf, 4}},
               {"min", {-2, kInf, 3}}};
  for (const auto& c : cases) {
    const Array y =
        derived(Prim::segment_reduce, {x, offsets}, {{"reduce", std::string(c.reduce)}});
    // What is behind the last offset counts as its segment's no more.
    expect_near(y, {3}, c.want, 0);
  }
}

}  // namespace
}  // namespace primset::decomps
