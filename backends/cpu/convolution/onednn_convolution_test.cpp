// Convolutions by oneDNN against their definition, on several numbers of threads and layouts.
#include "backends/cpu/convolution/onednn_convolution.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "backends/common/testing/bf16.h"

namespace primset_cpu {
namespace {

using primset_backend::Convolution;
using primset_backend::ConvolutionKind;
using primset_backend::Sizes;

// y of x and w, whatever is computed of it.
struct Row {
  const char* name;
  Sizes x, w;
  int64_t stride, padding, dilation, groups;
};
const Row kRows[] = {
    {"first layer", {2, 3, 20, 21}, {32, 3, 7, 7}, 2, 3, 1, 1},
    {"one place", {2, 64, 56, 32}, {96, 64, 1, 1}, 1, 0, 1, 1},
    {"strided", {3, 17, 13, 14}, {33, 17, 3, 3}, 2, 1, 1, 1},
    {"few images", {1, 128, 8, 8}, {128, 128, 3, 3}, 1, 1, 1, 1},
    {"dilated", {2, 16, 15, 15}, {16, 16, 3, 3}, 1, 2, 2, 1},
    {"groups", {2, 64, 14, 14}, {64, 8, 3, 3}, 1, 1, 1, 8},
    {"depthwise", {2, 96, 30, 30}, {96, 1, 3, 3}, 1, 1, 1, 96},
    {"rows", {3, 16, 200}, {24, 16, 9}, 1, 4, 1, 1},
    {"volumes", {2, 16, 6, 8, 9}, {32, 16, 3, 3, 3}, 1, 1, 1, 1},
};

enum class Layout : uint8_t { dense, channels_last };

int64_t count(const Sizes& s) {
  int64_t n = 1;
  for (const int64_t size : s) n *= size;
  return n;
}

Sizes strides_of(const Sizes& sizes, Layout layout) {
  Sizes strides(sizes.size());
  int64_t step = 1;
  const auto place = [&](size_t d) { strides[d] = step, step *= sizes[d]; };
  if (layout == Layout::channels_last) place(1);
  for (size_t d = sizes.size(); d-- > 0;)
    if (d != 1 || layout == Layout::dense) place(d);
  return strides;
}

float rounded_to(uint32_t dtype, float v) {
  using namespace primset_backend_test;
  return dtype == PRIMSET_F32 ? v : from_bf16(to_bf16(v));
}

// Numbers in row-major order, which lie in memory as `strides` says.
struct Tensor {
  Sizes sizes, strides;
  uint32_t dtype;
  std::vector<float> values;
  std::vector<char> memory;
  primset_tensor c{};

  Tensor(Sizes s, Layout layout, uint32_t type)
      : sizes(std::move(s)), strides(strides_of(sizes, layout)), dtype(type) {
    values.resize(static_cast<size_t>(count(sizes)));
    memory.assign(values.size() * bytes(), 0);
    c.dtype = dtype;
    c.rank = static_cast<uint32_t>(sizes.size());
    c.sizes = sizes.data();
    c.strides = strides.data();
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  size_t bytes() const { return dtype == PRIMSET_F32 ? 4 : 2; }
  char* at(size_t row_major) {
    int64_t place = 0;
    for (size_t d = sizes.size(), rest = row_major; d-- > 0;) {
      const auto size = static_cast<size_t>(sizes[d]);
      place += static_cast<int64_t>(rest % size) * strides[d];
      rest /= size;
    }
    return memory.data() + static_cast<size_t>(place) * bytes();
  }
  void fill(uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (float& v : values) v = rounded_to(dtype, normal(random));
    for (size_t i = 0; i < values.size(); ++i) {
      const uint32_t bits = std::bit_cast<uint32_t>(values[i]) >> (dtype == PRIMSET_F32 ? 0 : 16);
      std::memcpy(at(i), &bits, bytes());
    }
  }
  void read() {
    for (size_t i = 0; i < values.size(); ++i) {
      uint32_t bits = 0;
      std::memcpy(&bits, at(i), bytes());
      values[i] = std::bit_cast<float>(bits << (dtype == PRIMSET_F32 ? 0 : 16));
    }
  }
};

Sizes places_of(const Row& r) {
  Sizes y{r.x[0], r.w[0]};
  for (size_t d = 2; d < r.x.size(); ++d)
    y.push_back((r.x[d] + 2 * r.padding - r.dilation * (r.w[d] - 1) - 1) / r.stride + 1);
  return y;
}

// One computation: its operands are made anew for each of them, of the same numbers.
struct Computed {
  Tensor x, w, y, bias;
  Convolution c;
  bool refused = false;

