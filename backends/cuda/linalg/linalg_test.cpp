// How matrices are given to cuSOLVER and cuBLAS, and that results have the properties they should,
// against a library that checks it (testing/fake_toolkit.h).
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cuda/libraries/cusolver_api.h"
#include "backends/cuda/testing/toolkit_fixture.h"

namespace primset::plugin {
namespace {

using primset_cuda_test::complex_dtype;
using primset_cuda_test::is_complex_dtype;
using primset_cuda_test::NativeCall;
using primset_cuda_test::Number;
using primset_cuda_test::Numbers;
using primset_cuda_test::product_of;
using primset_cuda_test::random_values;
using primset_cuda_test::real_dtype;
using primset_cuda_test::Sizes;
using primset_cuda_test::tolerance;
using testing::AllOf;
using testing::ElementsAre;

constexpr uint32_t kDTypes[] = {PRIMSET_F32, PRIMSET_F64, PRIMSET_C64, PRIMSET_C128};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// --- matrices ------------------------------------------------------------------------------------

struct Matrix {
  int64_t rows, columns;
  Numbers data;

  Matrix(int64_t r, int64_t c) : rows(r), columns(c), data(static_cast<size_t>(r * c)) {}
  Matrix(const Numbers& from, int64_t r, int64_t c, int64_t number) : Matrix(r, c) {
    std::copy_n(from.begin() + number * r * c, r * c, data.begin());
  }
  Number& operator()(int64_t i, int64_t j) { return data[static_cast<size_t>(i * columns + j)]; }
  Number operator()(int64_t i, int64_t j) const {
    return data[static_cast<size_t>(i * columns + j)];
  }
  Matrix columns_to(int64_t count) const {
    Matrix m(rows, count);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < count; ++j) m(i, j) = (*this)(i, j);
    return m;
  }
};

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t k = 0; k < a.columns; ++k)
      for (int64_t j = 0; j < b.columns; ++j) c(i, j) += a(i, k) * b(k, j);
  return c;
}
Matrix adjoint(const Matrix& a) {
  Matrix t(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) t(j, i) = std::conj(a(i, j));
  return t;
}
Matrix identity(int64_t n) {
  Matrix m(n, n);
  for (int64_t i = 0; i < n; ++i) m(i, i) = 1;
  return m;
}
Matrix diagonal(const Numbers& values, int64_t n, int64_t number) {
  Matrix m(n, n);
  for (int64_t i = 0; i < n; ++i) m(i, i) = values[static_cast<size_t>(number * n + i)];
  return m;
}

double distance(const Matrix& a, const Matrix& b) {
  if (a.rows != b.rows || a.columns != b.columns) return INFINITY;
  double most = 0;
  for (size_t i = 0; i < a.data.size(); ++i) {
    const double off = std::abs(a.data[i] - b.data[i]);
    if (!(off <= most)) most = off;  // NaN, too
  }
  return most;
}

// Batches of (rows x columns), some by rows, some by columns, some with gaps.
struct Batch {
  Sizes sizes, strides;
  int64_t rows() const { return sizes[sizes.size() - 2]; }
  int64_t columns() const { return sizes.back(); }
  int64_t count() const { return product_of(sizes) / (rows() * columns()); }
  int64_t least() const { return std::min(rows(), columns()); }
};
Batch square(const Batch& b) {
  Batch s = b;
  s.sizes.back() = s.sizes[s.sizes.size() - 2] = b.least();
  return s;
}
const Batch kBatches[] = {
    {{5, 5}, {}},
    {{7, 4}, {}},
    {{4, 7}, {}},
    {{34, 33}, {}},
    {{6, 6}, {1, 6}},
    {{5, 4}, {20, 3}},
    {{3, 6, 6}, {}},
    {{2, 3, 5, 4}, {}},
    {{3, 4, 5}, {60, 1, 9}},
    {{2, 3, 4, 4}, {100, 20, 1, 5}},
    {{1, 1}, {}},
    {{2, 33, 34}, {}},
};

Sizes with(const Batch& b, Sizes last) {
  Sizes sizes(b.sizes.begin(), b.sizes.end() - 2);
  sizes.insert(sizes.end(), last.begin(), last.end());
  return sizes;
}

class Linalg : public Toolkit {
 protected:
  void SetUp() override {
    Toolkit::SetUp();
    if (!fake_toolkit::has_lapack()) GTEST_SKIP() << "no LAPACK on this machine";
  }

