// Attention by tiles against sums in double: several tiles and blocks of keys, masks of both kinds,
// rows that are hidden throughout, and the same bits however operands lie and on any number of
// threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "backends/common/status.h"
#include "backends/common/testing/bf16.h"
#include "backends/cpu/objects.h"
#include "backends/cpu/onednn_api.h"
#include "backends/cpu/primitives.h"

namespace primset_cpu {
namespace {

using primset_backend_test::from_bf16;
using primset_backend_test::to_bf16;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// [batch, rows, columns] of f32, bf16 or bool, with elements `step` apart.
struct Matrices {
  std::vector<int64_t> sizes, strides;
  std::vector<char> bytes;
  uint32_t dtype = PRIMSET_F32;
  primset_buffer_t buffer{};

  Matrices(uint32_t type, std::vector<int64_t> shape, int64_t step = 1)
      : sizes(std::move(shape)), strides(sizes.size()), dtype(type) {
    int64_t n = step;
    for (size_t d = sizes.size(); d-- > 0; n *= sizes[d]) strides[d] = n;
    bytes.resize(static_cast<size_t>(n) * width());
  }
  size_t width() const { return dtype == PRIMSET_F32 ? 4 : dtype == PRIMSET_BF16 ? 2 : 1; }
  int64_t count() const {
    int64_t n = 1;
    for (const int64_t s : sizes) n *= s;
    return n;
  }
  char* at(int64_t i) { return bytes.data() + static_cast<size_t>(i * strides.back()) * width(); }
  void set(int64_t i, float x) {
    const uint16_t half = to_bf16(x);
    if (dtype == PRIMSET_F32) std::memcpy(at(i), &x, 4);
    if (dtype == PRIMSET_BF16) std::memcpy(at(i), &half, 2);
    if (dtype == PRIMSET_BOOL) *at(i) = x != 0;
  }
  float get(int64_t i) {
    float x = 0;
    uint16_t half = 0;
    if (dtype == PRIMSET_BOOL) return *at(i);
    if (dtype == PRIMSET_F32) return std::memcpy(&x, at(i), 4), x;
    return std::memcpy(&half, at(i), 2), from_bf16(half);
  }
  void fill(uint32_t seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> values(-2, 2);
    for (int64_t i = 0; i < count(); ++i)
      set(i, dtype == PRIMSET_BOOL ? static_cast<float>(random() % 4 != 0) : values(random));
  }
  primset_tensor tensor() {
    buffer.address = bytes.data();
    return {
        sizeof(primset_tensor), dtype,         &buffer, 0, static_cast<uint32_t>(sizes.size()), 0,
        sizes.data(),           strides.data()};
  }
};

struct Case {
  int64_t batch, queries, keys, width, value_width;
  bool causal = false;
  uint32_t dtype = PRIMSET_F32;
  uint32_t mask = 0;  // its dtype, where there is one
  int64_t step = 1;
  unsigned threads = 2;
};

struct Results {
  std::vector<float> y, logsumexp;
};

class Attention {
 public:
  explicit Attention(const Case& c)
      : c_(c),
        q_(c.dtype, {c.batch, c.queries, c.width}, c.step),
        k_(c.dtype, {c.batch, c.keys, c.width}, c.step),
        v_(c.dtype, {c.batch, c.keys, c.value_width}, c.step),
        mask_(c.mask ? c.mask : PRIMSET_BOOL, {c.batch, c.queries, c.keys}, c.step) {
    q_.fill(1), k_.fill(2), v_.fill(3), mask_.fill(4);
    // The second query of each batch sees nothing.
    for (int64_t b = 0; c.mask && b < c.batch; ++b)
      for (int64_t j = 0; j < c.keys; ++j)
        mask_.set((b * c.queries + 1) * c.keys + j, c.mask == PRIMSET_BOOL ? 0 : -kInfinity);
  }

  Results run() {
    Matrices y(c_.dtype, {c_.batch, c_.queries, c_.value_width});
    Matrices sums(PRIMSET_F32, {c_.batch, c_.queries});
    const primset_tensor operands[] = {q_.tensor(), k_.tensor(), v_.tensor(), mask_.tensor()};
    const primset_tensor results[] = {y.tensor(), sums.tensor()};
    primset_attr attrs[2] = {{"causal", PRIMSET_ATTR_INT, 0, {}},
                             {"scale", PRIMSET_ATTR_FLOAT, 0, {}}};
    attrs[0].value.i = c_.causal;
    attrs[1].value.f = kScale;
    primset_primitive_call call{};
    call.struct_size = sizeof call;
    call.operands = operands, call.operand_count = c_.mask ? 4 : 3;
    call.results = results, call.result_count = 2;
    call.attrs = attrs, call.attr_count = 2;
    primset_primitive found{};
    found.struct_size = sizeof found;
    EXPECT_TRUE(find_attention("attention", call, &found));
    primset_device_t device{std::make_shared<ThreadPool>(c_.threads)};
    primset_stream_t stream{};
    stream.device = &device;
    EXPECT_EQ(found.run(&stream, found.data, &call), nullptr);
    Results out;
    for (int64_t i = 0; i < y.count(); ++i) out.y.push_back(y.get(i));
    for (int64_t i = 0; i < sums.count(); ++i) out.logsumexp.push_back(sums.get(i));
    return out;
  }

