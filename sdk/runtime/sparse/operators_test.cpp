// Operators of sparse tensors but products, on the current device. Expected values: PyTorch 2.13.
#include <gtest/gtest.h>

#include "sdk/runtime/sparse/entries.h"

namespace primset::runtime {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<int64_t>;

Floats floats(const Tensor& t) {
  return op("contiguous", t).to_vector<float>();
}
Integers integers(const Tensor& t) {
  return op("contiguous", t).to_vector<int64_t>();
}
// Indices row after row.
Integers indices_of(const Tensor& coo) {
  return integers(parts_of(coo).indices);
}
Floats values_of(const Tensor& t) {
  return floats(parts_of(t).values);
}

Tensor coo(const Integers& indices, const Floats& values, const Sizes& sizes) {
  const auto dims = static_cast<int64_t>(sizes.size());
  const auto entries = static_cast<int64_t>(values.size());
  return make_coo(Tensor::of(std::span(indices), {dims, entries}),
                  Tensor::of(std::span(values), {entries}), sizes, false);
}
// (2, 1): 1 and 3, (0, 1): 2 of [3, 4].
Tensor repeated() {
  return coo({2, 0, 2, 1, 1, 1}, {1, 2, 3}, {3, 4});
}
Tensor ordered() {
  return coalesced(repeated());
}
// (0, 0): 5, (2, 1): 7
Tensor other() {
  return coalesced(coo({0, 2, 0, 1}, {5, 7}, {3, 4}));
}
Tensor dense() {
  return Tensor::of<float>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {3, 4});
}
// Rows 2 and 0 of [3, 2], the first of them twice.
Tensor hybrid() {
  return make_coo(Tensor::of<int64_t>({2, 0, 2}, {1, 3}),
                  Tensor::of<float>({0, 1, 2, 3, 4, 5}, {3, 2}), Sizes{3, 2}, false);
}

TEST(SparseElementwise, EntriesOfOnePlaceAreOneUnlessLinear) {
  const Tensor square = op("pow.Tensor_Scalar", repeated(), Scalar(2));
  EXPECT_EQ(indices_of(square), (Integers{0, 2, 1, 1}));
  EXPECT_EQ(values_of(square), (Floats{4, 16}));
  EXPECT_TRUE(parts_of(square).coalesced);
  EXPECT_EQ(values_of(op("neg", repeated())), (Floats{-1, -2, -3}));
  EXPECT_THROW(op("pow.Tensor_Scalar", repeated(), Scalar(0)), Error);
}

TEST(SparseElementwise, InPlaceTheValuesKeepTheirMemory) {
  const Tensor x = op("neg", ordered());
  const Tensor values = parts_of(x).values;
  op("abs_", x);
  EXPECT_EQ(floats(values), (Floats{2, 4}));
  EXPECT_TRUE(parts_of(x).values.is_alias_of(values));
  EXPECT_THROW(op("abs_", repeated()), Error);
  EXPECT_EQ(values_of(op("neg_", repeated())), (Floats{-1, -2, -3}));
}

TEST(SparseElementwise, OutIsOfTheResultsPattern) {
  const Tensor out = coo({0, 0}, {9}, {1, 1});
  op("abs.out", repeated(), out);
  EXPECT_EQ(Sizes(out.sizes().begin(), out.sizes().end()), (Sizes{3, 4}));
  EXPECT_EQ(values_of(out), (Floats{2, 4}));
  EXPECT_THROW(op("abs.out", repeated(), dense()), Error);
}

TEST(SparseElementwise, CompressedLayoutsStay) {
  const Tensor root = op("sqrt", op("to_sparse_csc", dense(), std::nullopt));
  EXPECT_EQ(root.layout(), Layout::sparse_csc);
  EXPECT_EQ(values_of(root)[2], 3);
}

