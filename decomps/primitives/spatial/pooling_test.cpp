// Pooling against loops over the windows' elements.
#include <functional>

#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

using Ints = std::vector<int64_t>;

prims::SymInts symbolic_sizes(const Ints& list) {
  return {list.begin(), list.end()};
}

struct Plane {
  int64_t high, wide;
  std::vector<double> data;
  double at(int64_t h, int64_t w) const { return data[static_cast<size_t>(h * wide + w)]; }
  bool has(int64_t h, int64_t w) const { return h >= 0 && h < high && w >= 0 && w < wide; }
};

// Numbers without order, some of them equal.
Plane plane(int64_t high, int64_t wide) {
  Plane p{high, wide, {}};
  for (int64_t i = 0; i < high * wide; ++i)
    p.data.push_back(static_cast<double>((i * 37 + 11) % 23) / 4 - 2);
  return p;
}

struct Window {
  Ints size, stride, dilation, padding, places;
};

// f(window, h, w) for each element of each window, outside ones too; windows in row-major order.
void for_each_tap(const Window& w, const std::function<void(size_t, int64_t, int64_t)>& f) {
  for (int64_t i = 0; i < w.places[0] * w.places[1]; ++i) {
    for (int64_t k = 0; k < w.size[0] * w.size[1]; ++k) {
      f(static_cast<size_t>(i),
        i / w.places[1] * w.stride[0] - w.padding[0] + k / w.size[1] * w.dilation[0],
        i % w.places[1] * w.stride[1] - w.padding[1] + k % w.size[1] * w.dilation[1]);
    }
  }
}

std::vector<prims::Attr> max_attributes(const Window& w, const char* last, const Ints& sizes) {
  return {{"window", symbolic_sizes(w.size)},
          {"strides", symbolic_sizes(w.stride)},
          {"dilations", symbolic_sizes(w.dilation)},
          {"padding", symbolic_sizes(w.padding)},
          {last, symbolic_sizes(sizes)}};
}

std::vector<prims::Attr> avg_attributes(const Window& w, const char* last, const Ints& sizes,
                                        bool count_include_pad, int64_t divisor) {
  return {{"window", symbolic_sizes(w.size)},       {"strides", symbolic_sizes(w.stride)},
          {"padding", symbolic_sizes(w.padding)},   {last, symbolic_sizes(sizes)},
          {"count_include_pad", count_include_pad}, {"divisor", divisor}};
}

struct Maxima {
  std::vector<double> values;
  std::vector<int64_t> index;
};

Maxima maxima(const Plane& x, const Window& w) {
  const auto count = static_cast<size_t>(w.places[0] * w.places[1]);
  Maxima m{std::vector<double>(count, -kInf), std::vector<int64_t>(count, -1)};
  for_each_tap(w, [&](size_t i, int64_t h, int64_t v) {
    if (!x.has(h, v)) return;
    const double value = x.at(h, v);
    if (m.index[i] >= 0 && !(value > m.values[i]) && !std::isnan(value)) return;
    m.values[i] = value;
    m.index[i] = h * x.wide + v;
  });
  return m;
}

void expect_maxima(const Plane& x, const Window& w) {
  const Maxima want = maxima(x, w);
  const Result r = run_derived(Prim::max_pool, {array(DType::f32, {x.high, x.wide}, x.data)},
                               max_attributes(w, "places", w.places));
  expect_near(r.outputs[0], w.places, want.values, 0);
  for (size_t i = 0; i < want.index.size(); ++i)
    EXPECT_EQ(r.outputs[1].data[i].integer, want.index[i]) << "window " << i;
}

const Window kSmall = {{3, 2}, {2, 1}, {1, 1}, {1, 1}, {3, 8}};
const Window kDilated = {{2, 3}, {1, 2}, {3, 2}, {1, 1}, {5, 3}};
const Window kWide = {{9, 8}, {1, 2}, {1, 1}, {4, 3}, {6, 3}};  // more taps than are written out

TEST(MaxPool, ValuesAndPlaces) {
  for (const Window& w : {kSmall, kDilated, kWide}) {
    Plane x = plane(6, 7);
    expect_maxima(x, w);
    x.data[9] = x.data[10] = x.data[16] = kNan;
    expect_maxima(x, w);
    x.data.assign(42, -kInf);
    expect_maxima(x, w);
  }
}

TEST(MaxPool, OfTheLeastIntegers) {
  const Result r =
      run_derived(Prim::max_pool, {array(DType::i8, {1, 3}, {-128, -128, -128})},
                  max_attributes({{1, 2}, {1, 1}, {1, 1}, {0, 1}, {1, 4}}, "places", {1, 4}));
  expect_near(r.outputs[0], {1, 4}, {-128, -128, -128, -128}, 0);
  const int64_t want[] = {0, 0, 1, 2};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(r.outputs[1].data[i].integer, want[i]);
}

TEST(MaxPoolBackward, AddsWhereTheMaximumWas) {
  for (const Window& w : {kSmall, kDilated, kWide}) {
    const Plane x = plane(6, 7), grad = plane(w.places[0], w.places[1]);
    const Maxima m = maxima(x, w);
    std::vector<double> want(42, 0);
    std::vector<double> index;
    for (size_t i = 0; i < m.index.size(); ++i) {
      want[static_cast<size_t>(m.index[i])] += grad.data[i];
      index.push_back(static_cast<double>(m.index[i]));
    }
    for (const bool scatters : {false, true}) {
      expect_near(
          derived(Prim::max_pool_backward,
                  {array(DType::f64, w.places, grad.data), array(DType::i64, w.places, index)},
                  max_attributes(w, "shape", {6, 7}), {.fast_scatter = scatters}),
          {6, 7}, want, 1e-14, 1e-14);
    }
  }
}

