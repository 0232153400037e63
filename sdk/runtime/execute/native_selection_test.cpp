// Which calls a device with kernels runs natively, on one that multiplies some matrices itself
// (testdata/test_picky_plugin.c).
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <initializer_list>
#include <numeric>

#include "primset/error.h"
#include "primset/graph.h"
#include "primset/invoke.h"
#include "primset/statistics.h"

namespace primset {
namespace {

using Floats = std::vector<float>;
using Tensors = std::vector<Tensor>;
using Inputs = std::span<const Tensor>;

const Device kDevice("picky:0");

class Natives : public testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("PRIMSET_PLUGIN_PATH", PRIMSET_TEST_PLUGIN_DIR, 1); }

  static Tensor matrix(int64_t rows, int64_t cols) {
    Floats values(static_cast<size_t>(rows * cols));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 3;
    return Tensor::from_host(values.data(), {rows, cols}, DType::f32, kDevice);
  }
  static Floats product(const Tensor& a, const Tensor& b) {
    const Floats x = a.to_vector<float>(), y = b.to_vector<float>();
    const auto rows = static_cast<size_t>(a.size(0)), terms = static_cast<size_t>(a.size(1)),
               cols = static_cast<size_t>(b.size(1));
    Floats z(rows * cols);
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < cols; ++j)
        for (size_t k = 0; k < terms; ++k) z[i * cols + j] += x[i * terms + k] * y[k * cols + j];
    return z;
  }
  static uint64_t natives(const std::function<void()>& f) {
    const uint64_t before = statistics().native_calls;
    f();
    return statistics().native_calls - before;
  }
  // How many natives an eager product takes; its result is right.
  static uint64_t multiply(const Tensor& a, const Tensor& b) {
    return natives(
        [&] { EXPECT_EQ(invoke("mm", {a, b})[0].tensor().to_vector<float>(), product(a, b)); });
  }
};

// 64 multiplications are what the plugin asks for.
TEST_F(Natives, SmallProductsAreLeftToKernelsWhicheverComesFirst) {
  EXPECT_EQ(multiply(matrix(2, 4), matrix(4, 4)), 0u);
  EXPECT_EQ(multiply(matrix(4, 4), matrix(4, 4)), 1u);
  EXPECT_EQ(multiply(matrix(6, 3), matrix(3, 3)), 0u);
  EXPECT_EQ(multiply(matrix(8, 16), matrix(16, 8)), 1u);
}

// Of what is no product the elements count.
TEST_F(Natives, SmallCallsAreLeftToKernelsWhicheverComesFirst) {
  for (const int64_t n : {99, 100, 7, 1000}) {
    const Floats values(static_cast<size_t>(n), 2);
    const Tensor x = Tensor::from_host(values.data(), {n}, DType::f32, kDevice);
    EXPECT_EQ(natives([&] {
                EXPECT_EQ(invoke("neg", {x})[0].tensor().to_vector<float>(),
                          Floats(static_cast<size_t>(n), -2));
              }),
              n < 100 ? 0u : 1u)
        << n;
  }
}

// Of attention the products of 64 queries, here of two numbers each, with all keys.
TEST_F(Natives, AttentionToFewKeysIsLeftToKernelsWhicheverComesFirst) {
  const Floats query = {0.5F, -1};
  const Tensor q = Tensor::from_host(query.data(), {1, 2}, DType::f32, kDevice);
  for (const int64_t keys : {7, 8, 3, 20}) {
    const Tensor k = matrix(keys, 2);
    const Floats rows = k.to_vector<float>();
    Floats want(2);
    float total = 0;
    for (size_t i = 0; i < rows.size(); i += 2) {
      const float power = std::exp(query[0] * rows[i] + query[1] * rows[i + 1]);
      total += power;
      for (size_t j = 0; j < 2; ++j) want[j] += power * rows[i + j];
    }
    const auto attend = [&] {
      const auto y = invoke("scaled_dot_product_attention", {q, k, k}, {{"scale", 1.0}})[0]
                         .tensor()
                         .to_vector<float>();
      for (size_t j = 0; j < 2; ++j) EXPECT_NEAR(y[j], want[j] / total, 1e-5);
    };
    EXPECT_EQ(natives(attend), keys < 8 ? 0u : 1u) << keys;
  }
}

