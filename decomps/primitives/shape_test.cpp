#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

Array counted(std::vector<int64_t> shape) {
  Array a = prims::reference::make_array(DType::f32, std::move(shape));
  for (size_t i = 0; i < a.data.size(); ++i) a.data[i].re = static_cast<long double>(i);
  return a;
}

Array diagonal(const Array& x, int64_t offset, int64_t dim1, int64_t dim2) {
  return derived(Prim::diagonal, {x}, {{"offset", offset}, {"dim1", dim1}, {"dim2", dim2}});
}

TEST(Diagonal, AtAnyOffset) {
  const Array x = counted({3, 4});
  expect_equal(diagonal(x, 0, 0, 1), vector(DType::f32, {0, 5, 10}));
  expect_equal(diagonal(x, 1, 0, 1), vector(DType::f32, {1, 6, 11}));
  expect_equal(diagonal(x, -2, 0, 1), vector(DType::f32, {8}));
  expect_equal(diagonal(x, 2, 1, 0), vector(DType::f32, {8}));
  expect_equal(diagonal(x, 9, 0, 1), vector(DType::f32, {}));
  expect_equal(diagonal(x, -9, 0, 1), vector(DType::f32, {}));
  expect_equal(diagonal(counted({2, 2, 3}), 1, 0, 2), array(DType::f32, {2, 2}, {1, 8, 4, 11}));
}

Array as_strided(const Array& x, prims::SymInts sizes, prims::SymInts strides, int64_t offset) {
  return derived(Prim::as_strided, {x},
                 {{"sizes", sizes}, {"strides", strides}, {"offset", offset}});
}

TEST(AsStrided, DenseRepeatedAndOverlapping) {
  const Array x = counted({3, 4});
  expect_equal(as_strided(x, {2, 3}, {3, 1}, 2), array(DType::f32, {2, 3}, {2, 3, 4, 5, 6, 7}));
  expect_equal(as_strided(x, {2, 3}, {0, 1}, 1), array(DType::f32, {2, 3}, {1, 2, 3, 1, 2, 3}));
  expect_equal(as_strided(x, {4, 2}, {1, 4}, 1),
               array(DType::f32, {4, 2}, {1, 5, 2, 6, 3, 7, 4, 8}));
  expect_equal(as_strided(x, {3, 3}, {1, 1}, 5),
               array(DType::f32, {3, 3}, {5, 6, 7, 6, 7, 8, 7, 8, 9}));
  expect_equal(as_strided(x, {}, {}, 7), number(DType::f32, 7));
}

}  // namespace
}  // namespace primset::decomps
