// Expected values: PyTorch 2.13 in f64.
#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

// [[1, 2, ., -1], [., 0.5, ., .], [., 3, ., .]], entry by entry.
const std::vector<int64_t> kRowsAndColumns = {0, 0, 0, 1, 2, 0, 1, 3, 1, 1};
const std::vector<double> kStored = {1, 2, -1, 0.5, 3};

std::vector<prims::Attr> along(int64_t dim, bool log, int64_t columns = 4) {
  return {{"sizes", prims::SymInts{prims::SymInt(3), prims::SymInt(columns)}},
          {"dim", dim},
          {"log", log}};
}

Array indices() {
  Array a = integers(DType::i64, kRowsAndColumns);
  a.shape = {2, 5};
  return a;
}

TEST(SparseSoftmax, IsOverWhatIsStored) {
  const std::vector<Array> inputs = {indices(), array(DType::f64, {5}, kStored)};
  expect_near(derived(Prim::sparse_softmax, inputs, along(0, false)), {5},
              {1.0, 0.25371618163502524, 1.0, 0.056611732240471294, 0.6896720861245036}, 1e-15);
  expect_near(derived(Prim::sparse_softmax, inputs, along(1, false)), {5},
              {0.25949646034241913, 0.7053845126982412, 0.03511902695933973, 1.0, 1.0}, 1e-15);
  expect_near(derived(Prim::sparse_softmax, inputs, along(1, true)), {5},
              {-1.3490122167681862, -0.34901221676818617, -3.349012216768186, 0.0, 0.0}, 1e-15);
}

TEST(SparseSoftmax, OfFewEntriesAmongMany) {
  const std::vector<Array> inputs = {indices(), array(DType::f64, {5}, kStored)};
  expect_near(derived(Prim::sparse_softmax, inputs, along(0, false, 4000)), {5},
              {1.0, 0.25371618163502524, 1.0, 0.056611732240471294, 0.6896720861245036}, 1e-15);
}

TEST(SparseSoftmax, OfInfinities) {
  const std::vector<Array> inputs = {indices(),
                                     array(DType::f32, {5}, {-kInf, 0, -kInf, -kInf, kNan})};
  expect_near(derived(Prim::sparse_softmax, inputs, along(1, false)), {5}, {0, 1, 0, kNan, kNan},
              0);
}

}  // namespace
}  // namespace primset::decomps
