// Expected values: PyTorch 2.13.
#include "prims/reference/testing/interpret.h"

namespace primset::prims::reference {
namespace {

// [[1, 0, 2], [0, 0, 0], [0, 3, 4]], with the last row's columns out of order.
const Array kValues = f32({4}, {1, 2, 4, 3});
const Array kPointers = integers(DType::i64, {0, 2, 2, 4});
const Array kColumns = integers(DType::i32, {0, 2, 2, 1});
const Array kDense = f32({3, 2}, {1, -1, 2, 5, 0.5, 3});

Array matmul(const Array& dense, bool transpose = false, const char* reduce = "sum") {
  return first(
      run_prim(Prim::sparse_matmul, {kValues, kPointers, kColumns, dense},
               {{"size", SymInt(3)}, {"transpose", transpose}, {"reduce", std::string(reduce)}}));
}

TEST(SparseMatmul, OfAMatrixAndAVector) {
  expect_equal(matmul(kDense), f32({3, 2}, {2, 5, 0, 0, 8, 27}));
  expect_equal(matmul(f32({3}, {1, 2, 3})), f32({3}, {7, 0, 18}));
  expect_equal(matmul(kDense, true), f32({3, 2}, {1, -1, 1.5, 9, 4, 10}));
}

TEST(SparseMatmul, OtherReductions) {
  expect_equal(matmul(kDense, false, "mean"), f32({3, 2}, {1, 2.5, 0, 0, 4, 13.5}));
  expect_equal(matmul(kDense, false, "amax"), f32({3, 2}, {1, 6, 0, 0, 6, 15}));
  expect_equal(matmul(kDense, false, "amin"), f32({3, 2}, {1, -1, 0, 0, 2, 12}));
}

TEST(SampledMatmul, AtThePatternsPlaces) {
  const Array a = f32({3, 2}, {1, 2, 3, 4, 5, 6}), b = f32({2, 3}, {1, 0, 2, 0, 1, -1});
  expect_equal(first(run_prim(Prim::sampled_matmul, {a, b, kPointers, kColumns})),
               f32({4}, {1, 0, 4, 6}));
}

TEST(SparseSparseMatmul, KeepsWhatCancels) {
  const Array b = f32({4}, {2, 1, -1, 1});
  const Result r = run_prim(Prim::sparse_sparse_matmul,
                            {kValues, kPointers, kColumns, b, integers(DType::i64, {0, 1, 2, 4}),
                             integers(DType::i64, {2, 0, 2, 1})},
                            {{"size", SymInt(3)}, {"products", SymInt(6)}, {"entries", SymInt(6)}});
  expect_equal(r.outputs[1], integers(DType::i64, {0, 2, 2, 5}));
  const std::vector<int64_t> columns = {1, 2, 0, 1, 2};
  const std::vector<double> values = {2, 0, 3, 4, -4};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(r.outputs[2].data[i].integer, columns[i]);
    EXPECT_EQ(plain(DType::f32, r.outputs[0].data[i]), values[i]);
  }
  EXPECT_TRUE(r.outputs[0].data[5].undecided);
}

TEST(CooCoalesce, SumsAndOrder) {
  Array indices = integers(DType::i64, {2, 0, 2, 1, 3, 1});
  indices.shape = {2, 3};
  const Result r =
      run_prim(Prim::coo_coalesce, {indices, f32({3}, {1, 2, 4})}, {{"sizes", SymInts{3, 4}}});
  EXPECT_EQ(r.outputs[2].data[0].integer, 2);
  EXPECT_EQ(r.outputs[0].data[0].integer, 0);
  EXPECT_EQ(r.outputs[0].data[3].integer, 3);
  EXPECT_EQ(plain(DType::f32, r.outputs[1].data[0]), 2);
  EXPECT_EQ(plain(DType::f32, r.outputs[1].data[1]), 5);
  EXPECT_TRUE(r.outputs[1].data[2].undecided);
}

TEST(Rows, CompressedAndExpanded) {
  const Array rows = integers(DType::i64, {0, 0, 2, 2});
  expect_equal(first(run_prim(Prim::compress_rows, {rows}, {{"count", SymInt(3)}})), kPointers);
  expect_equal(first(run_prim(Prim::expand_rows, {kPointers}, {{"entries", SymInt(4)}})), rows);
}

}  // namespace
}  // namespace primset::prims::reference
