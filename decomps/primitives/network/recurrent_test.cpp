// Expected values: PyTorch 2.13 in f64.
#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

double distance_of(DType t) {
  return t == DType::f64 ? 1e-15 : t == DType::f32 ? 5e-7 : 1e-3;
}

TEST(LstmCell, OneStep) {
  for (DType t : {DType::f16, DType::f32, DType::f64}) {
    const Array gates = array(t, {1, 8}, {0.5, -1, 0.25, 2, 1, -0.5, 0.75, -0.25});
    const Result r = run_derived(Prim::lstm_cell, {gates, array(t, {1, 2}, {0.5, -1.5})});
    const double d = distance_of(t);
    expect_near(r.outputs[0], {1, 2}, {0.4334593924626205, -0.39176232238371583}, d);
    expect_near(r.outputs[1], {1, 2}, {0.7551496394063654, -1.445478062079792}, d);
  }
}

TEST(LstmCell, WideGatesBesideANarrowState) {
  const Array gates = array(DType::f32, {1, 8}, {0.5, -1, 0.25, 2, 1, -0.5, 0.75, -0.25});
  const Array state = array(DType::bf16, {1, 2}, {0.5, -1.5});
  const Result r = run_derived(Prim::lstm_cell, {gates, state});
  EXPECT_EQ(r.outputs[0].dtype, DType::bf16);
  expect_near(r.outputs[1], {1, 2}, {0.7551496394063654, -1.445478062079792}, 4e-3);
}

TEST(GruCell, OneStep) {
  for (DType t : {DType::f16, DType::f32, DType::f64}) {
    const Array y = derived(Prim::gru_cell, {array(t, {1, 6}, {0.5, -1, 0.25, 2, 1, -0.5}),
                                             array(t, {1, 6}, {-0.25, 0.5, 1, -1, 0.75, 0.5}),
                                             array(t, {1, 2}, {0.5, -1.5})});
    expect_near(y, {1, 2}, {0.5868394619399107, -1.177688594124866}, distance_of(t));
  }
}

}  // namespace
}  // namespace primset::decomps
