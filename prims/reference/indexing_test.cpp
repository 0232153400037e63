#include "prims/reference/testing/interpret.h"

namespace primset::prims::reference {
namespace {

std::vector<Attr> gather_attrs(Ints dims) {
  return {{"dims", dims}, {"in_bounds", false}, {"argument", std::string("index")}};
}

std::vector<Attr> scatter_attrs(Ints dims, bool ordered) {
  return {{"dims", dims},
          {"in_bounds", false},
          {"ordered", ordered},
          {"argument", std::string("index")}};
}

TEST(Gather, OneDim) {
  Array x = f32({3, 2}, {0, 1, 2, 3, 4, 5});
  expect_equal(first(run_prim(Prim::gather, {x, integers(DType::i64, {2, 0})}, gather_attrs({0}))),
               f32({2, 2}, {4, 5, 0, 1}));
  expect_equal(first(run_prim(Prim::gather, {x, integers(DType::i32, {1})}, gather_attrs({1}))),
               f32({1, 3}, {1, 3, 5}));
}

TEST(Gather, SeveralDims) {
  Array x = f32({2, 3}, {0, 1, 2, 3, 4, 5});
  Array i = integers(DType::i64, {1, 0}), j = integers(DType::i64, {2, 1});
  expect_equal(first(run_prim(Prim::gather, {x, i, j}, gather_attrs({0, 1}))), f32({2}, {5, 1}));
}

TEST(Gather, c1_OutOfRangeReadsZeroAndIsRecorded) {
  Array x = f32({3}, {1, 2, 3});
  Result r = run_prim(Prim::gather, {x, integers(DType::i64, {2, 3, -1})}, gather_attrs({0}));
  expect_equal(first(r), f32({3}, {3, 0, 0}));
  ASSERT_EQ(r.failures.size(), 1u);
  EXPECT_EQ(r.failures[0].code, "index");
  EXPECT_EQ(r.failures[0].message,
            "index 3 of 'index' is out of bounds for dimension 0 with size 3");
  EXPECT_EQ(r.failures[0].value.integer, 3);
}

TEST(Gather, EmptyFromEmpty) {
  Array r =
      first(run_prim(Prim::gather, {f32({0}, {}), integers(DType::i64, {})}, gather_attrs({0})));
  EXPECT_TRUE(r.data.empty());
}

TEST(Scatter, Writes) {
  Array x = f32({3, 2}, {0, 1, 2, 3, 4, 5});
  Result r = run_prim(Prim::scatter, {x, integers(DType::i64, {2, 7}), f32({2, 2}, {8, 9, 6, 6})},
                      scatter_attrs({0}, false));
  expect_equal(first(r), f32({3, 2}, {0, 1, 2, 3, 8, 9}));
  EXPECT_EQ(r.failures.size(), 1u);
}

TEST(Scatter, EqualIndices) {
  Array x = f32({3}, {0, 0, 0}), i = integers(DType::i64, {1, 1, 2, 2}), u = f32({4}, {1, 2, 3, 3});
  expect_equal(first(run_prim(Prim::scatter, {x, i, u}, scatter_attrs({0}, true))),
               f32({3}, {0, 2, 3}));
  Array any = first(run_prim(Prim::scatter, {x, i, u}, scatter_attrs({0}, false)));
  EXPECT_EQ(undecided(any), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(any.data[2].re, 3);
}

TEST(Scatter, Combines) {
  Array x = f32({3}, {10, 20, 30}), i = integers(DType::i64, {1, 1, 2}), u = f32({3}, {2, 4, -1});
  auto values = [&](Prim p) {
    Array r = first(run_prim(p, {x, i, u}, scatter_attrs({0}, false)));
    return std::vector<double>{plain(r.dtype, r.data[0]), plain(r.dtype, r.data[1]),
                               plain(r.dtype, r.data[2])};
  };
  EXPECT_EQ(values(Prim::scatter_add), (std::vector<double>{10, 26, 29}));
  EXPECT_EQ(values(Prim::scatter_mul), (std::vector<double>{10, 160, -30}));
  EXPECT_EQ(values(Prim::scatter_min), (std::vector<double>{10, 2, -1}));
  EXPECT_EQ(values(Prim::scatter_max), (std::vector<double>{10, 20, 30}));
}

TEST(Scatter, IntegersWrapAndBoolsJoin) {
  Array i = integers(DType::i64, {0, 0});
  expect_equal(first(run_prim(Prim::scatter_add,
                              {integers(DType::u8, {200}), i, integers(DType::u8, {50, 50})},
                              scatter_attrs({0}, false))),
               integers(DType::u8, {44}));
  expect_equal(first(run_prim(Prim::scatter_add,
                              {integers(DType::boolean, {0}), i, integers(DType::boolean, {1, 1})},
                              scatter_attrs({0}, false))),
               integers(DType::boolean, {1}));
}

TEST(Compact, PacksToTheFront) {
  Result r =
      run_prim(Prim::compact, {f32({4}, {1, 2, 3, 4}), integers(DType::boolean, {0, 1, 0, 1})});
  EXPECT_EQ(r.outputs[0].data[0].re, 2);
  EXPECT_EQ(r.outputs[0].data[1].re, 4);
  EXPECT_EQ(undecided(r.outputs[0]), (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(r.outputs[1].data[0].integer, 2);
}

TEST(Check, RecordsTheFirstFailure) {
  Result r =
      run_prim(Prim::check, {integers(DType::boolean, {1, 0, 0}), integers(DType::i64, {7, 8, 9})},
               {{"code", std::string("value")}, {"message", std::string("saw {value}")}});
  ASSERT_EQ(r.failures.size(), 1u);
  EXPECT_EQ(r.failures[0].code, "value");
  EXPECT_EQ(r.failures[0].message, "saw 8");
}

}  // namespace
}  // namespace primset::prims::reference