  void set_query(int64_t row, float x) { q_.set(row * c_.width, x); }

  void expect_sums() {
    const Results got = run();
    const float bound = c_.dtype == PRIMSET_F32 ? 1e-5f : 2e-2f;
    for (int64_t row = 0; row < c_.batch * c_.queries; ++row) {
      std::vector<double> weights;
      double sum = 0;
      for (int64_t j = 0; j < c_.keys; ++j) sum += weights.emplace_back(std::exp(score(row, j)));
      const auto at = static_cast<size_t>(row);
      if (sum == 0)
        EXPECT_EQ(got.logsumexp[at], -kInfinity) << row;
      else
        EXPECT_NEAR(got.logsumexp[at], std::log(sum), 1e-4) << row;
      for (int64_t e = 0; e < c_.value_width; ++e) {
        double want = 0;
        for (int64_t j = 0; j < c_.keys; ++j)
          want += weights[static_cast<size_t>(j)] *
                  v_.get((row / c_.queries * c_.keys + j) * c_.value_width + e);
        want = sum == 0 ? 0 : want / sum;
        ASSERT_NEAR(got.y[static_cast<size_t>(row * c_.value_width + e)], want, bound)
            << "row " << row << ", column " << e;
      }
    }
  }

 private:
  static constexpr double kScale = 0.25;

  double score(int64_t row, int64_t key) {
    const int64_t query = row % c_.queries, batch = row / c_.queries;
    if (c_.causal && key > query) return -kInfinity;
    double s = 0;
    for (int64_t e = 0; e < c_.width; ++e)
      s += static_cast<double>(q_.get(row * c_.width + e)) *
           k_.get((batch * c_.keys + key) * c_.width + e);
    s *= kScale;
    if (!c_.mask) return s;
    const float m = mask_.get(row * c_.keys + key);
    if (c_.mask == PRIMSET_BOOL) return m != 0 ? s : -kInfinity;
    return s + m;
  }

  Case c_;
  Matrices q_, k_, v_, mask_;
};

class CpuAttention : public testing::Test {
 protected:
  void SetUp() override {
    if (!onednn()) GTEST_SKIP() << "there is no oneDNN";
  }
};

TEST_F(CpuAttention, IsASoftmaxOfTheScores) {
  for (const uint32_t dtype : {PRIMSET_F32, PRIMSET_BF16}) {
    for (const bool causal : {false, true}) {
      Attention({2, 5, 7, 8, 4, causal, dtype}).expect_sums();
      Attention({1, 150, 700, 16, 24, causal, dtype}).expect_sums();
      Attention({1, 700, 150, 40, 40, causal, dtype}).expect_sums();
    }
  }
}

TEST_F(CpuAttention, TakesMasks) {
  for (const uint32_t dtype : {PRIMSET_F32, PRIMSET_BF16}) {
    for (const uint32_t mask : {static_cast<uint32_t>(PRIMSET_BOOL), dtype}) {
      Attention({2, 33, 70, 8, 8, false, dtype, mask}).expect_sums();
      Attention({1, 40, 600, 8, 8, true, dtype, mask, 2}).expect_sums();
    }
  }
}

TEST_F(CpuAttention, HasTheSameBitsHoweverItIsComputed) {
  for (const uint32_t dtype : {PRIMSET_F32, PRIMSET_BF16}) {
    Case c{3, 200, 300, 24, 24, true, dtype};
    const Results dense = Attention(c).run();
    for (const int64_t step : {1, 3}) {
      for (const unsigned threads : {1U, 4U}) {
        c.step = step, c.threads = threads;
        const Results other = Attention(c).run();
        EXPECT_EQ(other.y, dense.y);
        EXPECT_EQ(other.logsumexp, dense.logsumexp);
      }
    }
  }
}

TEST_F(CpuAttention, CarriesNotANumberToItsRowAlone) {
  Case c{1, 20, 30, 8, 8};
  Attention a(c);
  const Results before = a.run();
  a.set_query(3, std::numeric_limits<float>::quiet_NaN());
  const Results after = a.run();
  for (size_t i = 0; i < after.y.size(); ++i) {
    if (i / 8 == 3)
      EXPECT_TRUE(std::isnan(after.y[i]));
    else
      EXPECT_EQ(after.y[i], before.y[i]);
  }
}

}  // namespace
}  // namespace primset_cpu