TEST_F(Natives, SizesThatAreRefusedAreLeftToKernels) {
  EXPECT_EQ(multiply(matrix(10, 8), matrix(8, 8)), 1u);
  EXPECT_EQ(multiply(matrix(11, 8), matrix(8, 8)), 0u);
  EXPECT_EQ(multiply(matrix(13, 8), matrix(8, 8)), 0u);
  EXPECT_EQ(multiply(matrix(12, 8), matrix(8, 8)), 1u);
}

TEST_F(Natives, StridesThatAreRefusedAreLeftToKernels) {
  const Tensor wide = matrix(8, 16);
  const Tensor every_other = invoke("slice.Tensor", {wide, 1, 0, 16, 2})[0].tensor();
  EXPECT_EQ(multiply(every_other, matrix(8, 8)), 0u);
  EXPECT_EQ(multiply(invoke("t", {matrix(8, 8)})[0].tensor(), matrix(8, 8)), 0u);
}

TEST_F(Natives, OutTensorsAreFilledEitherWay) {
  for (const int64_t rows : {8, 9}) {
    const Tensor a = matrix(rows, 8), b = matrix(8, 8);
    Tensor out = matrix(rows, 8);
    invoke("mm.out", {a, b}, {{"out", out}});
    EXPECT_EQ(out.to_vector<float>(), product(a, b)) << rows;
  }
}

// The allocator's unused memory is given back, and the call made once more.
TEST_F(Natives, WithoutMemoryForALibraryTheCacheIsFreed) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(multiply(matrix(20, 8), matrix(8, 8)), 1u);
  try {
    multiply(matrix(22, 8), matrix(8, 8));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::out_of_memory) << e.what();
  }
  EXPECT_EQ(multiply(matrix(8, 8), matrix(8, 8)), 1u);
}

// The product reads what the sum then overwrites.
TEST_F(Natives, InPlaceCallsAreRightEitherWay) {
  for (const int64_t rows : {8, 9}) {
    Tensor self = matrix(rows, 8);
    const Tensor a = matrix(rows, 8), b = matrix(8, 8);
    Floats expected = product(a, b);
    const Floats before = self.to_vector<float>();
    for (size_t i = 0; i < expected.size(); ++i) expected[i] += before[i];
    invoke("addmm_", {self, a, b});
    EXPECT_EQ(self.to_vector<float>(), expected) << rows;
  }
}

// A kernel of a CPU adds few products up in double: of both types whose products that holds.
TEST_F(Natives, FewProductsThatCancelLoseNothing) {
  const auto sum = []<typename T>(std::initializer_list<T> terms) {
    const auto n = static_cast<int64_t>(terms.size());
    const std::vector<T> ones(terms.size(), T(1));
    const Tensor row = Tensor::from_host(terms.begin(), {1, n}, dtype_of<T>(), kDevice);
    const Tensor column = Tensor::from_host(ones.data(), {n, 1}, dtype_of<T>(), kDevice);
    return invoke("mm", {row, column})[0].tensor().to_vector<T>()[0];
  };
  using Complex = std::complex<float>;
  EXPECT_EQ(sum({1e9f, 1.0f, -1e9f}), 1.0f);
  EXPECT_EQ(sum({Complex(1e9f, 0), Complex(1, 2e9f), Complex(-1e9f, 3), Complex(0, -2e9f)}),
            Complex(1, 3));
}

TEST_F(Natives, GraphsTakeAnotherPlanForWhatIsRefused) {
  const Graph graph = Graph::capture({matrix(8, 8), matrix(8, 8)}, [](Inputs in) {
    return Tensors{invoke("relu", {invoke("mm", {in[0], in[1]})[0]})[0].tensor()};
  });
  for (const int64_t rows : {8, 9, 10, 11, 4}) {
    const Tensor a = matrix(rows, 8), b = matrix(8, 8);
    Floats expected = product(a, b);
    for (float& x : expected) x = std::max(x, 0.0f);
    Floats got;
    EXPECT_EQ(natives([&] { got = graph.run({a, b})[0].to_vector<float>(); }),
              rows % 2 == 0 ? 1u : 0u);
    EXPECT_EQ(got, expected) << rows;
  }
}

}  // namespace
}  // namespace primset