  // f(dtype, batch, numbers, text) for each dtype and batch.
  template <typename F>
  void for_each_batch(bool squares, const F& f) {
    for (const uint32_t dtype : kDTypes)
      for (const Batch& any : kBatches) {
        const Batch b = squares ? square(any) : any;
        f(dtype, b, random_values(dtype, product_of(b.sizes), 7),
          std::to_string(dtype) + " " + testing::PrintToString(b.sizes));
        if (HasFatalFailure()) return;
      }
  }

  std::vector<Numbers> lu(uint32_t dtype, const Batch& b, const Numbers& a, bool pivot) {
    NativeCall call("lu");
    call.operand(dtype, b.sizes, a, b.strides)
        .result(dtype, b.sizes)
        .result(PRIMSET_I32, with(b, {b.least()}))
        .result(PRIMSET_I32, with(b, {b.rows()}))
        .result(PRIMSET_I32, with(b, {}))
        .flag("pivot", pivot);
    return call.run(*device, stream);
  }
  std::vector<Numbers> svd(uint32_t dtype, const Batch& b, const Numbers& a, bool full,
                           bool vectors) {
    const int64_t k = b.least();
    NativeCall call("svd");
    call.operand(dtype, b.sizes, a, b.strides)
        .result(dtype, with(b, {b.rows(), !vectors ? 0
                                          : full   ? b.rows()
                                                   : k}))
        .result(real_dtype(dtype), with(b, {k}))
        .result(dtype, with(b, {!vectors ? 0
                                : full   ? b.columns()
                                         : k,
                                b.columns()}))
        .result(PRIMSET_I32, with(b, {}))
        .flag("full", full)
        .flag("vectors", vectors);
    return call.run(*device, stream);
  }
  std::vector<Numbers> eigh(uint32_t dtype, const Batch& b, const Numbers& a, bool vectors) {
    const int64_t n = b.rows();
    NativeCall call("eigh");
    call.operand(dtype, b.sizes, a, b.strides)
        .result(real_dtype(dtype), with(b, {n}))
        .result(dtype, with(b, vectors ? Sizes{n, n} : Sizes{0, 0}))
        .result(PRIMSET_I32, with(b, {}))
        .flag("vectors", vectors);
    return call.run(*device, stream);
  }
  std::vector<Numbers> eig(uint32_t dtype, const Batch& b, const Numbers& a, bool vectors) {
    const int64_t n = b.rows();
    const uint32_t complex = complex_dtype(dtype);
    NativeCall call("eig");
    call.operand(dtype, b.sizes, a, b.strides)
        .result(complex, with(b, {n}))
        .result(complex, with(b, vectors ? Sizes{n, n} : Sizes{0, 0}))
        .result(PRIMSET_I32, with(b, {}))
        .flag("vectors", vectors);
    return call.run(*device, stream);
  }
  std::vector<Numbers> qr(uint32_t dtype, const Batch& b, const Numbers& a) {
    NativeCall call("qr");
    call.operand(dtype, b.sizes, a, b.strides)
        .result(dtype, b.sizes)
        .result(dtype, with(b, {b.least()}));
    return call.run(*device, stream);
  }
  std::vector<Numbers> cholesky(uint32_t dtype, const Batch& b, const Numbers& a, bool upper) {
    NativeCall call("cholesky");
    call.operand(dtype, b.sizes, a, b.strides)
        .result(dtype, b.sizes)
        .result(PRIMSET_I32, with(b, {}))
        .flag("upper", upper);
    return call.run(*device, stream);
  }
};

// --- lu ------------------------------------------------------------------------------------------

// L U, of which row i is row permutation[i] of A.
Matrix rows_exchanged(const Matrix& a, const Numbers& permutation, int64_t number) {
  Matrix p(a.rows, a.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    const auto from =
        static_cast<int64_t>(permutation[static_cast<size_t>(number * a.rows + i)].real());
    for (int64_t j = 0; j < a.columns; ++j) p(i, j) = a(from, j);
  }
  return p;
}
Matrix lu_product(const Matrix& f) {
  const int64_t k = std::min(f.rows, f.columns);
  Matrix l(f.rows, k), u(k, f.columns);
  for (int64_t i = 0; i < f.rows; ++i)
    for (int64_t j = 0; j < f.columns; ++j) {
      if (i > j) l(i, j) = f(i, j);
      if (i == j) l(i, j) = 1;
      if (i <= j) u(i, j) = f(i, j);
    }
  return l * u;
}

