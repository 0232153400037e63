// Products of sparse tensors, on the current device. Expected values: PyTorch 2.13.
#include <gtest/gtest.h>

#include <map>

#include "sdk/runtime/sparse/sparse_call.h"

namespace primset::runtime {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<int64_t>;
constexpr std::string_view kLayouts[] = {"to_sparse", "to_sparse_csr", "to_sparse_csc"};

// [[1, 0, 2, 0], [0, 0, 0, 0], [0, -1, 0, 2]]
Tensor matrix() {
  return Tensor::of<float>({1, 0, 2, 0, 0, 0, 0, 0, 0, -1, 0, 2}, {3, 4});
}

Tensor factor() {
  return Tensor::of<float>({1, 0, 1, 2, 2, 0, -0.5, 0, 0, 1, 1, 0}, {4, 3});
}

const Floats kProduct = {0, 0, 1, 0, 0, 0, 0, 0, 0};

Floats values_of(const Tensor& t) {
  return op("contiguous", is_sparse(t) ? op("_to_dense", t) : t).to_vector<float>();
}

Integers integers_of(const Tensor& t) {
  return op("contiguous", t).to_vector<int64_t>();
}

TEST(SparseProducts, OfEveryLayoutWithStridedMatricesAndVectors) {
  for (const std::string_view layout : kLayouts) {
    SCOPED_TRACE(layout);
    const Tensor a = op(layout, matrix()), b = op(layout, factor());
    EXPECT_EQ(values_of(op("mm", a, factor())), kProduct);
    EXPECT_EQ(values_of(op("mm", matrix(), b)), kProduct);
    EXPECT_EQ(values_of(op("matmul", matrix(), b)), kProduct);
    EXPECT_EQ(values_of(op("mv", a, Tensor::of<float>({1, 2, 3, 4}, {4}))), (Floats{7, 0, 6}));
    EXPECT_EQ(values_of(op("linear", matrix(), op(layout, op("t", factor())))), kProduct);
  }
}

TEST(SparseProducts, OfBlocks) {
  const Tensor tall = op("cat", std::vector{matrix(), matrix()}, int64_t{0});
  Floats twice = kProduct;
  twice.insert(twice.end(), kProduct.begin(), kProduct.end());
  for (const std::string_view layout : {"to_sparse_bsr", "to_sparse_bsc"}) {
    SCOPED_TRACE(layout);
    const Tensor a = op(layout, tall, IntList{3, 2}), b = op(layout, factor(), IntList{2, 3});
    EXPECT_EQ(values_of(op("mm", a, factor())), twice);
    EXPECT_EQ(values_of(op("mm", tall, b)), twice);
    EXPECT_EQ(values_of(op("mv", a, Tensor::of<float>({1, 2, 3, 4}, {4}))),
              (Floats{7, 0, 6, 7, 0, 6}));
    EXPECT_EQ(values_of(op("mm", a, b)), twice);
  }
}

TEST(SparseProducts, OfUnorderedEntries) {
  const Tensor indices = Tensor::of<int64_t>({2, 0, 2, 0, 1, 1, 1, 3}, {2, 4});
  const Tensor a = op("sparse_coo_tensor.indices_size", indices,
                      Tensor::of<float>({1, 2, 3, 4}, {4}), IntList{3, 4});
  const Tensor x = Tensor::of<float>({1, 10, 100, 1000}, {4});
  const Floats want = {4020, 0, 40};
  EXPECT_EQ(values_of(op("mv", a, x)), want);
  EXPECT_EQ(values_of(op("mm", a, op("unsqueeze", x, int64_t{1}))), want);
  const Tensor row = Tensor::of<float>({1, 10, 100}, {1, 3});
  EXPECT_EQ(values_of(op("mm", row, a)), (Floats{0, 402, 0, 4}));
}

TEST(SparseProducts, OfIntegersWrap) {
  for (const DType t : {DType::u8, DType::i16, DType::i32, DType::i64}) {
    SCOPED_TRACE(name(t));
    const Tensor a = op("to.dtype", Tensor::of<int64_t>({200, 100, 0, 3}, {2, 2}), t);
    const Tensor y = op("mm", op("to_sparse_csr", a), a);
    const Tensor want = op("to.dtype", Tensor::of<int64_t>({40000, 20300, 0, 9}, {2, 2}), t);
    EXPECT_EQ(integers_of(op("to.dtype", y, DType::i64)),
              integers_of(op("to.dtype", want, DType::i64)));
  }
}

TEST(SparseProducts, OfSparseMatricesKeepWhatCancels) {
  const Tensor csr = op("mm", op("to_sparse_csr", matrix()), op("to_sparse_csr", factor()));
  EXPECT_EQ(csr.layout(), Layout::sparse_csr);
  EXPECT_EQ(integers_of(parts_of(csr).compressed), (Integers{0, 2, 2, 4}));
  EXPECT_EQ(integers_of(parts_of(csr).plain), (Integers{0, 2, 0, 1}));
  EXPECT_EQ(values_of(parts_of(csr).values), (Floats{0, 1, 0, 0}));
  const Tensor coo = op("mm", op("to_sparse", matrix()), op("to_sparse", factor()));
  EXPECT_EQ(coo.layout(), Layout::sparse_coo);
  EXPECT_TRUE(parts_of(coo).coalesced);
  EXPECT_EQ(integers_of(parts_of(coo).indices), (Integers{0, 0, 2, 2, 0, 2, 0, 1}));
  const Tensor csc = op("_sparse_mm", op("to_sparse_csc", matrix()), op("to_sparse_csc", factor()));
  EXPECT_EQ(csc.layout(), Layout::sparse_csc);
  EXPECT_EQ(values_of(csc), kProduct);
}

// n rows of ten ones each, seven columns apart from the row's own on, round the end; columns are
// `apart`. The product of two has as many ways to a place as two numbers below ten have to its sum.
constexpr int64_t kRows = 1000, kOnes = 10, kStep = 7;

Tensor circulant(int64_t apart) {
  Integers pointers, columns;
  for (int64_t r = 0; r <= kRows; ++r) pointers.push_back(r * kOnes);
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t k = 0; k < kOnes; ++k) columns.push_back((r + kStep * k) % kRows * apart);
  }
  const auto entries = static_cast<int64_t>(columns.size());
  return op("sparse_csr_tensor.crow_col_value_size", Tensor::of<int64_t>(pointers, {kRows + 1}),
            Tensor::of<int64_t>(columns, {entries}), op("ones", IntList{entries}),
            IntList{kRows, kRows * apart});
}

