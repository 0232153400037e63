// Factorizations and solutions by what defines them: that the factors' product is the matrix, and
// that the solution solves. Residuals are in units of the number of rows times the epsilon of the
// dtype times the magnitudes multiplied.
#include <cmath>
#include <complex>

#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

using Number = std::complex<long double>;

// Matrices of a batch, one after the other.
struct Batch {
  int64_t count, rows, columns;
  std::vector<Number> data;
  Number& at(int64_t b, int64_t i, int64_t j) {
    return data[static_cast<size_t>((b * rows + i) * columns + j)];
  }
  Number at(int64_t b, int64_t i, int64_t j) const {
    return data[static_cast<size_t>((b * rows + i) * columns + j)];
  }
};

Batch random_batch(DType t, int64_t count, int64_t rows, int64_t columns, uint32_t seed) {
  Batch m{count, rows, columns, {}};
  uint64_t state = seed;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<long double>(static_cast<float>(state >> 40) / 8388608.0f - 1.0f);
  };
  for (int64_t i = 0; i < count * rows * columns; ++i) {
    const long double re = next(), im = is_complex(t) ? next() : 0;
    m.data.emplace_back(re, im);
  }
  return m;
}

Array to_array(DType t, const Batch& m) {
  Array a = prims::reference::make_array(t, {m.count, m.rows, m.columns});
  for (size_t i = 0; i < m.data.size(); ++i) {
    a.data[i].re = m.data[i].real();
    a.data[i].im = m.data[i].imag();
  }
  return a;
}

Batch to_batch(const Array& a) {
  Batch m{a.shape[0], a.shape[1], a.shape[2], {}};
  for (const auto& e : a.data) {
    EXPECT_FALSE(e.undecided);
    m.data.emplace_back(e.re, e.im);
  }
  return m;
}

// The greatest |left right - want| over n eps (|left| |right|).
double residual(DType t, const Batch& left, const Batch& right, const Batch& want) {
  const long double eps = real_type(t) == DType::f32 ? 0x1p-23L : 0x1p-52L;
  long double worst = 0;
  for (int64_t b = 0; b < want.count; ++b) {
    for (int64_t i = 0; i < want.rows; ++i) {
      for (int64_t j = 0; j < want.columns; ++j) {
        Number sum = 0;
        long double size = 1e-30L;
        for (int64_t k = 0; k < left.columns; ++k) {
          sum += left.at(b, i, k) * right.at(b, k, j);
          size += std::abs(left.at(b, i, k)) * std::abs(right.at(b, k, j));
        }
        const auto n = static_cast<long double>(left.columns);
        worst = std::max(worst, std::abs(sum - want.at(b, i, j)) / (n * eps * size));
      }
    }
  }
  return static_cast<double>(worst);
}

constexpr DType kTypes[] = {DType::f32, DType::f64, DType::c64, DType::c128};

// --- lu ---

struct Triangles {
  Batch lower, upper;
};

Triangles triangles(const Batch& f) {
  const int64_t k = std::min(f.rows, f.columns);
  Triangles t{{f.count, f.rows, k, {}}, {f.count, k, f.columns, {}}};
  t.lower.data.resize(static_cast<size_t>(f.count * f.rows * k));
  t.upper.data.resize(static_cast<size_t>(f.count * k * f.columns));
  for (int64_t b = 0; b < f.count; ++b) {
    for (int64_t i = 0; i < f.rows; ++i) {
      for (int64_t j = 0; j < f.columns; ++j) {
        if (j < k) t.lower.at(b, i, j) = i > j ? f.at(b, i, j) : Number(i == j ? 1 : 0);
        if (i < k) t.upper.at(b, i, j) = i <= j ? f.at(b, i, j) : Number(0);
      }
    }
  }
  return t;
}

