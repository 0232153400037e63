// Reductions, scans, sort and contraction.
#include "prims/reference/testing/interpret.h"

namespace primset::prims::reference {
namespace {

std::vector<Attr> dims(Ints d) {
  return {{"dims", d}};
}
std::vector<Attr> dim(int64_t d) {
  return {{"dim", d}};
}

TEST(Reduce, Dims) {
  Array x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  expect_cases({
      {Prim::reduce_sum, {x}, f32({3}, {5, 7, 9}), dims({0})},
      {Prim::reduce_sum, {x}, f32({2}, {6, 15}), dims({1})},
      {Prim::reduce_sum, {x}, number(DType::f32, 21), dims({0, 1})},
      {Prim::reduce_prod, {x}, f32({2}, {6, 120}), dims({1})},
      {Prim::reduce_min, {x}, f32({3}, {1, 2, 3}), dims({0})},
      {Prim::reduce_max, {x}, f32({2}, {3, 6}), dims({1})},
  });
}

TEST(Reduce, EmptyGivesTheIdentity) {
  Array x = f32({2, 0}, {});
  expect_cases({
      {Prim::reduce_sum, {x}, f32({2}, {0, 0}), dims({1})},
      {Prim::reduce_prod, {x}, f32({2}, {1, 1}), dims({1})},
      {Prim::reduce_min, {x}, f32({2}, {kInf, kInf}), dims({1})},
      {Prim::reduce_max, {x}, f32({2}, {-kInf, -kInf}), dims({1})},
      {Prim::reduce_sum, {x}, f32({0}, {}), dims({0})},
  });
  auto identity = [](Prim p, DType t) {
    return first(run_prim(p, {integers(t, {})}, dims({0}))).data[0].integer;
  };
  EXPECT_EQ(identity(Prim::reduce_min, DType::i8), 127);
  EXPECT_EQ(identity(Prim::reduce_max, DType::i8), -128);
  EXPECT_EQ(identity(Prim::reduce_max, DType::u64), 0);
  EXPECT_EQ(identity(Prim::reduce_min, DType::u64), -1);
  EXPECT_EQ(identity(Prim::reduce_min, DType::boolean), 1);
  EXPECT_EQ(identity(Prim::reduce_and, DType::u8), 255);
  EXPECT_EQ(identity(Prim::reduce_and, DType::i32), -1);
  EXPECT_EQ(identity(Prim::reduce_or, DType::i32), 0);
}

TEST(Reduce, SpecialValues) {
  expect_cases({
      {Prim::reduce_sum, {f32({2}, {kInf, -kInf})}, number(DType::f32, kNan), dims({0})},
      {Prim::reduce_sum, {f32({2}, {kInf, 1})}, number(DType::f32, kInf), dims({0})},
      {Prim::reduce_prod, {f32({2}, {kInf, 0})}, number(DType::f32, kNan), dims({0})},
      {Prim::reduce_min, {f32({3}, {1, kNan, -1})}, number(DType::f32, kNan), dims({0})},
      {Prim::reduce_max, {f32({3}, {1, kNan, -1})}, number(DType::f32, kNan), dims({0})},
  });
}

TEST(Reduce, IntegersAndBits) {
  auto total = [](Prim p, DType t, const std::vector<int64_t>& x) {
    return first(run_prim(p, {integers(t, x)}, dims({0}))).data[0].integer;
  };
  EXPECT_EQ(total(Prim::reduce_sum, DType::i8, {100, 100}), -56);
  EXPECT_EQ(total(Prim::reduce_prod, DType::u8, {16, 17}), 16);
  EXPECT_EQ(total(Prim::reduce_and, DType::i32, {6, 3}), 2);
  EXPECT_EQ(total(Prim::reduce_or, DType::boolean, {0, 1}), 1);
  EXPECT_EQ(total(Prim::reduce_xor, DType::u8, {7, 2, 1}), 4);
}

TEST(Reduce, HalvesAreCarriedInF32) {
  Array x = vector(DType::f16, std::vector<double>(4096, 1.0));
  Element e = first(run_prim(Prim::reduce_sum, {x}, dims({0}))).data[0];
  EXPECT_EQ(e.re, 4096);
  EXPECT_LT(e.error, 5);  // f16 itself would stop at 2048
}

TEST(ArgReduce, FirstAndNan) {
  auto at = [](Prim p, const std::vector<double>& x) {
    return first(run_prim(p, {vector(DType::f32, x)}, dim(0))).data[0].integer;
  };
  EXPECT_EQ(at(Prim::argmax, {1, 3, 3, 2}), 1);
  EXPECT_EQ(at(Prim::argmin, {1, -3, -3, 2}), 1);
  EXPECT_EQ(at(Prim::argmax, {1, kNan, kInf, kNan}), 1);
  EXPECT_EQ(at(Prim::argmin, {1, kNan, -kInf, kNan}), 1);
}

TEST(Scan, SumsAndProducts) {
  expect_cases({
      {Prim::scan_sum, {f32({2, 3}, {1, 2, 3, 4, 5, 6})}, f32({2, 3}, {1, 3, 6, 4, 9, 15}), dim(1)},
      {Prim::scan_sum, {f32({2, 2}, {1, 2, 3, 4})}, f32({2, 2}, {1, 2, 4, 6}), dim(0)},
      {Prim::scan_prod, {f32({4}, {2, 3, kNan, 0})}, f32({4}, {2, 6, kNan, kNan}), dim(0)},
      {Prim::scan_sum, {integers(DType::i8, {100, 100})}, integers(DType::i8, {100, -56}), dim(0)},
      {Prim::scan_sum, {f32({0}, {})}, f32({0}, {}), dim(0)},
  });
}

TEST(Scan, ExtremesAsCummaxHasThem) {
  Result r = run_prim(Prim::scan_max, {f32({5}, {1, 2, 2, kNan, 3})}, dim(0));
  expect_equal(r.outputs[0], f32({5}, {1, 2, 2, kNan, kNan}));
  expect_equal(r.outputs[1], integers(DType::i64, {0, 1, 2, 3, 3}));
  r = run_prim(Prim::scan_min, {f32({5}, {3, 1, 1, 2, -1})}, dim(0));
  expect_equal(r.outputs[0], f32({5}, {3, 1, 1, 1, -1}));
  expect_equal(r.outputs[1], integers(DType::i64, {0, 1, 2, 2, 4}));
}

Result sorted(const std::vector<Array>& inputs, bool descending) {
  return run_prim(Prim::sort, inputs, {{"dim", int64_t{0}}, {"descending", descending}});
}

TEST(Sort, StableWithNanGreatest) {
  Array keys = f32({5}, {3, kNan, 1, kNan, 1}), places = integers(DType::i64, {0, 1, 2, 3, 4});
  Result r = sorted({keys, places}, false);
  expect_equal(r.outputs[0], f32({5}, {1, 1, 3, kNan, kNan}));
  expect_equal(r.outputs[1], integers(DType::i64, {2, 4, 0, 1, 3}));
  r = sorted({keys, places}, true);
  expect_equal(r.outputs[0], f32({5}, {kNan, kNan, 3, 1, 1}));
  expect_equal(r.outputs[1], integers(DType::i64, {1, 3, 0, 2, 4}));
}

TEST(Sort, Unsigned) {
  expect_equal(sorted({integers(DType::u64, {-1, 0, 5})}, false).outputs[0],
               integers(DType::u64, {0, 5, -1}));
}

TEST(Sort, KeysThatMayTradePlaces) {
  Array keys = with_errors(f32({3}, {1, 1.05, 7}), {0.1, 0.1, 0.1});
  Result r = sorted({keys, integers(DType::i64, {0, 1, 2})}, false);
  EXPECT_EQ(undecided(r.outputs[1]), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(undecided(r.outputs[0]), (std::vector<bool>{false, false, false}));
}

Result dot(const Array& a, const Array& b, Ints a_contract, Ints b_contract, Ints a_batch,
           Ints b_batch, DType t) {
  return run_prim(Prim::dot_general, {a, b},
                  {{"a_contract", a_contract},
                   {"b_contract", b_contract},
                   {"a_batch", a_batch},
                   {"b_batch", b_batch},
                   {"accumulate", t}});
}

TEST(DotGeneral, MatrixProduct) {
  Array a = f32({2, 2}, {1, 2, 3, 4}), b = f32({2, 2}, {5, 6, 7, 8});
  expect_equal(first(dot(a, b, {1}, {0}, {}, {}, DType::f32)), f32({2, 2}, {19, 22, 43, 50}));
  expect_equal(first(dot(a, b, {0}, {1}, {}, {}, DType::f32)), f32({2, 2}, {23, 31, 34, 46}));
}

TEST(DotGeneral, BatchesAndOuterProducts) {
  Array a = f32({2, 1, 2}, {1, 2, 3, 4}), b = f32({2, 2, 1}, {5, 6, 7, 8});
  expect_equal(first(dot(a, b, {2}, {1}, {0}, {0}, DType::f32)), f32({2, 1, 1}, {17, 53}));
  expect_equal(first(dot(f32({2}, {1, 2}), f32({2}, {3, 4}), {}, {}, {}, {}, DType::f32)),
               f32({2, 2}, {3, 4, 6, 8}));
  expect_equal(first(dot(f32({2, 0}, {}), f32({0, 1}, {}), {1}, {0}, {}, {}, DType::f32)),
               f32({2, 1}, {0, 0}));
}

TEST(DotGeneral, AccumulateDtype) {
  Array a = vector(DType::f16, {300, 300}), b = vector(DType::f16, {300, 300});
  Array r = first(dot(a, b, {0}, {0}, {}, {}, DType::f32));
  EXPECT_EQ(r.dtype, DType::f32);
  EXPECT_EQ(r.data[0].re, 180000);
  Array i = integers(DType::i8, {100, 100});
  EXPECT_EQ(first(dot(i, i, {0}, {0}, {}, {}, DType::i32)).data[0].integer, 20000);
  EXPECT_EQ(first(dot(i, i, {0}, {0}, {}, {}, DType::i8)).data[0].integer, wrap(20000, DType::i8));
}

}  // namespace
}  // namespace primset::prims::reference