  Computed(const Row& r, ConvolutionKind kind, uint32_t dtype, Layout layout, unsigned threads)
      : x(r.x, kind == ConvolutionKind::images ? Layout::dense : layout, dtype),
        w(r.w, kind == ConvolutionKind::filters ? Layout::dense : layout, dtype),
        y(places_of(r), kind == ConvolutionKind::places ? Layout::dense : layout, dtype),
        bias({kind == ConvolutionKind::images ? r.x[1] : r.w[0]}, Layout::dense, dtype) {
    x.fill(1), w.fill(2), y.fill(3), bias.fill(4);
    const size_t n = r.x.size() - 2;
    c = {kind,
         dtype,
         &x.c,
         &w.c,
         &y.c,
         kind == ConvolutionKind::filters ? nullptr : &bias.c,
         r.groups,
         Sizes(n, r.stride),
         Sizes(n, r.padding),
         Sizes(n, r.dilation)};
    const auto code = OneDnnConvolution::get(*onednn(), c);
    refused = code == nullptr;
    if (refused) return;
    ThreadPool pool(threads);
    EXPECT_EQ(code->run(pool, {{x.memory.data(), w.memory.data(), y.memory.data()},
                               c.bias ? bias.memory.data() : nullptr}),
              dnnl_success);
    result().read();
  }
  Tensor& result() {
    return c.kind == ConvolutionKind::places ? y : c.kind == ConvolutionKind::images ? x : w;
  }
};

// Calls f(at x, at w, at y) for each product of the convolution, in row-major indices.
template <typename F>
void each_product(const Row& r, const Sizes& y, const F& f) {
  const size_t n = r.x.size() - 2;
  const int64_t per_group = r.w[1], outputs = r.w[0] / r.groups;
  const auto places = count(y) / (y[0] * y[1]), kernel = count(r.w) / (r.w[0] * r.w[1]);
  const int64_t image = count(r.x) / (r.x[0] * r.x[1]);
  for (int64_t p = 0; p < places; ++p) {
    for (int64_t k = 0; k < kernel; ++k) {
      int64_t at = 0, step = 1, pr = p, kr = k;
      bool inside = true;
      for (size_t d = n; d-- > 0;) {
        const int64_t i = pr % y[d + 2] * r.stride - r.padding + kr % r.w[d + 2] * r.dilation;
        inside = inside && i >= 0 && i < r.x[d + 2];
        at += i * step;
        step *= r.x[d + 2], pr /= y[d + 2], kr /= r.w[d + 2];
      }
      if (!inside) continue;
      for (int64_t b = 0; b < r.x[0]; ++b)
        for (int64_t o = 0; o < r.w[0]; ++o)
          for (int64_t i = 0; i < per_group; ++i)
            f((b * r.x[1] + o / outputs * per_group + i) * image + at,
              (o * per_group + i) * kernel + k, (b * r.w[0] + o) * places + p);
    }
  }
}

// The definition's sums, and those of the terms' absolute values.
void expect_sums(const Row& r, Computed& c) {
  const Convolution& g = c.c;
  Tensor& result = c.result();
  std::vector<double> sums(result.values.size()), sizes(sums.size());
  const auto add = [&](int64_t to, double term) {
    sums[static_cast<size_t>(to)] += term, sizes[static_cast<size_t>(to)] += std::abs(term);
  };
  const auto of = [](const Tensor& t, int64_t i) -> double {
    return t.values[static_cast<size_t>(i)];
  };
  each_product(r, c.y.sizes, [&](int64_t x, int64_t w, int64_t y) {
    if (g.kind == ConvolutionKind::places) add(y, of(c.x, x) * of(c.w, w));
    if (g.kind == ConvolutionKind::images) add(x, of(c.y, y) * of(c.w, w));
    if (g.kind == ConvolutionKind::filters) add(w, of(c.x, x) * of(c.y, y));
  });
  const int64_t inner = count(result.sizes) / (result.sizes[0] * result.sizes[1]);
  const double unit = c.x.dtype == PRIMSET_F32 ? 0 : 0x1p-8;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (g.bias)
      add(static_cast<int64_t>(i), of(c.bias, static_cast<int64_t>(i) / inner % result.sizes[1]));
    ASSERT_NEAR(result.values[i], sums[i], unit * std::abs(sums[i]) + 0x1p-20 * sizes[i] + 1e-30)
        << r.name << " kind " << static_cast<int>(g.kind) << " at " << i;
  }
}

constexpr ConvolutionKind kKinds[] = {ConvolutionKind::places, ConvolutionKind::images,
                                      ConvolutionKind::filters};

class OneDnnConvolutions : public testing::Test {
 protected:
  void SetUp() override {
    if (!onednn()) GTEST_SKIP() << "no oneDNN here";
  }
};

TEST_F(OneDnnConvolutions, AreSumsOfTheirProducts) {
  int computed = 0;
  for (const Row& r : kRows)
    for (const ConvolutionKind kind : kKinds)
      for (const uint32_t dtype : {PRIMSET_F32, PRIMSET_BF16}) {
        Computed c(r, kind, dtype, Layout::dense, 2);
        if (c.refused) continue;
        ++computed;
        expect_sums(r, c);
      }
  EXPECT_GE(computed, 20) << "what oneDNN refuses is computed by kernels: but not most of it";
}

TEST_F(OneDnnConvolutions, BitsDependOnNeitherThreadsNorLayout) {
  for (const Row& r : kRows)
    for (const ConvolutionKind kind : kKinds) {
      Computed one(r, kind, PRIMSET_F32, Layout::dense, 1);
      for (const Layout layout : {Layout::dense, Layout::channels_last}) {
        Computed many(r, kind, PRIMSET_F32, layout, 5);
        ASSERT_EQ(one.refused, many.refused) << r.name;
        if (!one.refused) {
          EXPECT_EQ(one.result().values, many.result().values)
              << r.name << " kind " << static_cast<int>(kind);
        }
      }
    }
}

TEST_F(OneDnnConvolutions, AreCutWithoutRemainders) {
  for (const Row& r : kRows)
    for (const ConvolutionKind kind : kKinds) {
      const Computed c(r, kind, PRIMSET_F32, Layout::dense, 1);
      const ConvolutionCut cut = cut_convolution(c.c);
      const int64_t units = r.groups > 1                      ? r.groups
                            : kind == ConvolutionKind::images ? r.x[1]
                                                              : r.w[0];
      EXPECT_EQ(r.x[0] % cut.images, 0) << r.name;
      EXPECT_EQ(r.x[2] % cut.rows, 0) << r.name;
      EXPECT_EQ(units % cut.parts, 0) << r.name;
    }
  const Computed few(kRows[3], ConvolutionKind::places, PRIMSET_F32, Layout::dense, 1);
  EXPECT_GT(cut_convolution(few.c).parts, 1) << "one image has work for several threads";
  const Computed place(kRows[1], ConvolutionKind::places, PRIMSET_F32, Layout::dense, 1);
  EXPECT_LT(cut_convolution(place.c).rows, 56) << "filters of one place need no neighbours";
}

}  // namespace
}  // namespace primset_cpu