TEST(MaxPoolBackward, OfAnIndexOutsideItsWindowIsNothing) {
  const Array grad = array(DType::f64, {1, 2}, {3, 5});
  for (const std::vector<double>& index : {std::vector<double>{1, 1}, {-1, 2}, {0, 4}, {2, 3}}) {
    std::vector<double> want(4, 0);
    if (index[0] == 0 || index[0] == 1) want[static_cast<size_t>(index[0])] += 3;
    if (index[1] == 2 || index[1] == 3) want[static_cast<size_t>(index[1])] += 5;
    for (const bool scatters : {false, true}) {
      expect_near(derived(Prim::max_pool_backward, {grad, array(DType::i64, {1, 2}, index)},
                          max_attributes({{1, 2}, {1, 2}, {1, 1}, {0, 0}, {1, 2}}, "shape", {1, 4}),
                          {.fast_scatter = scatters}),
                  {1, 4}, want, 0);
    }
  }
}

// What a window's sum is divided by.
std::vector<double> divisors(const Plane& x, const Window& w, bool include, int64_t divisor) {
  std::vector<double> counts(static_cast<size_t>(w.places[0] * w.places[1]), 0);
  for_each_tap(w, [&](size_t i, int64_t h, int64_t v) {
    const bool counted =
        include ? h < x.high + w.padding[0] && v < x.wide + w.padding[1] : x.has(h, v);
    counts[i] += counted ? 1 : 0;
  });
  if (divisor != 0) counts.assign(counts.size(), static_cast<double>(divisor));
  return counts;
}

TEST(AvgPool, AndItsGradient) {
  Window beyond = kSmall;
  beyond.places = {4, 8};  // the last windows go over the edge
  Window wide = kWide;
  for (const Window& w : {kSmall, beyond, wide}) {
    for (const auto& [include, divisor] : {std::pair(true, 0), {false, 0}, {true, 7}}) {
      const Plane x = plane(6, 7), grad = plane(w.places[0], w.places[1]);
      const std::vector<double> by = divisors(x, w, include, divisor);
      std::vector<double> want(by.size(), 0), back(42, 0);
      for_each_tap(w, [&](size_t i, int64_t h, int64_t v) {
        if (!x.has(h, v)) return;
        want[i] += x.at(h, v) / by[i];
        back[static_cast<size_t>(h * x.wide + v)] += grad.data[i] / by[i];
      });
      expect_near(derived(Prim::avg_pool, {array(DType::f64, {6, 7}, x.data)},
                          avg_attributes(w, "places", w.places, include, divisor)),
                  w.places, want, 1e-13, 1e-13);
      expect_near(derived(Prim::avg_pool_backward, {array(DType::f64, w.places, grad.data)},
                          avg_attributes(w, "shape", {6, 7}, include, divisor)),
                  {6, 7}, back, 1e-13, 1e-13);
    }
  }
}

TEST(AvgPool, OfIntegersTruncates) {
  expect_near(
      derived(Prim::avg_pool, {array(DType::i64, {1, 4}, {-7, 2, 3, 4})},
              avg_attributes({{1, 2}, {1, 1}, {1, 1}, {0, 0}, {1, 3}}, "places", {1, 3}, true, 0)),
      {1, 3}, {-2, 2, 3}, 0);
}

// Bounds of the dim, then of each element of the batch.
TEST(VariableWindowReduce, SumsAndMaxima) {
  const Array x = array(DType::f64, {2, 5}, {1, 5, 2, 5, 3, 9, 8, kNan, 7, kNan});
  const std::vector<prims::Attr> attrs = {{"reach", prims::SymInts{3}},
                                          {"reduce", std::string("max")}};
  const Array start = integers(DType::i64, {0, 1, 3}), end = integers(DType::i64, {2, 4, 5});
  const Result r = run_derived(Prim::variable_window_reduce, {x, start, end}, attrs);
  expect_near(r.outputs[0], {2, 3}, {5, 5, 5, 9, kNan, kNan}, 0);
  const int64_t want[] = {1, 1, 3, 0, 2, 4};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(r.outputs[1].data[i].integer, want[i]);
  const Array each_start = array(DType::i64, {2, 2}, {0, 3, 1, 0});
  const Array each_end = array(DType::i64, {2, 2}, {1, 5, 2, 2});
  expect_near(derived(Prim::variable_window_reduce, {x, each_start, each_end},
                      {{"reach", prims::SymInts{2}}, {"reduce", std::string("sum")}}),
              {2, 2}, {1, 8, 8, 17}, 0);
}

// Windows of up to 5 by 4, which are added up by dim.
TEST(VariableWindowReduce, SumsOfLargeWindows) {
  const Plane x = plane(9, 8);
  const Ints begin_high = {0, 3, 4}, end_high = {5, 7, 9}, begin_wide = {0, 4}, end_wide = {4, 7};
  std::vector<double> want;
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 2; ++j) {
      want.push_back(0);
      for (int64_t h = begin_high[i]; h < end_high[i]; ++h)
        for (int64_t w = begin_wide[j]; w < end_wide[j]; ++w) want.back() += x.at(h, w);
    }
  }
  const auto result = derived(Prim::variable_window_reduce,
                              {array(DType::f64, {9, 8}, x.data), integers(DType::i64, begin_high),
                               integers(DType::i64, end_high), integers(DType::i64, begin_wide),
                               integers(DType::i64, end_wide)},
                              {{"reach", prims::SymInts{5, 4}}, {"reduce", std::string("sum")}});
  expect_near(result, {3, 2}, want, 1e-13, 1e-13);
}

}  // namespace
}  // namespace primset::decomps