TEST(SparseSums, OfTwoPatternsAreOfBoth) {
  const Tensor sum = op("add.Tensor", ordered(), other(), Scalar(2));
  EXPECT_EQ(indices_of(sum), (Integers{0, 0, 2, 0, 1, 1}));
  EXPECT_EQ(values_of(sum), (Floats{10, 2, 18}));
  EXPECT_TRUE(parts_of(sum).coalesced);
  const Tensor difference = op("sub.Tensor", ordered(), ordered());
  EXPECT_EQ(values_of(difference), (Floats{0, 0})) << "what cancels stays";
  EXPECT_THROW(op("add.Tensor", ordered(), hybrid()), Error);
}

TEST(SparseSums, OfStridedAndSparseAreStrided) {
  const Tensor sum = op("sub.Tensor", dense(), repeated());
  EXPECT_EQ(floats(sum), (Floats{1, 0, 3, 4, 5, 6, 7, 8, 9, 6, 11, 12}));
  EXPECT_THROW(op("add.Tensor", repeated(), dense()), Error);
  const Tensor target = op("clone", dense());
  op("add_.Tensor", target, repeated());
  EXPECT_EQ(floats(target)[1], 4);
}

TEST(SparseSums, OfCompressedLayouts) {
  const Tensor csr = op("to_sparse_csr", ordered()), more = op("to_sparse_csr", other());
  const Tensor sum = op("add.Tensor", csr, more);
  EXPECT_EQ(integers(parts_of(sum).compressed), (Integers{0, 2, 2, 3}));
  EXPECT_EQ(integers(parts_of(sum).plain), (Integers{0, 1, 1}));
  EXPECT_EQ(values_of(sum), (Floats{5, 2, 11}));
}

TEST(SparseProductsOfElements, FollowOneFactorsEntries) {
  const Tensor product = op("mul.Tensor", ordered(), other());
  EXPECT_EQ(indices_of(product), (Integers{2, 1}));
  EXPECT_EQ(values_of(product), (Floats{28}));
  EXPECT_EQ(values_of(op("mul.Tensor", other(), repeated())), (Floats{7, 0, 21}));
  EXPECT_EQ(values_of(op("mul.Tensor", repeated(), repeated())), (Floats{4, 4, 12}));
  EXPECT_EQ(values_of(op("mul.Tensor", repeated(), dense())), (Floats{10, 4, 30}));
  const Tensor row = Tensor::of<float>({1, 2, 3, 4}, {4});
  EXPECT_EQ(values_of(op("mul.Tensor", row, ordered())), (Floats{4, 8}));
}

TEST(SparseQuotients, AreByNumbers) {
  EXPECT_EQ(values_of(op("div.Scalar", repeated(), Scalar(2))), (Floats{0.5, 1, 1.5}));
  EXPECT_EQ(values_of(op("floor_divide.Scalar", repeated(), Scalar(3))), (Floats{0, 1}));
  EXPECT_THROW(op("div.Tensor", repeated(), dense()), Error);
}

TEST(SparseProducts, InPlaceKeepTheirDType) {
  const Tensor truth = op("to.dtype", ordered(), DType::boolean);
  EXPECT_THROW(op("mul_.Scalar", truth, Scalar(3)), Error);
  EXPECT_THROW(op("multiply_.Scalar", truth, Scalar(3)), Error);
}

TEST(SparseGeometry, DimsChangePlaces) {
  const Tensor turned = op("t", ordered());
  EXPECT_EQ(indices_of(turned), (Integers{1, 1, 0, 2}));
  EXPECT_FALSE(parts_of(turned).coalesced);
  EXPECT_EQ(op("t", op("to_sparse_csr", ordered())).layout(), Layout::sparse_csc);
  EXPECT_THROW(op("transpose_", op("to_sparse_csr", ordered()), int64_t{0}, int64_t{1}), Error);
  EXPECT_THROW(op("permute", hybrid(), IntList{1, 0}), Error);
  EXPECT_EQ(indices_of(op("unsqueeze", repeated(), int64_t{1})),
            (Integers{2, 0, 2, 0, 0, 0, 1, 1, 1}));
}

