// Decompositions against the primitives' plain meaning (prims/reference/sparse/sparse.cpp), whose
// own expected values are PyTorch's.
#include <random>

#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

using prims::SymInts;
using prims::reference::run_prim;
using Attrs = std::vector<prims::Attr>;

// Small integers, so that sums are exact in every order.
Array sparse_values(std::mt19937& rng, DType t, std::vector<int64_t> shape) {
  Array a = prims::reference::make_array(t, std::move(shape));
  const auto draw = [&] { return static_cast<int64_t>(rng() % 9) - 4; };
  for (auto& e : a.data) {
    if (is_integral(t)) e.integer = prims::reference::wrap(draw(), t);
    if (!is_integral(t)) e.re = static_cast<long double>(draw());
    if (is_complex(t)) e.im = static_cast<long double>(draw());
  }
  return a;
}

Array indices_below(std::mt19937& rng, DType t, int64_t count, int64_t size) {
  Array a = prims::reference::make_array(t, {count});
  for (auto& e : a.data) e.integer = static_cast<int64_t>(rng()) % size;
  return a;
}

// Random pointers of `rows` rows, some of them empty.
Array random_pointers(std::mt19937& rng, DType t, int64_t rows, int64_t entries) {
  Array a = indices_below(rng, t, rows + 1, entries + 1);
  a.data.front().integer = 0, a.data.back().integer = entries;
  std::ranges::sort(a.data, {}, &prims::reference::Element::integer);
  return a;
}

void expect_parts_equal(const Array& got, const Array& want, int64_t count) {
  ASSERT_EQ(got.shape, want.shape);
  for (int64_t i = 0; i < count; ++i) {
    const auto &g = got.data[static_cast<size_t>(i)], &w = want.data[static_cast<size_t>(i)];
    EXPECT_FALSE(g.undecided) << i;
    EXPECT_TRUE(g.integer == w.integer && g.re == w.re && g.im == w.im) << i;
  }
}

// Both ways; of vectors the first `count` elements, of anything else all.
void expect_decomposed(Prim p, const std::vector<Array>& inputs, const Attrs& attrs,
                       int64_t count = -1) {
  const Result got = run_derived(p, inputs, attrs), want = run_prim(p, inputs, attrs);
  ASSERT_EQ(got.outputs.size(), want.outputs.size());
  EXPECT_EQ(got.failures.size(), want.failures.size());
  for (size_t i = 0; i < want.outputs.size(); ++i) {
    const auto all = static_cast<int64_t>(want.outputs[i].data.size());
    expect_parts_equal(got.outputs[i], want.outputs[i], count < 0 ? all : std::min(count, all));
  }
}

constexpr DType kSparseTypes[] = {DType::f16, DType::f32, DType::f64, DType::i8,
                                  DType::i64, DType::c64, DType::c128};

TEST(SparseMatmul, OfEveryKindOfNumber) {
  std::mt19937 rng(1);
  for (DType t : kSparseTypes) {
    SCOPED_TRACE(name(t));
    for (bool transpose : {false, true}) {
      const int64_t n = transpose ? 7 : 9;
      const Array of = random_pointers(rng, DType::i64, 7, 20),
                  at = indices_below(rng, DType::i32, 20, 9);
      const Attrs attrs = {
          {"size", SymInt(9)}, {"transpose", transpose}, {"reduce", std::string("sum")}};
      const Array values = sparse_values(rng, t, {20});
      expect_decomposed(Prim::sparse_matmul, {values, of, at, sparse_values(rng, t, {n, 3})},
                        attrs);
      expect_decomposed(Prim::sparse_matmul, {values, of, at, sparse_values(rng, t, {n})}, attrs);
    }
  }
}

TEST(SparseMatmul, OtherReductionsAndEmptyRows) {
  std::mt19937 rng(2);
  for (const char* reduce : {"mean", "amax", "amin"}) {
    const Attrs attrs = {
        {"size", SymInt(5)}, {"transpose", false}, {"reduce", std::string(reduce)}};
    const Array of = integers(DType::i64, {0, 0, 4, 4, 6, 8, 8});
    expect_decomposed(
        Prim::sparse_matmul,
        {sparse_values(rng, DType::f32, {8}), of, indices_below(rng, DType::i64, 8, 5),
         sparse_values(rng, DType::f32, {5, 4})},
        attrs);
  }
}

TEST(SparseMatmul, WithoutEntriesAndOutOfRange) {
  const Attrs attrs = {{"size", SymInt(2)}, {"transpose", false}, {"reduce", std::string("sum")}};
  const Array dense = vector(DType::f32, {1, 2});
  expect_equal(derived(Prim::sparse_matmul,
                       {vector(DType::f32, {}), integers(DType::i64, {0, 0, 0}),
                        integers(DType::i64, {}), dense},
                       attrs),
               vector(DType::f32, {0, 0}));
  const Result r = run_derived(
      Prim::sparse_matmul,
      {vector(DType::f32, {1}), integers(DType::i64, {0, 1}), integers(DType::i64, {2}), dense},
      attrs);
  EXPECT_EQ(r.failures.size(), 1u);
}

