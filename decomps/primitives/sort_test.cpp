#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

Result top_k(const Array& x, int64_t k, bool largest) {
  return run_derived(
      Prim::top_k, {x},
      {{"k", SymInt(k)}, {"dim", int64_t{0}}, {"largest", largest}, {"sorted", true}});
}

TEST(TopK, TakesTheFirstOfEqualElementsAndNanAsTheGreatest) {
  const Array x = vector(DType::f32, {1, 3, kNan, 3, -2, 1});
  Result r = top_k(x, 4, true);
  expect_equal(r.outputs[0], vector(DType::f32, {kNan, 3, 3, 1}));
  expect_equal(r.outputs[1], integers(DType::i64, {2, 1, 3, 0}));
  r = top_k(x, 3, false);
  expect_equal(r.outputs[0], vector(DType::f32, {-2, 1, 1}));
  expect_equal(r.outputs[1], integers(DType::i64, {4, 0, 5}));
  EXPECT_TRUE(top_k(x, 0, true).outputs[0].data.empty());
}

}  // namespace
}  // namespace primset::decomps