TEST_F(Linalg, Lu) {
  for_each_batch(false, [&](uint32_t dtype, const Batch& b, Numbers a, const std::string& what) {
    for (const bool pivot : {true, false}) {
      if (!pivot)  // so that no exchange is needed
        for (int64_t i = 0; i < b.count(); ++i)
          for (int64_t j = 0; j < b.least(); ++j)
            a[static_cast<size_t>((i * b.rows() + j) * b.columns() + j)] += 100.0;
      const auto got = lu(dtype, b, a, pivot);
      for (int64_t i = 0; i < b.count(); ++i) {
        const Matrix want(a, b.rows(), b.columns(), i), f(got[0], b.rows(), b.columns(), i);
        ASSERT_LE(distance(lu_product(f), rows_exchanged(want, got[2], i)), 100 * tolerance(dtype))
            << what;
        ASSERT_EQ(got[3][static_cast<size_t>(i)], Number(0)) << what;
        for (int64_t j = 0; j < b.least() && !pivot; ++j)
          ASSERT_EQ(got[1][static_cast<size_t>(i * b.least() + j)].real(), double(j + 1)) << what;
      }
    }
  });
}

TEST_F(Linalg, LuTellsTheFirstZeroOfTheDiagonal) {
  const Numbers a = {1, 2, 2, 4, /**/ 3, 1, 1, 3};
  for (const Batch& b : {Batch{{2, 2, 2}, {}}, Batch{{1, 2, 2}, {}}})
    EXPECT_EQ(lu(PRIMSET_F64, b, a, true)[3][0], Number(2));
}

// --- cholesky, triangular_solve ------------------------------------------------------------------

Numbers positive_definite(const Batch& b, const Numbers& x) {
  Numbers a;
  for (int64_t i = 0; i < b.count(); ++i) {
    const Matrix m(x, b.rows(), b.rows(), i), square = m * adjoint(m);
    for (int64_t j = 0; j < square.rows * square.rows; ++j)
      a.push_back(square.data[static_cast<size_t>(j)] / double(b.rows()) +
                  (j % (square.rows + 1) == 0 ? 1.0 : 0.0));
  }
  return a;
}

TEST_F(Linalg, Cholesky) {
  for_each_batch(
      true, [&](uint32_t dtype, const Batch& b, const Numbers& x, const std::string& what) {
        const Numbers a = positive_definite(b, x);
        for (const bool upper : {false, true}) {
          Numbers half = a;  // of which the other half is not read
          for (int64_t i = 0; i < static_cast<int64_t>(a.size()); ++i) {
            const int64_t row = i / b.rows() % b.rows(), column = i % b.rows();
            if (upper ? row > column : row < column) half[static_cast<size_t>(i)] = 55;
          }
          const auto got = cholesky(dtype, b, half, upper);
          for (int64_t i = 0; i < b.count(); ++i) {
            const Matrix f(got[0], b.rows(), b.rows(), i), want(a, b.rows(), b.rows(), i);
            ASSERT_LE(distance(upper ? adjoint(f) * f : f * adjoint(f), want), tolerance(dtype))
                << what;
            for (int64_t j = 0; j < b.rows() * b.rows(); ++j) {
              const int64_t row = j / b.rows(), column = j % b.rows();
              if (upper ? row > column : row < column)
                ASSERT_EQ(f.data[static_cast<size_t>(j)], Number(0)) << what;
            }
            ASSERT_EQ(got[1][static_cast<size_t>(i)], Number(0)) << what;
          }
        }
      });
}

TEST_F(Linalg, CholeskyIsNanFromAFailureOn) {
  for (const uint32_t dtype : kDTypes) {
    for (const bool upper : {false, true}) {
      const Numbers a = {4, 0, 0, 0, -1, 0, 0, 0, 9, /**/ 1, 0, 0, 0, 1, 0, 0, 0, kNan};
      const auto got = cholesky(dtype, {{2, 3, 3}, {}}, a, upper);
      EXPECT_EQ(got[1][0], Number(2));
      EXPECT_EQ(got[1][1], Number(3));
      EXPECT_EQ(got[0][0], Number(2));
      for (const size_t known : {1, 2, 3, 6})
        EXPECT_EQ(got[0][known], Number(0)) << known << " " << upper;
      for (const size_t failed : {4, upper ? 5 : 7, 8})
        EXPECT_TRUE(std::isnan(got[0][failed].real())) << failed;
      EXPECT_EQ(got[0][upper ? 7 : 5], Number(0));
      EXPECT_EQ(got[0][9 + 4], Number(1));
      EXPECT_TRUE(std::isnan(got[0][9 + 8].real()));
    }
  }
}