void expect_factors(DType t, int64_t count, int64_t rows, int64_t columns) {
  const Batch a = random_batch(t, count, rows, columns, 7);
  const Result r = run_derived(Prim::lu, {to_array(t, a)}, {{"pivot", true}});
  const Triangles f = triangles(to_batch(r.outputs[0]));
  const int64_t k = std::min(rows, columns);
  Batch permuted = a;
  for (int64_t b = 0; b < count; ++b) {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < rows; ++i) order.push_back(i);
    for (int64_t i = 0; i < k; ++i) {
      const int64_t pivot = r.outputs[1].data[static_cast<size_t>(b * k + i)].integer - 1;
      ASSERT_GE(pivot, i);
      ASSERT_LT(pivot, rows);
      std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(pivot)]);
    }
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t from = r.outputs[2].data[static_cast<size_t>(b * rows + i)].integer;
      EXPECT_EQ(from, order[static_cast<size_t>(i)]);
      for (int64_t j = 0; j < columns; ++j) permuted.at(b, i, j) = a.at(b, from, j);
      for (int64_t j = 0; j < std::min(i, k); ++j)
        EXPECT_LE(std::abs(f.lower.at(b, i, j).real()) + 0.0L, 1.5L);
    }
    EXPECT_EQ(r.outputs[3].data[static_cast<size_t>(b)].integer, 0);
  }
  EXPECT_LE(residual(t, f.lower, f.upper, permuted), 2) << name(t) << " " << rows << "x" << columns;
}

TEST(Lu, FactorsMultiplyToThePermutedMatrix) {
  for (DType t : kTypes) {
    expect_factors(t, 2, 5, 5);
    expect_factors(t, 1, 7, 4);
    expect_factors(t, 1, 4, 7);
  }
}

TEST(Lu, ByBlocks) {
  expect_factors(DType::f64, 1, 70, 70);
  expect_factors(DType::f64, 1, 80, 66);
  expect_factors(DType::f64, 1, 66, 80);
}

TEST(Lu, TellsTheFirstZeroOfTheDiagonal) {
  const Result r =
      run_derived(Prim::lu, {array(DType::f64, {3, 2, 2}, {0, 0, 0, 0, 1, 2, 2, 4, 0, 3, 2, 1})},
                  {{"pivot", true}});
  expect_equal(r.outputs[3], integers(DType::i32, {1, 2, 0}));
  Array pivots = integers(DType::i32, {1, 2, 2, 2, 2, 2});
  pivots.shape = {3, 2};
  expect_equal(r.outputs[1], pivots);
}

// As LAPACK's izamax: 3 + 3i has the greater |re| + |im|, 5 the greater modulus.
TEST(Lu, ComplexPivotsByTheSumOfTheParts) {
  const Result r = run_derived(Prim::lu, {complexes(DType::c128, {2, 2}, {5, 0, 1, 0, 3, 3, 1, 0})},
                               {{"pivot", true}});
  EXPECT_EQ(r.outputs[1].data[0].integer, 2);
}

// --- triangular_solve ---

Batch triangle_of(const Batch& a, bool upper, bool unit) {
  Batch t = a;
  for (int64_t b = 0; b < a.count; ++b) {
    for (int64_t i = 0; i < a.rows; ++i) {
      for (int64_t j = 0; j < a.columns; ++j) {
        if (upper ? j < i : j > i) t.at(b, i, j) = 0;
        if (i == j && unit) t.at(b, i, j) = 1;
      }
    }
  }
  return t;
}

TEST(TriangularSolve, Solves) {
  for (DType t : kTypes) {
    for (int64_t n : {5, 70}) {
      if (n > 64 && t != DType::f64) continue;
      for (int flags = 0; flags < 4; ++flags) {
        const bool upper = flags & 1, unit = flags & 2;
        Batch a = random_batch(t, 2, n, n, 3);
        for (int64_t b = 0; b < 2; ++b)
          for (int64_t i = 0; i < n; ++i) a.at(b, i, i) += static_cast<long double>(n);
        for (Number& v : a.data) v /= unit ? static_cast<long double>(n) : 1;
        for (Number& v : a.data) v = {static_cast<float>(v.real()), static_cast<float>(v.imag())};
        const Batch right = random_batch(t, 2, n, 3, 5);
        const Result r = run_derived(Prim::triangular_solve, {to_array(t, a), to_array(t, right)},
                                     {{"upper", upper}, {"unit_diagonal", unit}});
        EXPECT_LE(residual(t, triangle_of(a, upper, unit), to_batch(r.outputs[0]), right), 2)
            << name(t) << " " << n << " " << flags;
      }
    }
  }
}

