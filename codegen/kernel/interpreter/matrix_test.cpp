// Asynchronous copies and matrices of the interpreter: right values, and each kind of mistake
// found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "codegen/kernel/interpreter/testing/group_runs.h"
#include "codegen/kernel/ir/builder.h"

namespace primset::kir {
namespace {

using testing::HasSubstr;

TargetModel cuda() {
  TargetModel t;
  t.format = Format::ptx;
  t.simt = t.async_copy = t.matrix = t.group_matrix = true;
  t.min_subgroup = t.max_subgroup = 32;
  return t;
}

// --- matrices ------------------------------------------------------------------------------------

// c += a b by one subgroup. a lies by rows or, transposed, by columns; b by columns or by rows.
Kernel product(bool bf16, bool a_transposed, bool b_transposed) {
  Builder b("product", cuda());
  b.set_group_size(32);
  const Value x = b.pointer_param("x", true, false), y = b.pointer_param("y", true, false),
              z = b.pointer_param("z", true, true);
  const Value lane = b.local_id(0), yes = b.i1(true);
  const Value a = b.group_alloc(Scalar::i16, 256), w = b.group_alloc(Scalar::i16, 128);
  const Value at = b.mul(lane, b.i32(8));
  b.copy_async(Scalar::i16, 8, a, at, x, at, yes);
  b.copy_commit();
  b.copy_async(Scalar::i16, 4, w, b.mul(lane, b.i32(4)), y, b.mul(lane, b.i32(4)), yes);
  b.copy_commit();
  b.copy_wait(0);
  b.barrier();
  // Matrix i of a: rows 8 (i % 2), terms 8 (i / 2). Of b two, twice: terms 8 (i % 2).
  const Value line = b.and_(lane, b.i32(7)), matrix = b.lshr(lane, b.i32(3));
  const Value low = b.mul(b.and_(matrix, b.i32(1)), b.i32(8)),
              high = b.mul(b.lshr(matrix, b.i32(1)), b.i32(8));
  const auto element = [&](Value row, Value column, int columns) {
    return b.add(b.mul(row, b.i32(columns)), column);
  };
  const Value a_at =
      a_transposed ? element(b.add(high, line), low, 16) : element(b.add(low, line), high, 16);
  const Value b_at = b_transposed ? element(line, low, 16) : element(b.add(low, line), b.i32(0), 8);
  const Value left = b.matrix_load(a, a_at, a_transposed);
  const Value both = b.matrix_load(w, b_at, !b_transposed);
  const Value right = b.shuffle(both, both, {0, 1});
  const Value row = b.lshr(lane, b.i32(2)), column = b.mul(b.and_(lane, b.i32(3)), b.i32(2));
  const Value top = element(row, column, 8), bottom = b.add(top, b.i32(64));
  const Type pair{Scalar::f32, 2};
  const Value sums = b.shuffle(b.load(pair, z, top, 8), b.load(pair, z, bottom, 8), {0, 1, 2, 3});
  const Value out =
      bf16 ? b.matrix_multiply_bf16(left, right, sums) : b.matrix_multiply_f16(left, right, sums);
  b.store(z, top, b.shuffle(out, out, {0, 1}), 8);
  b.store(z, bottom, b.shuffle(out, out, {2, 3}), 8);
  return std::move(b).finish();
}

TEST(MatrixTest, ProductsAreThoseOfTheElements) {
  for (const bool bf16 : {false, true}) {
    for (int layout = 0; layout < 4; ++layout) {
      const bool a_transposed = layout & 1, b_transposed = layout & 2;
      std::vector<uint16_t> a(256), b(128);
      std::vector<float> c(128), want(128);
      const auto x = [](int i, int k) { return (7 * i + 3 * k) % 17 - 8; };
      const auto y = [](int k, int j) { return (5 * k + 11 * j) % 13 - 6; };
      for (int i = 0; i < 16; ++i) {
        for (int k = 0; k < 16; ++k)
          a[static_cast<size_t>(a_transposed ? 16 * k + i : 16 * i + k)] =
              short_bits(x(i, k), bf16);
      }
      for (int k = 0; k < 16; ++k) {
        for (int j = 0; j < 8; ++j)
          b[static_cast<size_t>(b_transposed ? 16 * j + k : 8 * k + j)] = short_bits(y(k, j), bf16);
      }
      for (int i = 0; i < 16; ++i) {
        for (int j = 0; j < 8; ++j) {
          const auto at = static_cast<size_t>(8 * i + j);
          c[at] = want[at] = static_cast<float>(i - j);
          for (int k = 0; k < 16; ++k) want[at] += static_cast<float>(x(i, k) * y(k, j));
        }
      }
      EXPECT_EQ(error_of(product(bf16, a_transposed, b_transposed), cuda(),
                         {buffer(a), buffer(b), buffer(c)}),
                "");
      EXPECT_EQ(c, want) << bf16 << layout;
    }
  }
}

// --- matrices in workgroup memory ----------------------------------------------------------------

// c += a b by four subgroups, for a of 64 x 64 and b of 64 x 128, which lie by rows or by terms in
// lines of 64 that are permuted already.
Kernel group_product(bool bf16, bool a_by_terms, bool b_by_terms, int64_t skew = 0) {
  Builder b("product", cuda());
  b.set_group_size(128);
  const Value x = b.pointer_param("x", true, false), y = b.pointer_param("y", true, false),
              z = b.pointer_param("z", true, true);
  const Value thread = b.local_id(0), yes = b.i1(true);
  const Value a = b.group_alloc(Scalar::i16, 64 * 64 + 512),
              w = b.group_alloc(Scalar::i16, 128 * 64);
  const auto copy = [&](Value to, Value from, int count, int64_t first) {
    for (int i = 0; i < count; i += 128 * 8) {
      const Value at = b.add(b.mul(thread, b.i32(8)), b.i32(i));
      b.copy_async(Scalar::i16, 8, to, b.add(at, b.i32(first)), from, at, yes);
    }
  };
  copy(a, x, 64 * 64, skew);
  copy(w, y, 128 * 64, 0);
  b.copy_commit();
  b.copy_wait(0);
  b.barrier();
  const Type sums{Scalar::f32, 64};
  const Value at = b.mul(thread, b.i32(64)), c = b.load(sums, z, at, 16);
  const Builder::GroupTile left{a, b.i32(skew), a_by_terms}, right{w, b.i32(0), b_by_terms};
  const Value begun =
      bf16 ? b.group_multiply_bf16(left, right, c) : b.group_multiply_f16(left, right, c);
  b.store(z, at, b.group_multiply_wait(begun), 16);
  return std::move(b).finish();
}

TEST(GroupMatrixTest, ProductsAreThoseOfTheElements) {
  const auto x = [](int i, int k) { return (7 * i + 3 * k) % 17 - 8; };
  const auto y = [](int k, int j) { return (5 * k + 11 * j) % 13 - 6; };
  const auto place = [](int row, int term, bool by_terms) {
    const int line = by_terms ? row / 64 * 64 + term : row, at = by_terms ? row % 64 : term;
    return static_cast<size_t>(64 * line + 8 * (at / 8 ^ line % 8) + at % 8);
  };
  for (int kind = 0; kind < 8; ++kind) {
    const bool bf16 = kind & 1, a_by_terms = kind & 2, b_by_terms = kind & 4;
    std::vector<uint16_t> a(64 * 64), b(128 * 64);
    for (int k = 0; k < 64; ++k) {
      for (int i = 0; i < 64; ++i) a[place(i, k, a_by_terms)] = short_bits(x(i, k), bf16);
      for (int j = 0; j < 128; ++j) b[place(j, k, b_by_terms)] = short_bits(y(k, j), bf16);
    }
    std::vector<float> c(128 * 64), want(128 * 64);
    for (int thread = 0; thread < 128; ++thread) {
      for (int n = 0; n < 64; ++n) {
        const int i = 16 * (thread / 32) + thread % 32 / 4 + 8 * (n / 2 % 2);
        const int j = 8 * (n / 4) + 2 * (thread % 4) + n % 2;
        const auto at = static_cast<size_t>(64 * thread + n);
        c[at] = want[at] = static_cast<float>(i - j);
        for (int k = 0; k < 64; ++k) want[at] += static_cast<float>(x(i, k) * y(k, j));
      }
    }
    EXPECT_EQ(error_of(group_product(bf16, a_by_terms, b_by_terms), cuda(),
                       {buffer(a), buffer(b), buffer(c)}),
              "");
    EXPECT_EQ(c, want) << kind;
  }
}

TEST(GroupMatrixTest, TilesAreAligned) {
  std::vector<uint16_t> a(64 * 64), b(128 * 64);
  std::vector<float> c(128 * 64);
  EXPECT_THAT(
      error_of(group_product(true, false, false, 8), cuda(), {buffer(a), buffer(b), buffer(c)}),
      HasSubstr("a tile begins at no multiple of 1024 bytes"));
}

// A kernel of 32 threads over 64 elements of x in global memory and as many of `group`.
Kernel kernel_of(const std::function<void(Builder&, Value x, Value group, Value lane)>& body) {
  Builder b("k", cuda());
  b.set_group_size(32);
  const Value x = b.pointer_param("x", true, true);
  body(b, x, b.group_alloc(Scalar::i16, 64), b.local_id(0));
  return std::move(b).finish();
}
std::string run(const std::function<void(Builder&, Value, Value, Value)>& body,
                std::vector<uint16_t>& x) {
  return error_of(kernel_of(body), cuda(), {buffer(x)});
}

TEST(MatrixTest, RowsOfMatricesAreAligned) {
  std::vector<uint16_t> x(64);
  const auto error = run(
      [](Builder& b, Value, Value group, Value lane) {
        b.store(group, lane, b.constant({Scalar::i16}, 0), 2);
        b.store(group, b.add(lane, b.i32(32)), b.constant({Scalar::i16}, 0), 2);
        b.barrier();
        b.matrix_load(group, b.i32(1), false);
      },
      x);
  EXPECT_THAT(error, HasSubstr("misaligned"));
}

TEST(MatrixTest, RowsOfMatricesAreWritten) {
  std::vector<uint16_t> x(64);
  EXPECT_THAT(
      run([](Builder& b, Value, Value group, Value) { b.matrix_load(group, b.i32(0), false); }, x),
      HasSubstr("uninitialised"));
}

// --- asynchronous copies -------------------------------------------------------------------------

TEST(AsyncCopyTest, WhatIsNotKeptIsZero) {
  std::vector<uint16_t> x(64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint16_t>(i + 1);
  EXPECT_EQ(run(
                [](Builder& b, Value x, Value group, Value lane) {
                  const Value at = b.mul(lane, b.i32(2));
                  b.copy_async(Scalar::i16, 2, group, at, x, at, b.slt(lane, b.i32(31)));
                  b.copy_commit();
                  b.copy_wait(0);
                  b.barrier();
                  const Type pair{Scalar::i16, 2};
                  b.store(x, b.sub(b.i32(62), at), b.load(pair, group, at, 4), 4);
                },
                x),
            "");
  EXPECT_EQ(x[62], 1);
  EXPECT_EQ(x[63], 2);
  EXPECT_EQ(x[2], 61);
  EXPECT_EQ(x[0], 0);
  EXPECT_EQ(x[1], 0);
}

TEST(AsyncCopyTest, AnUnfinishedCopyGivesNothingThatMakesSense) {
  for (const uint32_t running : {0, 1}) {
    std::vector<uint16_t> x(64, 7);
    EXPECT_EQ(run(
                  [&](Builder& b, Value x, Value group, Value lane) {
                    const Value at = b.mul(lane, b.i32(2));
                    b.copy_async(Scalar::i16, 2, group, at, x, at, b.i1(true));
                    b.copy_commit();
                    b.copy_wait(running);
                    b.store(x, at, b.load({Scalar::i16, 2}, group, at, 4), 4);
                  },
                  x),
              "");
    EXPECT_EQ(x[5], running == 0 ? 7 : 0xffff);
  }
}

TEST(AsyncCopyTest, RacesAreFound) {
  std::vector<uint16_t> x(64, 7);
  const auto error = run(
      [](Builder& b, Value x, Value group, Value lane) {
        const Value at = b.mul(lane, b.i32(2));
        b.copy_async(Scalar::i16, 2, group, at, x, at, b.i1(true));
        b.copy_commit();
        b.copy_wait(0);
        b.store(x, at, b.load({Scalar::i16, 2}, group, b.sub(b.i32(62), at), 4), 4);
      },
      x);
  EXPECT_THAT(error, testing::AnyOf(HasSubstr("race"), HasSubstr("uninitialised")));
}

TEST(AsyncCopyTest, PlacesAreChecked) {
  std::vector<uint16_t> x(64, 7);
  const auto copy_from = [&](int64_t first, bool keep) {
    return run(
        [&](Builder& b, Value x, Value group, Value lane) {
          const Value at = b.mul(lane, b.i32(2));
          b.copy_async(Scalar::i16, 2, group, at, x, b.add(at, b.i32(first)), b.i1(keep));
          b.copy_commit();
          b.copy_wait(0);
        },
        x);
  };
  EXPECT_THAT(copy_from(2, true), HasSubstr("out of bounds"));
  EXPECT_THAT(copy_from(1, true), HasSubstr("misaligned"));
  EXPECT_EQ(copy_from(1000, false), "");
}

}  // namespace
}  // namespace primset::kir