TEST_F(Linalg, TriangularSolve) {
  for_each_batch(true, [&](uint32_t dtype, const Batch& b, Numbers a, const std::string& what) {
    const int64_t n = b.rows(), columns = 3;
    for (size_t i = 0; i < a.size(); ++i) a[i] /= double(n);
    for (int64_t i = 0; i < b.count() * n; ++i) a[static_cast<size_t>(i * n + i % n)] += 2.0;
    const Numbers right = random_values(dtype, b.count() * n * columns, 9);
    for (const bool upper : {false, true})
      for (const bool unit : {false, true}) {
        NativeCall call("triangular_solve");
        const auto got = call.operand(dtype, b.sizes, a, b.strides)
                             .operand(dtype, with(b, {n, columns}), right)
                             .result(dtype, with(b, {n, columns}))
                             .flag("upper", upper)
                             .flag("unit_diagonal", unit)
                             .run(*device, stream);
        for (int64_t i = 0; i < b.count(); ++i) {
          Matrix t(a, n, n, i);
          for (int64_t r = 0; r < n; ++r)
            for (int64_t c = 0; c < n; ++c) {
              if (upper ? r > c : r < c) t(r, c) = 0;
              if (unit && r == c) t(r, c) = 1;
            }
          ASSERT_LE(distance(t * Matrix(got[0], n, columns, i), Matrix(right, n, columns, i)),
                    10 * tolerance(dtype))
              << what << upper << unit;
        }
      }
  });
}

// --- qr ------------------------------------------------------------------------------------------

// H_1 H_2 ... of the columns below the diagonal.
Matrix reflectors(const Matrix& v, const Numbers& tau, int64_t count, int64_t number) {
  Matrix q = identity(v.rows);
  for (int64_t j = count; j-- > 0;) {
    Matrix x(v.rows, 1), h = identity(v.rows);
    for (int64_t i = j; i < v.rows; ++i) x(i, 0) = i == j ? Number(1) : v(i, j);
    const Matrix square = x * adjoint(x);
    for (size_t i = 0; i < h.data.size(); ++i)
      h.data[i] -= tau[static_cast<size_t>(number * count + j)] * square.data[i];
    q = h * q;
  }
  return q;
}

TEST_F(Linalg, QrAndWhatIsMadeOfIt) {
  for_each_batch(
      false, [&](uint32_t dtype, const Batch& b, const Numbers& a, const std::string& what) {
        const int64_t m = b.rows(), n = b.columns(), k = b.least();
        const auto packed = qr(dtype, b, a);
        Numbers first;  // the columns of reflectors
        for (int64_t i = 0; i < b.count(); ++i) {
          const Matrix v(packed[0], m, n, i), q = reflectors(v, packed[1], k, i);
          Matrix r(m, n);
          for (int64_t x = 0; x < m; ++x)
            for (int64_t y = x; y < n; ++y) r(x, y) = v(x, y);
          ASSERT_LE(distance(q * r, Matrix(a, m, n, i)), 10 * tolerance(dtype)) << what;
          ASSERT_LE(distance(adjoint(q) * q, identity(m)), 10 * tolerance(dtype)) << what;
          const Matrix columns = v.columns_to(k);
          first.insert(first.end(), columns.data.begin(), columns.data.end());
        }
        NativeCall product("householder_product");
        const auto q = product.operand(dtype, with(b, {m, k}), first)
                           .operand(dtype, with(b, {k}), packed[1])
                           .result(dtype, with(b, {m, k}))
                           .run(*device, stream);
        for (int64_t i = 0; i < b.count(); ++i)
          ASSERT_LE(distance(Matrix(q[0], m, k, i),
                             reflectors(Matrix(first, m, k, i), packed[1], k, i).columns_to(k)),
                    10 * tolerance(dtype))
              << what;
        for (const bool left : {true, false})
          for (const bool adjointed : {true, false}) {
            const Sizes sizes = left ? Sizes{m, 3} : Sizes{3, m};
            const Numbers c = random_values(dtype, 3 * m * b.count(), 11);
            NativeCall apply("apply_reflectors");
            const auto y = apply.operand(dtype, with(b, {m, k}), first)
                               .operand(dtype, with(b, {k}), packed[1])
                               .operand(dtype, with(b, sizes), c)
                               .result(dtype, with(b, sizes))
                               .flag("left", left)
                               .flag("adjoint", adjointed)
                               .run(*device, stream);
            for (int64_t i = 0; i < b.count(); ++i) {
              const Matrix whole = reflectors(Matrix(first, m, k, i), packed[1], k, i),
                           op = adjointed ? adjoint(whole) : whole, x(c, sizes[0], sizes[1], i);
              ASSERT_LE(distance(Matrix(y[0], sizes[0], sizes[1], i), left ? op * x : x * op),
                        10 * tolerance(dtype))
                  << what << left << adjointed;
            }
          }
      });
}