TEST(TriangularSolve, ReadsOneTriangle) {
  const Result r = run_derived(
      Prim::triangular_solve,
      {array(DType::f64, {1, 2, 2}, {2, kNan, 1, 4}), array(DType::f64, {1, 2, 1}, {2, 9})},
      {{"upper", false}, {"unit_diagonal", false}});
  expect_near(r.outputs[0], {1, 2, 1}, {1, 2}, 1e-15);
}

// --- ldl ---

Batch symmetric(DType t, int64_t n, bool hermitian, uint32_t seed) {
  Batch a = random_batch(t, 3, n, n, seed);
  for (int64_t b = 0; b < a.count; ++b) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = i; j < n; ++j)
        a.at(b, i, j) = hermitian ? std::conj(a.at(b, j, i)) : a.at(b, j, i);
      if (hermitian) a.at(b, i, i) = a.at(b, i, i).real();
    }
  }
  return a;
}

TEST(Ldl, SolvesSymmetricAndHermitianEquations) {
  for (DType t : {DType::f64, DType::c128}) {
    for (bool hermitian : {false, true}) {
      const Batch a = symmetric(t, 7, hermitian, 11), right = random_batch(t, 3, 7, 2, 13);
      const Result f = run_derived(Prim::ldl_factor, {to_array(t, a)}, {{"hermitian", hermitian}});
      bool pairs = false;
      for (const auto& pivot : f.outputs[1].data) pairs |= pivot.integer < 0;
      EXPECT_TRUE(pairs);
      const Result r =
          run_derived(Prim::ldl_solve, {f.outputs[0], f.outputs[1], to_array(t, right)},
                      {{"hermitian", hermitian}});
      EXPECT_LE(residual(t, a, to_batch(r.outputs[0]), right), 200) << name(t) << hermitian;
    }
  }
}

// PyTorch 2.13 in f64: torch.linalg.ldl_factor.
TEST(Ldl, PivotsOfBunchAndKaufman) {
  const Result r = run_derived(Prim::ldl_factor,
                               {array(DType::f64, {3, 3}, {0, kNan, kNan, 1, 0, kNan, 2, 3, 1})},
                               {{"hermitian", false}});
  expect_equal(r.outputs[1], integers(DType::i32, {-3, -3, 3}));
}

// --- matrix_exp ---

// e^x of a diagonal, and of a rotation, at norms on both sides of the polynomial's bound.
TEST(MatrixExp, OfMatricesWithKnownExponentials) {
  for (DType t : {DType::f32, DType::f64}) {
    const double precision = t == DType::f32 ? 4e-6 : 1e-14;
    const Array got =
        derived(Prim::matrix_exp, {array(t, {3, 2, 2}, {0.5, 0, 0, -3, 0, 2, -2, 0, 0, 0, 0, 0})});
    expect_near(got, {3, 2, 2},
                {std::exp(0.5), 0, 0, std::exp(-3.0), std::cos(2.0), std::sin(2.0), -std::sin(2.0),
                 std::cos(2.0), 1, 0, 0, 1},
                0, precision);
  }
}

TEST(MatrixExp, OfNilpotentMatrices) {
  const Array got =
      derived(Prim::matrix_exp, {array(DType::f64, {3, 3}, {0, 40, 9, 0, 0, 40, 0, 0, 0})});
  expect_near(got, {3, 3}, {1, 40, 809, 0, 1, 40, 0, 0, 1}, 1e-13);
}

}  // namespace
}  // namespace primset::decomps