TEST(SparseGeometry, DimsHaveOtherNames) {
  EXPECT_EQ(indices_of(op("swapaxes", repeated(), int64_t{0}, int64_t{1})),
            (Integers{1, 1, 1, 2, 0, 2}));
  EXPECT_EQ(indices_of(op("mH", repeated())), (Integers{1, 1, 1, 2, 0, 2}));
  EXPECT_EQ(op("matrix_H", op("to_sparse_csr", ordered())).layout(), Layout::sparse_csc);
  EXPECT_EQ(op("conj", ordered()).impl()->sparse->values.dim(), 1);
  const Tensor cube = op("unsqueeze", repeated(), int64_t{0});
  const Tensor moved = op("movedim.int", cube, int64_t{0}, int64_t{-1});
  EXPECT_EQ(indices_of(moved), (Integers{2, 0, 2, 1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(moved.size(2), 1);
  EXPECT_EQ(indices_of(op("moveaxis.intlist", cube, IntList{2, 1}, IntList{0, 1})),
            (Integers{1, 1, 1, 2, 0, 2, 0, 0, 0}));
  EXPECT_THROW(op("movedim.intlist", cube, IntList{0, 0}, IntList{0, 1}), Error);
  EXPECT_EQ(indices_of(op("numpy_T", repeated())), (Integers{1, 1, 1, 2, 0, 2}));
  EXPECT_EQ(op("atleast_3d", repeated()).size(2), 1);
  EXPECT_EQ(op("atleast_1d", op("to_sparse_csr", ordered())).layout(), Layout::sparse_csr);
  const std::vector<Tensor> rows = ops("unbind.int", ordered());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(values_of(rows[2]), (Floats{4}));
}

TEST(SparseLists, AreTakenElementByElement) {
  const std::vector<Tensor> list = {repeated(), dense(), op("to_sparse_csr", ordered())};
  const std::vector<Tensor> negative = ops("_foreach_neg", list);
  ASSERT_EQ(negative.size(), 3u);
  EXPECT_EQ(values_of(negative[0]), (Floats{-1, -2, -3}));
  EXPECT_EQ(floats(negative[1])[11], -12);
  EXPECT_EQ(negative[2].layout(), Layout::sparse_csr);
  ops("_foreach_mul_.Scalar", list, Scalar(2.0));
  EXPECT_EQ(values_of(list[0]), (Floats{2, 4, 6}));
  EXPECT_EQ(floats(list[1])[11], 24);
  const std::vector<Tensor> sums =
      ops("_foreach_add.List", std::vector{ordered()}, std::vector{other()}, Scalar(int64_t{2}));
  EXPECT_EQ(values_of(sums[0]), (Floats{10, 2, 18}));
  EXPECT_THROW(ops("_foreach_powsum.Scalar", list), Error);
  const std::vector<Tensor> outs = {op("zeros_like", ordered()), op("zeros_like", dense())};
  const std::vector<Tensor> given = {ordered(), dense()};
  ops("_foreach_neg.out", given, outs);
  EXPECT_EQ(values_of(outs[0]), (Floats{-2, -4}));
  EXPECT_EQ(floats(outs[1])[11], -12);
}

TEST(SparseCompositions, AreOfOtherOperators) {
  const Tensor square =
      op("slice_copy.Tensor", op("to_dense", ordered()), int64_t{1}, int64_t{0}, int64_t{3});
  const Tensor a = op("to_sparse_csr", op("add.Scalar", square, Scalar(1.0)));
  // [[1, 3, 1], [1, 1, 1], [1, 5, 1]] cubed
  EXPECT_EQ(floats(op("to_dense", op("matrix_power", a, int64_t{3}))),
            (Floats{21, 51, 21, 15, 33, 15, 27, 69, 27}));
  EXPECT_THROW(op("matrix_power", a, int64_t{0}), Error);
  const std::vector<Tensor> chain = {a, a, op("to_dense", a)};
  EXPECT_EQ(floats(op("linalg_multi_dot", chain)),
            floats(op("to_dense", op("matrix_power", a, int64_t{3}))));
  const Tensor rows = op("embedding", ordered(), Tensor::of<int64_t>({2, 2}, {2}));
  EXPECT_EQ(indices_of(rows), (Integers{0, 1, 1, 1}));
  EXPECT_EQ(values_of(rows), (Floats{4, 4}));
  EXPECT_EQ(op("_cast_Double", ordered()).dtype(), DType::f64);
  EXPECT_EQ(values_of(op("dropout", ordered(), 0.5, false)), (Floats{2, 4}));
  EXPECT_EQ(values_of(op("dropout", ordered(), 1.0, true)), (Floats{0, 0}));
  EXPECT_THROW(op("dropout", ordered(), 0.5, true), Error);
  EXPECT_EQ(values_of(op("ldexp.Tensor", ordered(), Tensor::of<float>({3}, {}))), (Floats{16, 32}));
}

TEST(SparseCompositions, LeaveOrChangeLayouts) {
  EXPECT_FLOAT_EQ(floats(op("dist", ordered(), other()))[0], 6.1644139F);
  EXPECT_THROW(op("dist.out", ordered(), other(), Scalar(2), Tensor::of<double>({0}, {})), Error)
      << "as of strided tensors";
  const Tensor square = op("float_power.Tensor_Scalar", ordered(), Scalar(2));
  EXPECT_EQ(parts_of(square).values.to_vector<double>(), (std::vector<double>{4, 16}));
  EXPECT_EQ(values_of(op("trapz.dx", ordered(), 2.0, int64_t{0})), (Floats{6}));
  const Tensor counts = Tensor::of<int64_t>({1, 0, 2}, {3});
  const Tensor repeats = op("repeat_interleave.self_Tensor", ordered(), counts, int64_t{0});
  EXPECT_EQ(indices_of(repeats), (Integers{0, 1, 2, 1, 1, 1}));
  const Tensor two = Tensor::of<int64_t>({2}, {});
  const Tensor twice = op("repeat_interleave.self_Tensor", ordered(), two, int64_t{-1});
  EXPECT_EQ(indices_of(coalesced(twice)), (Integers{0, 0, 2, 2, 2, 3, 2, 3}));
  const Tensor pair = Tensor::of<int64_t>({2}, {1});
  EXPECT_EQ(indices_of(coalesced(op("repeat_interleave.self_Tensor", ordered(), pair, int64_t{1}))),
            indices_of(coalesced(twice)));
  EXPECT_THROW(op("repeat_interleave.self_Tensor", ordered(), counts), Error);
  const Tensor few = Tensor::of<int64_t>({1, 2}, {2});
  EXPECT_THROW(op("repeat_interleave.self_Tensor", ordered(), few, int64_t{0}), Error);
  EXPECT_TRUE(is_coo(op("flatten.using_ints", ordered(), int64_t{1}, int64_t{-1})));
  EXPECT_THROW(op("flatten.using_ints", ordered()), Error);
  EXPECT_TRUE(is_coo(op("sum_to_size", ordered(), IntList{3, 4})));
  EXPECT_THROW(op("sum_to_size", ordered(), IntList{1, 4}), Error);
  for (const char* resize : {"resize_as", "resize_as_"})
    EXPECT_EQ(op(resize, Tensor::of<float>({1}, {1}), ordered()).numel(), 12);
  const Tensor hidden = Tensor::of<float>({0.5, 1, 0, 1, 1, 0}, {3, 2}),
               of_input = op("slice.Tensor", dense(), int64_t{0}, int64_t{0}, int64_t{2}),
               of_hidden = Tensor::of<float>({1, 0, 0, 2}, {2, 2});
  EXPECT_EQ(floats(op("rnn_relu_cell", ordered(), hidden, of_input, of_hidden)),
            floats(op("rnn_relu_cell", op("to_dense", ordered()), hidden, of_input, of_hidden)));
}

TEST(SparseResults, HavePartsOfTheirOwn) {
  const Tensor x = ordered(), none = coo({}, {}, {3, 4});
  for (const Tensor& y : {op("neg", x), op("mul.Scalar", x, Scalar(2)), op("add.Tensor", none, x),
                          op("_coalesced", x, false)}) {
    EXPECT_FALSE(parts_of(y).indices.is_alias_of(parts_of(x).indices));
    EXPECT_FALSE(parts_of(y).values.is_alias_of(parts_of(x).values));
  }
  EXPECT_TRUE(parts_of(op("detach", x)).values.is_alias_of(parts_of(x).values));
  const Tensor alone =
      op("_sparse_coo_tensor_unsafe", Tensor::of<int64_t>({1}, {1, 1}), Tensor::of<float>({2}, {1}),
         IntList{3}, std::nullopt, std::nullopt, std::nullopt, std::nullopt, false);
  EXPECT_FALSE(parts_of(alone).coalesced);
}

TEST(SparseGeometry, PartsAreSelected) {
  EXPECT_EQ(values_of(op("select.int", repeated(), int64_t{0}, int64_t{2})), (Floats{1, 3}));
  EXPECT_EQ(floats(op("select.int", hybrid(), int64_t{0}, int64_t{2})), (Floats{4, 6}));
  const Tensor at = Tensor::of<int64_t>({2, 1, 2}, {3});
  const Tensor taken = op("index_select", repeated(), int64_t{0}, at);
  EXPECT_EQ(indices_of(taken), (Integers{0, 0, 2, 2, 1, 1, 1, 1}));
  EXPECT_EQ(values_of(taken), (Floats{1, 3, 1, 3}));
  EXPECT_THROW(op("index_select", repeated(), int64_t{0}, Tensor::of<int64_t>({5}, {1})), Error);
  const Tensor narrow = op("narrow_copy", ordered(), int64_t{0}, int64_t{1}, int64_t{2});
  EXPECT_EQ(indices_of(narrow), (Integers{1, 1}));
}

TEST(SparseGeometry, TensorsAreJoined) {
  const std::vector<Tensor> pair = {repeated(), ordered()};
  EXPECT_EQ(indices_of(op("cat", pair)), (Integers{2, 0, 2, 3, 5, 1, 1, 1, 1, 1}));
  EXPECT_EQ(indices_of(op("stack", pair)), (Integers{0, 0, 0, 1, 1, 2, 0, 2, 0, 2, 1, 1, 1, 1, 1}));
  const std::vector<Tensor> rows = {hybrid(), hybrid()};
  EXPECT_EQ(floats(op("to_dense", op("cat", rows, int64_t{1}))),
            (Floats{2, 3, 2, 3, 0, 0, 0, 0, 4, 6, 4, 6}));
  const Tensor wide =
      op("_sparse_broadcast_to", coalesced(coo({0, 2, 0, 0}, {1, 2}, {3, 1})), IntList{3, 2});
  EXPECT_EQ(indices_of(wide), (Integers{0, 0, 2, 2, 0, 1, 0, 1}));
  EXPECT_TRUE(parts_of(wide).coalesced);
}

TEST(SparseGeometry, SizesGrow) {
  const Tensor x = op("clone", repeated());
  op("sparse_resize_", x, IntList{5, 4}, int64_t{2}, int64_t{0});
  EXPECT_EQ(x.size(0), 5);
  EXPECT_THROW(op("sparse_resize_", x, IntList{2, 4}, int64_t{2}, int64_t{0}), Error);
  op("sparse_resize_and_clear_", x, IntList{2, 2}, int64_t{1}, int64_t{1});
  EXPECT_EQ(stored_entries(x), 0);
  const Tensor csr = op("resize_", op("to_sparse_csr", ordered()), IntList{2, 4});
  EXPECT_EQ(values_of(csr), (Floats{2}));
}

TEST(SparseReductions, OverSparseAndDenseDims) {
  EXPECT_EQ(floats(op("sum", repeated())), (Floats{6}));
  EXPECT_EQ(values_of(op("sum.dim_IntList", repeated(), IntList{1})), (Floats{2, 4}));
  EXPECT_EQ(floats(op("_sparse_sum.dim", hybrid(), IntList{0})), (Floats{6, 9}));
  EXPECT_EQ(values_of(op("_sparse_sum.dim", hybrid(), IntList{1})), (Floats{5, 10}));
  EXPECT_FLOAT_EQ(floats(op("norm.Scalar", repeated(), Scalar(2)))[0], 4.4721360f);
  const Tensor grad = op("_sparse_sum.dim", repeated(), IntList{1});
  EXPECT_EQ(values_of(op("_sparse_sum_backward", grad, repeated(), IntList{1})), (Floats{2, 4}));
}

TEST(SparseReductions, OfRowsAndColumns) {
  const Tensor csr = op("to_sparse_csr", op("add.Tensor", ordered(), other()));
  const Tensor rows = op("_sparse_csr_sum.dim_dtype", csr, IntList{1}, true);
  EXPECT_EQ(integers(parts_of(rows).compressed), (Integers{0, 1, 1, 2}));
  EXPECT_EQ(values_of(rows), (Floats{7, 11}));
  EXPECT_EQ(values_of(op("_sparse_csr_prod.dim_dtype", csr, IntList{0}, true)), (Floats{5, 22}));
  EXPECT_EQ(values_of(op("_sparse_csr_sum.dim_dtype", csr, IntList{0, 1}, true)), (Floats{18}));
  EXPECT_THROW(op("_sparse_csr_sum.dim_dtype", csr, IntList{1}, false), Error);
}

// By rows and columns that have no entry, of numbers that no segments are for.
TEST(SparseReductions, OfRowsOfIntegers) {
  const Tensor coo =
      op("sparse_coo_tensor.indices_size", Tensor::of<int64_t>({0, 2, 2, 1, 0, 1}, {2, 3}),
         Tensor::of<int64_t>({3, 4, 5}, {3}), IntList{3, 100});
  const Tensor csr = op("to_sparse_csr", coo);
  const Tensor rows = op("_sparse_csr_prod.dim_dtype", csr, IntList{1}, true);
  EXPECT_EQ(integers(parts_of(rows).compressed), (Integers{0, 1, 1, 2}));
  EXPECT_EQ(integers(parts_of(rows).values), (Integers{3, 20}));
  const Tensor columns = op("_sparse_csr_sum.dim_dtype", csr, IntList{0}, true);
  EXPECT_EQ(integers(parts_of(columns).plain), (Integers{0, 1}));
  EXPECT_EQ(integers(parts_of(columns).values), (Integers{4, 8}));
}

TEST(SparseSoftmax, IsOverWhatIsStored) {
  const Tensor columns = op("_sparse_softmax", repeated(), int64_t{0}, false);
  EXPECT_NEAR(values_of(columns)[0], 0.1192029, 1e-6);
  EXPECT_NEAR(values_of(columns)[1], 0.8807971, 1e-6);
  EXPECT_EQ(values_of(op("_sparse_softmax", repeated(), int64_t{1}, false)), (Floats{1, 1}));
  const Tensor grad =
      op("_sparse_softmax_backward_data", repeated(), columns, int64_t{0}, ordered());
  EXPECT_NEAR(values_of(grad)[0], -0.2099872, 1e-6);
  const Tensor log = op("_sparse_log_softmax", repeated(), int64_t{0}, false);
  EXPECT_NEAR(values_of(log)[1], -0.1269280, 1e-6);
}

TEST(SparseMasks, PickElements) {
  EXPECT_EQ(values_of(op("sparse_mask", dense(), repeated())), (Floats{10, 2, 10}));
  EXPECT_EQ(values_of(op("sparse_mask", other(), repeated())), (Floats{7, 0, 7}));
  const Tensor csc = op("to_sparse_csc", ordered());
  EXPECT_EQ(values_of(op("sparse_mask", dense(), csc)), (Floats{2, 10}));
  EXPECT_EQ(values_of(op("_sparse_mask_projection", repeated(), repeated(), true)),
            (Floats{2, 2, 6}));
  const Tensor all = op("to_dense_backward", dense(), ordered(), false);
  EXPECT_EQ(stored_entries(all), 12);
}

TEST(SparseDiagonals, StandWhereTheirOffsetsSay) {
  const Tensor rows = Tensor::of<float>({1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 3});
  const Tensor offsets = Tensor::of<int64_t>({0, -1, 2}, {3});
  const Tensor matrix = op("_spdiags", rows, offsets, IntList{3, 3});
  EXPECT_EQ(indices_of(matrix), (Integers{0, 1, 2, 1, 2, 0, 0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(values_of(matrix), (Floats{1, 2, 3, 4, 5, 9}));
  EXPECT_THROW(op("_spdiags", rows, Tensor::of<int64_t>({0, 0, 1}, {3}), IntList{3, 3}), Error);
}

TEST(SparseGradients, OfTablesNameTheRowsLookedUp) {
  const Tensor grad = Tensor::of<float>({0, 1, 2, 3, 4, 5}, {3, 2});
  const Tensor at = Tensor::of<int64_t>({1, 2, 1}, {3});
  const Tensor table = op("embedding_sparse_backward", grad, at, int64_t{5}, int64_t{2}, false);
  EXPECT_EQ(indices_of(table), (Integers{1, 1}));
  EXPECT_EQ(values_of(table), (Floats{0, 1, 4, 5}));
  const Tensor places = Tensor::of<int64_t>({0, 1, 2, 2}, {2, 2});
  const Tensor ones = Tensor::of<float>({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(indices_of(op("_gather_sparse_backward", dense(), int64_t{1}, places, ones)),
            (Integers{0, 0, 1, 1, 0, 1, 2, 2}));
}

TEST(SparseTrapezoids, AddTheirEndsInTheirOwnDtype) {
  const Tensor y = op("to.dtype", coo({0, 1, 0, 0}, {2, 254}, {2, 1}), DType::u8);
  EXPECT_EQ(values_of(coalesced(op("trapezoid.dx", y, Scalar(2.5), int64_t{0}))), (Floats{640}));
}

TEST(SparseSums, AreInOrderWhereBothTermsAre) {
  const Tensor x = ordered(), y = op("_coalesced_", op("clone", x), false);
  EXPECT_TRUE(parts_of(op("add.Tensor", x, x)).coalesced);
  EXPECT_FALSE(parts_of(op("add.Tensor", x, y)).coalesced);
  EXPECT_FALSE(parts_of(op("add.Tensor", y, x)).coalesced);
}

TEST(SparseCopies, ArePlacedAndCast) {
  const Tensor x = op("clone", repeated());
  op("copy_", x, other());
  EXPECT_EQ(values_of(x), (Floats{5, 7}));
  EXPECT_THROW(op("copy_", x, dense()), Error);
  EXPECT_EQ(op("_to_copy", x, DType::i32).dtype(), DType::i32);
  EXPECT_EQ(stored_entries(op("zero_", x)), 0);
  EXPECT_EQ(stored_entries(op("zeros_like", repeated())), 0);
  EXPECT_EQ(op("zeros", IntList{2, 3}, DType::f32, Layout::sparse_csr).layout(),
            Layout::sparse_csr);
}

}  // namespace
}  // namespace primset::runtime