// --- svd -----------------------------------------------------------------------------------------

TEST_F(Linalg, Svd) {
  for (const char* tuning : {"", ",svd.rotations_most=0"}) {
    setenv("PRIMSET_CUDA_TUNING", (std::string(kTakeAll) + tuning).c_str(), 1);
    reopen();
    for_each_batch(
        false, [&](uint32_t dtype, const Batch& b, const Numbers& a, const std::string& what) {
          const int64_t m = b.rows(), n = b.columns(), k = b.least();
          const auto alone = svd(dtype, b, a, false, false);
          for (const bool full : {false, true}) {
            const int64_t us = full ? m : k, vs = full ? n : k;
            const auto got = svd(dtype, b, a, full, true);
            for (int64_t i = 0; i < b.count(); ++i) {
              const Matrix u(got[0], m, us, i), vh(got[2], vs, n, i), v = adjoint(vh);
              const Matrix product =
                  u.columns_to(k) * diagonal(got[1], k, i) * adjoint(v.columns_to(k));
              ASSERT_LE(distance(product, Matrix(a, m, n, i)), 10 * tolerance(dtype)) << what;
              ASSERT_LE(distance(adjoint(u) * u, identity(us)), tolerance(dtype)) << what;
              ASSERT_LE(distance(adjoint(v) * v, identity(vs)), tolerance(dtype)) << what;
              ASSERT_EQ(got[3][static_cast<size_t>(i)], Number(0));
              ASSERT_LE(distance(diagonal(got[1], k, i), diagonal(alone[1], k, i)),
                        10 * tolerance(dtype));
            }
          }
        });
  }
}

TEST_F(Linalg, SvdOfWhatIsNotFinite) {
  for (const uint32_t dtype : kDTypes) {
    const Numbers a = {1, kNan, 0, 1, /**/ 2, 0, 0, 1, /**/ INFINITY, 0, 0, 1};
    const auto got = svd(dtype, {{3, 2, 2}, {}}, a, false, true);
    EXPECT_EQ(got[3], Numbers({1, 0, 0})) << "1 is NaN's";
    for (const size_t i : {0, 1, 4, 5}) EXPECT_TRUE(std::isnan(got[1][i].real())) << i;
    EXPECT_NEAR(got[1][2].real(), 2, tolerance(dtype));
    EXPECT_TRUE(std::isnan(got[0][0].real()) && std::isnan(got[2][8].real()));
    EXPECT_FALSE(std::isnan(got[0][4].real()) || std::isnan(got[2][7].real()));
  }
}

// --- eigh, eig -----------------------------------------------------------------------------------

TEST_F(Linalg, EighReadsTheLowerTriangle) {
  for_each_batch(true, [&](uint32_t dtype, const Batch& b, Numbers a, const std::string& what) {
    const int64_t n = b.rows();
    Numbers whole = a;
    for (int64_t i = 0; i < b.count(); ++i)
      for (int64_t r = 0; r < n; ++r)
        for (int64_t c = r; c < n; ++c) {
          const auto at = [&](int64_t x, int64_t y) {
            return static_cast<size_t>((i * n + x) * n + y);
          };
          whole[at(r, c)] = r == c ? a[at(r, c)].real() : std::conj(a[at(c, r)]);
          if (r != c) a[at(r, c)] = kNan;
        }
    const auto alone = eigh(dtype, b, a, false), got = eigh(dtype, b, a, true);
    for (int64_t i = 0; i < b.count(); ++i) {
      const Matrix v(got[1], n, n, i), l = diagonal(got[0], n, i);
      ASSERT_LE(distance(Matrix(whole, n, n, i) * v, v * l), 10 * tolerance(dtype)) << what;
      ASSERT_LE(distance(adjoint(v) * v, identity(n)), tolerance(dtype)) << what;
      ASSERT_LE(distance(l, diagonal(alone[0], n, i)), 10 * tolerance(dtype)) << what;
      ASSERT_EQ(got[2][static_cast<size_t>(i)], Number(0));
      for (int64_t j = 1; j < n; ++j) ASSERT_LE(l(j - 1, j - 1).real(), l(j, j).real()) << what;
    }
  });
}