TEST(SparseProducts, OfManyRowsAndWideMatrices) {
  for (const int64_t apart : {1, 5000}) {
    SCOPED_TRACE(apart);
    const Tensor y = op("mm", circulant(1), circulant(apart));
    Integers pointers = {0}, columns;
    Floats ways;
    for (int64_t r = 0; r < kRows; ++r) {
      std::map<int64_t, float> row;
      for (int64_t sum = 0; sum < 2 * kOnes - 1; ++sum)
        row[(r + kStep * sum) % kRows * apart] =
            static_cast<float>(std::min(sum + 1, 2 * kOnes - 1 - sum));
      for (const auto& [column, value] : row) columns.push_back(column), ways.push_back(value);
      pointers.push_back(static_cast<int64_t>(columns.size()));
    }
    EXPECT_EQ(integers_of(parts_of(y).compressed), pointers);
    EXPECT_EQ(integers_of(parts_of(y).plain), columns);
    EXPECT_EQ(values_of(parts_of(y).values), ways);
  }
}

TEST(SparseProducts, BatchesAreBlocksOfADiagonal) {
  const Tensor a =
      op("to_sparse", op("stack", std::vector{matrix(), op("mul.Scalar", matrix(), Scalar(2.0))}));
  const Tensor b = op("stack", std::vector{factor(), factor()});
  const Floats want = {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(values_of(op("bmm", a, b)), want);
}

TEST(SparseProducts, SumsWithBetaAndAlpha) {
  const Tensor self = Tensor::of<float>({0, 1, 0, 0, 0, 2, 1, 0, 0}, {3, 3});
  const Floats want = {0, 2, 3, 0, 0, 4, 2, 0, 0};
  const Scalar beta(int64_t{2}), alpha(int64_t{3});
  for (const std::string_view layout : kLayouts) {
    SCOPED_TRACE(layout);
    EXPECT_EQ(values_of(op("addmm", self, op(layout, matrix()), factor(), beta, alpha)), want);
  }
  const Tensor sum = op("addmm", op("to_sparse_csr", self), op("to_sparse_csr", matrix()),
                        op("to_sparse_csr", factor()), beta, alpha);
  EXPECT_EQ(integers_of(parts_of(sum).plain), (Integers{0, 1, 2, 2, 0, 1}));
  EXPECT_EQ(values_of(parts_of(sum).values), (Floats{0, 2, 3, 4, 2, 0}));
  const Tensor none = op("full", IntList{3, 3}, Scalar(std::nan("")), DType::f32);
  EXPECT_EQ(
      values_of(op("addmm", none, op("to_sparse_csr", matrix()), factor(), Scalar(int64_t{0}))),
      kProduct);
}

TEST(SparseProducts, WriteInPlaceAndToOut) {
  const Tensor a = op("to_sparse_csr", matrix());
  const Tensor self = op("ones", IntList{3, 3});
  op("addmm_", self, a, factor());
  EXPECT_EQ(values_of(self), (Floats{1, 1, 2, 1, 1, 1, 1, 1, 1}));
  const Tensor out = op("empty.memory_format", IntList{3, 3});
  op("mm.out", a, factor(), out);
  EXPECT_EQ(values_of(out), kProduct);
}

TEST(SparseProducts, SampledAtThePatternsPlaces) {
  const Tensor pattern =
      op("to_sparse_csr", Tensor::of<float>({0, 1, 0, 0, 0, 2, 1, 0, 0}, {3, 3}));
  const Tensor a = op("contiguous", op("t", factor()));
  const Tensor y =
      op("sparse_sampled_addmm", pattern, a, factor(), Scalar(int64_t{2}), Scalar(int64_t{3}));
  EXPECT_EQ(values_of(parts_of(y).values), (Floats{17, 4, 5}));
}

TEST(SparseProducts, RowsThatAreSparse) {
  const Tensor indices = Tensor::of<int64_t>({2, 0, 2, 0, 1, 1, 1, 3}, {2, 4});
  const Tensor a = op("sparse_coo_tensor.indices_size", indices,
                      Tensor::of<float>({1, 2, 3, 4}, {4}), IntList{3, 4});
  const Tensor b = Tensor::of<float>({0, 1, 2, 3, 4, 5, 6, 7}, {4, 2});
  const Tensor hybrid = op("hspmm", a, b);
  EXPECT_EQ(integers_of(parts_of(hybrid).indices), (Integers{0, 2}));
  EXPECT_EQ(values_of(parts_of(hybrid).values), (Floats{28, 34, 8, 12}));
  const Tensor self =
      op("sparse_coo_tensor.indices_size", Tensor::of<int64_t>({1, 0, 1, 0}, {2, 2}),
         Tensor::of<float>({5, 6}, {2}), IntList{3, 2});
  const Tensor sum = op("sspaddmm", self, a, b, Scalar(int64_t{2}), Scalar(int64_t{3}));
  EXPECT_EQ(integers_of(parts_of(sum).indices), (Integers{1, 0, 0, 0, 2, 2, 1, 0, 0, 1, 0, 1}));
  EXPECT_EQ(values_of(parts_of(sum).values), (Floats{10, 12, 84, 102, 24, 36}));
  EXPECT_EQ(values_of(parts_of(op("smm", a, b)).values), (Floats{28, 34, 8, 12}));
}

TEST(SparseProducts, ReducedOtherwise) {
  const Tensor a = op("to_sparse_csr", matrix());
  const auto reduced = [&](std::string_view kind) {
    return values_of(op("_sparse_mm.reduce", a, factor(), kind));
  };
  EXPECT_EQ(reduced("mean"), (Floats{0, 0, 0.5, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(reduced("amax"), (Floats{1, 0, 1, 0, 0, 0, 2, 2, 0}));
  EXPECT_EQ(reduced("amin"), (Floats{-1, 0, 0, 0, 0, 0, -2, -2, 0}));
}

TEST(SparseProducts, GradientsOfReductions) {
  const Tensor a = op("to_sparse_csr", matrix());
  const Tensor grad = Tensor::of<float>({0, 1, 2, 3, 4, 5, 6, 7, 8}, {3, 3});
  const Tensor none = op("empty.memory_format", IntList{0}, DType::i64);
  const bool both[] = {true, true};
  const auto gradients = [&](std::string_view kind) {
    return ops("_sparse_mm_reduce_impl_backward", a, grad, factor(), kind, none,
               std::span<const bool>(both));
  };
  const std::vector<Tensor> sum = gradients("sum"), chosen = gradients("amax");
  EXPECT_EQ(values_of(parts_of(sum[0]).values), (Floats{2, 0, 26, 13}));
  EXPECT_EQ(values_of(sum[1]), (Floats{0, 1, 2, -6, -7, -8, 0, 2, 4, 12, 14, 16}));
  EXPECT_EQ(values_of(parts_of(chosen[0]).values), (Floats{2, 0, 0, 13}));
  EXPECT_EQ(values_of(chosen[1]), (Floats{0, 1, 2, 0, 0, -8, 0, 0, 0, 12, 14, 0}));
}

TEST(SparseProducts, SolveTriangles) {
  const Tensor a = Tensor::of<float>({2, 0, 0, 1, 4, 0, 3, 1, 4}, {3, 3});
  const Tensor b = Tensor::of<float>({2, 9, 8}, {3, 1});
  const std::vector<Tensor> x = ops("triangular_solve", b, op("to_sparse_csr", a), false);
  EXPECT_EQ(values_of(x[0]), (Floats{1, 2, 0.75}));
  EXPECT_EQ(x[1].numel(), 0);
}

// n x n with a diagonal of twos and three bands on either side of it, of which a triangle counts
// one.
constexpr int64_t kSide = 150;

float band_element(int64_t row, int64_t column) {
  const int64_t apart = std::abs(row - column);
  if (apart == 0) return 2;
  return apart == 1 || apart == 7 || apart == 100 ? static_cast<float>(1 + row % 3) : 0;
}

// The right-hand side of which the solution is row + 1 and minus that.
Tensor right_side(bool upper, bool transpose, bool unit) {
  Floats b;
  for (int64_t row = 0; row < kSide; ++row) {
    float sum = 0;
    for (int64_t column = 0; column < kSide; ++column) {
      const int64_t r = transpose ? column : row, c = transpose ? row : column;
      const bool counts = upper ? r <= c : r >= c;
      const float element = unit && r == c ? 1 : band_element(r, c);
      if (counts) sum += element * static_cast<float>(column + 1);
    }
    b.insert(b.end(), {sum, -sum});
  }
  return Tensor::of<float>(b, {kSide, 2});
}

TEST(SparseProducts, SolveTrianglesLevelByLevel) {
  Floats elements, want;
  for (int64_t row = 0; row < kSide; ++row) {
    for (int64_t column = 0; column < kSide; ++column)
      elements.push_back(band_element(row, column));
    want.insert(want.end(), {static_cast<float>(row + 1), static_cast<float>(-row - 1)});
  }
  const Tensor strided = Tensor::of<float>(elements, {kSide, kSide});
  for (const std::string_view layout : kLayouts) {
    const Tensor a = op(layout, strided);
    for (int way = 0; way < 8; ++way) {
      const bool upper = way & 1, transpose = way & 2, unit = way & 4;
      SCOPED_TRACE(fmt::format("{} {} {} {}", layout, upper, transpose, unit));
      const Tensor b = right_side(upper, transpose, unit);
      EXPECT_EQ(values_of(ops("triangular_solve", b, a, upper, transpose, unit)[0]), want);
    }
  }
}

TEST(SparseProducts, SolveNoTriangleOfIndicesOutOfRange) {
  const Tensor pointers = op("arange", Scalar(kSide + 1), DType::i64),
               columns = op("arange.start", Scalar(int64_t{1}), Scalar(kSide + 1), DType::i64);
  const Tensor a = op("_sparse_csr_tensor_unsafe", pointers, columns, op("ones", IntList{kSide}),
                      IntList{kSide, kSide});
  EXPECT_THROW(ops("triangular_solve", op("ones", IntList{kSide, 1}), a), Error);
}

TEST(SparseProducts, RefuseWhatDoesNotFit) {
  const Tensor a = op("to_sparse_csr", matrix());
  EXPECT_THROW(op("mm", a, matrix()), Error);
  EXPECT_THROW(op("mm", a, op("to.dtype", factor(), DType::f64)), Error);
  EXPECT_THROW(op("mv", a, Tensor::of<float>({1, 2}, {2})), Error);
  EXPECT_THROW(op("_sparse_mm.reduce", a, factor(), std::string_view("prod")), Error);
  EXPECT_THROW(op("sparse_sampled_addmm", op("to_sparse_csc", matrix()), matrix(), factor()),
               Error);
}

}  // namespace
}  // namespace primset::runtime