TEST(SampledMatmul, OfEveryKindOfNumber) {
  std::mt19937 rng(3);
  for (DType t : kSparseTypes) {
    SCOPED_TRACE(name(t));
    expect_decomposed(
        Prim::sampled_matmul,
        {sparse_values(rng, t, {6, 3}), sparse_values(rng, t, {3, 4}),
         random_pointers(rng, DType::i64, 6, 11), indices_below(rng, DType::i64, 11, 4)},
        {});
  }
}

// How many products of two entries there are.
int64_t product_count(const Array& columns, const Array& other) {
  int64_t n = 0;
  for (const auto& c : columns.data) {
    const auto k = static_cast<size_t>(c.integer);
    n += other.data[k + 1].integer - other.data[k].integer;
  }
  return n;
}

// The product of [6, 8] and [8, 5] with so many entries; the first of `a` may be given, then those
// of b are 2.
void expect_sparse_product(std::mt19937& rng, DType t, int64_t a_entries, int64_t b_entries,
                           std::optional<double> first = {}) {
  const Array a_of = random_pointers(rng, DType::i64, 6, a_entries),
              a_at = indices_below(rng, DType::i64, a_entries, 8);
  const Array b_of = random_pointers(rng, DType::i32, 8, b_entries),
              b_at = indices_below(rng, DType::i32, b_entries, 5);
  const int64_t products = product_count(a_at, b_of);
  std::vector<Array> inputs = {sparse_values(rng, t, {a_entries}), a_of, a_at,
                               sparse_values(rng, t, {b_entries}), b_of, b_at};
  if (first) {
    inputs[0].data[0] = number(t, *first).data[0];
    std::ranges::fill(inputs[3].data, number(t, 2).data[0]);
  }
  const Attrs attrs = {{"size", SymInt(5)},
                       {"products", SymInt(products)},
                       {"entries", SymInt(std::min<int64_t>(products, 30))}};
  const Array ends = run_prim(Prim::sparse_sparse_matmul, inputs, attrs).outputs[1];
  const int64_t count = ends.data.back().integer;
  EXPECT_GT(count, 4);
  expect_decomposed(Prim::sparse_sparse_matmul, inputs, attrs, count);
}

// Few entries, whose products are merged, and many, for which rows are laid out densely.
TEST(SparseSparseMatmul, OfEveryKindOfNumber) {
  std::mt19937 rng(4);
  for (DType t : kSparseTypes) {
    SCOPED_TRACE(name(t));
    expect_sparse_product(rng, t, 9, 13);
    expect_sparse_product(rng, t, 14, 17);
    expect_sparse_product(rng, t, 30, 25);
  }
}

// Infinity times a place without an entry is nothing.
TEST(SparseSparseMatmul, OfInfinity) {
  std::mt19937 rng(4);
  for (int64_t entries : {9, 30}) expect_sparse_product(rng, DType::f32, entries, 25, kInf);
}

TEST(CooCoalesce, OfEveryKindOfNumber) {
  std::mt19937 rng(5);
  for (DType t : kSparseTypes) {
    SCOPED_TRACE(name(t));
    Array indices = indices_below(rng, DType::i64, 36, 3);
    indices.shape = {2, 18};
    const Array values = sparse_values(rng, t, {18});
    const Attrs attrs = {{"sizes", SymInts{3, 4}}};
    const Result want = run_prim(Prim::coo_coalesce, {indices, values}, attrs);
    const Result got = run_derived(Prim::coo_coalesce, {indices, values}, attrs);
    const int64_t count = want.outputs[2].data[0].integer;
    ASSERT_EQ(got.outputs[2].data[0].integer, count);
    expect_parts_equal(got.outputs[1], want.outputs[1], count);
    for (size_t d = 0; d < 2; ++d) {
      for (size_t i = 0; i < static_cast<size_t>(count); ++i)
        EXPECT_EQ(got.outputs[0].data[d * 18 + i].integer,
                  want.outputs[0].data[d * 18 + i].integer);
    }
  }
}

TEST(Rows, CompressedAndExpanded) {
  std::mt19937 rng(6);
  for (int64_t entries : {0, 1, 13}) {
    const Array of = random_pointers(rng, DType::i64, 5, entries);
    const Attrs expand = {{"entries", SymInt(entries)}};
    expect_decomposed(Prim::expand_rows, {of}, expand);
    const Array rows = derived(Prim::expand_rows, {of}, expand);
    expect_equal(derived(Prim::compress_rows, {rows}, {{"count", SymInt(5)}}), of);
  }
  Array batch = integers(DType::i32, {0, 2, 3, 0, 0, 3});
  batch.shape = {2, 3};
  expect_decomposed(Prim::expand_rows, {batch}, {{"entries", SymInt(3)}});
}

}  // namespace
}  // namespace primset::decomps