TEST_F(Linalg, EighOfWhatIsNotFinite) {
  for (const uint32_t dtype : kDTypes) {
    const Numbers a = {1, 0, kNan, 1, /**/ 2, kNan, 0, 1, /**/ INFINITY, 0, 0, 1};
    const auto got = eigh(dtype, {{3, 2, 2}, {}}, a, true);
    EXPECT_EQ(got[2], Numbers({1, 0, 1}));
    EXPECT_TRUE(std::isnan(got[0][0].real()) && std::isnan(got[0][4].real()));
    EXPECT_NEAR(got[0][2].real(), 1, tolerance(dtype));
  }
}

TEST_F(Linalg, Eig) {
  for_each_batch(
      true, [&](uint32_t dtype, const Batch& b, const Numbers& a, const std::string& what) {
        const int64_t n = b.rows();
        const auto alone = eig(dtype, b, a, false), got = eig(dtype, b, a, true);
        for (int64_t i = 0; i < b.count(); ++i) {
          const Matrix v(got[1], n, n, i), x(a, n, n, i);
          ASSERT_LE(distance(x * v, v * diagonal(got[0], n, i)), 10 * tolerance(dtype)) << what;
          for (int64_t j = 0; j < n; ++j) {
            double length = 0;
            for (int64_t r = 0; r < n; ++r) length += std::norm(v(r, j));
            ASSERT_NEAR(length, 1, tolerance(dtype)) << what;
          }
          Number sum = 0, trace = 0;
          for (int64_t j = 0; j < n; ++j) {
            sum += alone[0][static_cast<size_t>(i * n + j)];
            trace += x(j, j);
          }
          ASSERT_LE(std::abs(sum - trace), 30 * tolerance(dtype)) << what;
        }
      });
}

TEST_F(Linalg, EigOfWhatIsNotFinite) {
  for (const uint32_t dtype : kDTypes) {
    const auto got = eig(dtype, {{2, 2, 2}, {}}, {1, 0, kNan, 1, /**/ 0, 1, -1, 0}, true);
    EXPECT_EQ(got[2], Numbers({2, 0}));
    EXPECT_TRUE(std::isnan(got[0][0].real()) && std::isnan(got[1][0].real()));
    EXPECT_NEAR(std::abs(got[0][2].imag()), 1, tolerance(dtype));
    EXPECT_LE(std::abs(got[0][2] - std::conj(got[0][3])), tolerance(dtype)) << "a pair";
  }
}

// --- which function ------------------------------------------------------------------------------

TEST_F(Linalg, ManySmallMatricesAreOneCall) {
  const auto called = [&](const std::function<void(const Batch&, const Numbers&)>& run, int64_t n,
                          int64_t count) {
    const Batch b{{count, n, n}, {}};
    const Numbers a = positive_definite(b, random_values(PRIMSET_F32, count * n * n, 5));
    run(b, a);  // the first call opens the libraries
    fake_toolkit::calls();
    run(b, a);
    return fake_toolkit::calls();
  };
  const auto of_lu = [&](const Batch& b, const Numbers& a) { lu(PRIMSET_F32, b, a, true); };
  const auto of_qr = [&](const Batch& b, const Numbers& a) { qr(PRIMSET_F32, b, a); };
  const auto of_cholesky = [&](const Batch& b, const Numbers& a) {
    cholesky(PRIMSET_F32, b, a, false);
  };
  const auto of_svd = [&](const Batch& b, const Numbers& a) {
    svd(PRIMSET_F32, b, a, false, true);
  };
  const auto of_eigh = [&](const Batch& b, const Numbers& a) { eigh(PRIMSET_F32, b, a, true); };
  EXPECT_THAT(called(of_lu, 4, 5), ElementsAre("cublasSgetrfBatched"));
  EXPECT_THAT(called(of_qr, 4, 5), ElementsAre("cublasSgeqrfBatched"));
  EXPECT_THAT(called(of_cholesky, 4, 5), ElementsAre("cusolverDnSpotrfBatched"));
  EXPECT_THAT(called(of_svd, 4, 5), ElementsAre("cusolverDnSgesvdjBatched"));
  EXPECT_THAT(called(of_svd, 33, 2), ElementsAre("cusolverDnSgesvdj", "cusolverDnSgesvdj"));
  EXPECT_THAT(called(of_svd, 4, 1), ElementsAre("cusolverDnSgesvdjBatched"));
  EXPECT_THAT(called(of_eigh, 4, 5), ElementsAre("cusolverDnSsyevjBatched"));
  EXPECT_THAT(called(of_eigh, 33, 2), ElementsAre("cusolverDnXsyevBatched"));
  EXPECT_THAT(called(of_lu, 4, 1), ElementsAre("cusolverDnXgetrf"));
  EXPECT_THAT(called(of_qr, 4, 1), ElementsAre("cusolverDnXgeqrf"));
  EXPECT_THAT(called(of_eigh, 4, 1), ElementsAre("cusolverDnXsyevd"));
  setenv("PRIMSET_CUDA_TUNING", (std::string(kTakeAll) + ",linalg.batched_most=3").c_str(), 1);
  reopen();
  EXPECT_THAT(called(of_lu, 4, 2), ElementsAre("cusolverDnXgetrf", "cusolverDnXgetrf"));
  EXPECT_THAT(called(of_cholesky, 4, 2), ElementsAre("cusolverDnXpotrf", "cusolverDnXpotrf"));
}

TEST_F(Linalg, WhatIsFasterInKernelsIsLeftToThem) {
  const auto finds = [&](const char* name, Sizes sizes, uint32_t dtype = PRIMSET_F32,
                         Sizes strides = {}) {
    const Batch b{sizes, {}};
    NativeCall call(name);
    call.operand(dtype, sizes, Numbers(), strides).result(dtype, sizes);
    if (std::string_view(name) == "qr")
      call.result(dtype, with(b, {b.least()}));
    else
      call.result(dtype, sizes).result(PRIMSET_I32, with(b, {}));
    const auto found = call.find(*device);
    if (found) EXPECT_EQ(found->least_products, 1u);
    return found.has_value();
  };
  unsetenv("PRIMSET_CUDA_TUNING");
  reopen();
  EXPECT_TRUE(finds("qr", {1000, 16, 16}));
  EXPECT_TRUE(finds("eig", {32, 32, 32}));
  EXPECT_FALSE(finds("eig", {33, 32, 32})) << "one after another";
  EXPECT_FALSE(finds("qr", {64, 64}, PRIMSET_F16));
  EXPECT_FALSE(finds("qr", {0, 64, 64}));
  EXPECT_FALSE(finds("qr", {65, 2, 2, 64, 64}, PRIMSET_F32, {9 << 20, 4 << 20, 1 << 20, 64, 1}))
      << "matrices that lie too irregularly";
}

TEST_F(Linalg, NoneIsPartOfARecording) {
  const Batch b{{4, 4}, {}};
  NativeCall call("qr");
  call.operand(PRIMSET_F32, b.sizes, random_values(PRIMSET_F32, 16, 1))
      .result(PRIMSET_F32, b.sizes)
      .result(PRIMSET_F32, {4});
  const auto primitive = call.find(*device).value();
  EXPECT_NE(primitive.flags & PRIMSET_PRIMITIVE_UNRECORDED, 0u);
  call.make_memory(*device, stream);
  stream.begin_recording();
  EXPECT_THAT(error_of([&] { call.enqueue(stream, primitive); }).second, HasSubstr("recording"));
  stream.abandon_recording();
  call.enqueue(stream, primitive);
  stream.synchronize();
}

// --- without the libraries, and failures ---------------------------------------------------------

TEST_F(Linalg, WithoutOneOfTheLibrariesItIsLeftToKernels) {
  const auto finds = [&] {
    NativeCall call("qr");
    call.operand(PRIMSET_F32, {4, 4}, {}).result(PRIMSET_F32, {4, 4}).result(PRIMSET_F32, {4});
    return call.find(*device).has_value();
  };
  EXPECT_TRUE(finds());
  for (const char* setting : {"PRIMSET_CUBLAS", "PRIMSET_CUSOLVER"}) {
    logged_.clear();
    setenv(setting, "off", 1);
    reopen();
    EXPECT_FALSE(finds());
    EXPECT_THAT(logged_, IsEmpty());
    setenv(setting, PRIMSET_POOR_TOOLKIT, 1);
    reopen();
    EXPECT_FALSE(finds());
    EXPECT_THAT(logged_, ElementsAre(AllOf(HasSubstr(" has no cu"),
                                           HasSubstr("linear algebra is generated kernels"))));
    setenv(setting, PRIMSET_FAKE_TOOLKIT, 1);
  }
  for (const auto& [cublas, cusolver] :
       {std::pair{11, 12000}, {14, 12000}, {13, 11300}, {13, 13000}}) {
    logged_.clear();
    fake_toolkit::set_versions(12000, cublas, cusolver);
    reopen();
    EXPECT_FALSE(finds());
    EXPECT_THAT(logged_, ElementsAre(HasSubstr("is version")));
  }
  fake_toolkit::set_versions(12000, 13, 12000);
  for (const char* function : {"cublasCreate_v2", "cusolverDnCreate", "cusolverDnCreateParams",
                               "cusolverDnCreateSyevjInfo"}) {
    logged_.clear();
    fake_toolkit::fail(function, 1);
    reopen();
    EXPECT_FALSE(finds()) << "a library that does not start";
    EXPECT_THAT(logged_, ElementsAre(HasSubstr("STATUS_NOT_INITIALIZED (1)")));
  }
}

TEST_F(Linalg, FailuresOfEveryCallAreTold) {
  const Batch b{{2, 3, 3}, {}}, one{{3, 3}, {}};
  const Numbers a = positive_definite(b, random_values(PRIMSET_F64, 18, 3));
  struct Row {
    const char *function, *said;
    int status;
    std::function<void()> run;
  };
  const Row rows[] = {
      {"cublasDgetrfBatched", "cublasgetrfBatched: CUBLAS_STATUS_EXECUTION_FAILED (13)", 13,
       [&] { lu(PRIMSET_F64, b, a, true); }},
      {"cublasDgeqrfBatched", "cublasgeqrfBatched: CUBLAS_STATUS_EXECUTION_FAILED (13)", 13,
       [&] { qr(PRIMSET_F64, b, a); }},
      {"cusolverDnDpotrfBatched", "CUSOLVER_STATUS_EXECUTION_FAILED (6)", 6,
       [&] { cholesky(PRIMSET_F64, b, a, false); }},
      {"cusolverDnXgetrf", "cusolverDnXgetrf: CUSOLVER_STATUS_INTERNAL_ERROR (7)", 7,
       [&] { lu(PRIMSET_F64, one, a, true); }},
      {"cusolverDnXgetrf_bufferSize", "cusolverDnXgetrf_bufferSize", 3,
       [&] { lu(PRIMSET_F64, one, a, true); }},
      {"cusolverDnDsyevjBatched", "cusolverDnsyevjBatched", 6,
       [&] { eigh(PRIMSET_F64, b, a, true); }},
      {"cusolverDnXsyevd", "cusolverDnXsyevd", 6, [&] { eigh(PRIMSET_F64, one, a, true); }},
      {"cusolverDnXgeev", "cusolverDnXgeev", 6, [&] { eig(PRIMSET_F64, one, a, true); }},
      {"cusolverDnDgesvdjBatched", "cusolverDngesvdjBatched", 6,
       [&] { svd(PRIMSET_F64, b, a, false, true); }},
  };
  for (const Row& r : rows) {
    fake_toolkit::fail(r.function, r.status);
    const auto [code, text] = error_of(r.run);
    EXPECT_EQ(code, ErrorCode::plugin) << r.function;
    EXPECT_THAT(text, HasSubstr(r.said)) << r.function;
    r.run();  // and afterwards all is well
  }
  fake_toolkit::fail("cusolverDnXgetrf", primset_cuda::kSolverAllocFailed);
  EXPECT_EQ(error_of(rows[3].run).first, ErrorCode::out_of_memory);
}

TEST_F(Linalg, NoMemoryForTheCopyIsAnError) {
  NativeCall call("qr");
  call.operand(PRIMSET_F32, {4, 4}, random_values(PRIMSET_F32, 16, 1))
      .result(PRIMSET_F32, {4, 4})
      .result(PRIMSET_F32, {4});
  const auto primitive = call.find(*device).value();
  call.make_memory(*device, stream);
  fake_cuda::fail("cuMemAllocAsync", primset_cuda::kErrorOutOfMemory);
  EXPECT_EQ(error_of([&] { call.enqueue(stream, primitive); }).first, ErrorCode::out_of_memory);
  call.enqueue(stream, primitive);
  stream.synchronize();
}

// The memory of one call serves the next one; what is more than kMostKeptScratch goes back.
TEST_F(Linalg, MemoryIsUsedAgain) {
  const Batch b{{40, 40}, {}};
  const Numbers a = random_values(PRIMSET_F64, 1600, 1);
  const auto allocations = [&] {
    fake_cuda::calls();
    lu(PRIMSET_F64, b, a, true);
    return std::ranges::count(fake_cuda::calls(), "cuMemAllocAsync");
  };
  const auto first = allocations();
  EXPECT_EQ(allocations(), first - 1) << "the test's own are the rest";
  const StreamHandle other = device->create_stream();
  NativeCall call("qr");
  call.operand(PRIMSET_F32, {4, 4}, random_values(PRIMSET_F32, 16, 1))
      .result(PRIMSET_F32, {4, 4})
      .result(PRIMSET_F32, {4});
  call.run(*device, other);
}

}  // namespace
}  // namespace primset::plugin
