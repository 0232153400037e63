// The greatest of windows, and its gradients, against a walk over each window's elements in
// row-major order: ties, NaN, infinities, dilation, what is beyond the edges, one to three dims.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "backends/cpu/pooling/max_gradients.h"
#include "backends/cpu/pooling/max_windows.h"

namespace primset_cpu {
namespace {

using Sizes = std::vector<int64_t>;

constexpr int64_t kPlanes = 5;

struct Windows {
  Sizes shape, window, strides, dilations, padding;

  size_t dims() const { return shape.size(); }
  int64_t places_of(size_t d) const {
    const int64_t reach = (window[d] - 1) * dilations[d] + 1;
    return (shape[d] + 2 * padding[d] - reach) / strides[d] + 1;
  }
  Sizes places() const {
    Sizes all;
    for (size_t d = 0; d < dims(); ++d) all.push_back(places_of(d));
    return all;
  }
};

int64_t elements(const Sizes& sizes) {
  return product(sizes.data(), sizes.size());
}

// The indices of element i of a row-major tensor.
Sizes indices_of(int64_t i, const Sizes& sizes) {
  Sizes at(sizes.size());
  for (size_t d = sizes.size(); d-- > 0; i /= sizes[d]) at[d] = i % sizes[d];
  return at;
}

// f of each place of the plane that window `w` has, in row-major order.
template <typename F>
void for_each_place(const Windows& windows, int64_t w, const F& f) {
  const Sizes place = indices_of(w, windows.places());
  for (int64_t tap = 0; tap < elements(windows.window); ++tap) {
    const Sizes in_window = indices_of(tap, windows.window);
    int64_t at = 0;
    bool inside = true;
    for (size_t d = 0; d < windows.dims(); ++d) {
      const int64_t i =
          place[d] * windows.strides[d] - windows.padding[d] + in_window[d] * windows.dilations[d];
      inside &= i >= 0 && i < windows.shape[d];
      at = at * windows.shape[d] + i;
    }
    if (inside) f(at);
  }
}

template <typename T>
struct Pooled {
  std::vector<T> y;
  std::vector<int64_t> index;
};

template <typename T>
Pooled<T> expected(const Windows& windows, const std::vector<T>& x) {
  Pooled<T> out;
  const int64_t plane = elements(windows.shape), count = elements(windows.places());
  for (int64_t p = 0; p < kPlanes; ++p) {
    const T* const from = x.data() + p * plane;
    for (int64_t w = 0; w < count; ++w) {
      int64_t best = -1;
      for_each_place(windows, w, [&](int64_t at) {
        if (best < 0 || from[at] > from[best] || std::isnan(from[at])) best = at;
      });
      out.index.push_back(best);
      out.y.push_back(from[best]);
    }
  }
  return out;
}

// A call that owns what its tensors point at.
class Call {
 public:
  primset_primitive_call call{};

  explicit Call(const Windows& windows)
      : lists_{windows.window,  windows.strides,  windows.dilations,
               windows.padding, windows.places(), windows.shape} {
    constexpr const char* kNames[] = {"window",  "strides", "dilations",
                                      "padding", "places",  "shape"};
    for (size_t i = 0; i < lists_.size(); ++i) {
      primset_attr a{kNames[i], PRIMSET_ATTR_INTS, static_cast<uint32_t>(lists_[i].size()), {}};
      a.value.ints = lists_[i].data();
      attrs_.push_back(a);
    }
    call.attrs = attrs_.data();
    call.attr_count = static_cast<uint32_t>(attrs_.size());
    tensors_.reserve(kMost);
    buffers_.reserve(kMost);
    sizes_.reserve(kMost);
  }

  template <typename T>
  void add(std::vector<T>& data, const Sizes& plane) {
    sizes_.push_back(plane);
    sizes_.back().insert(sizes_.back().begin(), kPlanes);
    buffers_.push_back({});
    buffers_.back().address = reinterpret_cast<char*>(data.data());
    primset_tensor t{};
    t.struct_size = sizeof t;
    t.buffer = &buffers_.back();
    t.rank = static_cast<uint32_t>(sizes_.back().size());
    t.sizes = sizes_.back().data();
    tensors_.push_back(t);
  }

  void set_results(uint32_t from) {
    call.operands = tensors_.data();
    call.operand_count = from;
    call.results = tensors_.data() + from;
    call.result_count = static_cast<uint32_t>(tensors_.size()) - from;
  }

 private:
  static constexpr size_t kMost = 4;
  std::vector<Sizes> lists_, sizes_;
  std::vector<primset_attr> attrs_;
  std::vector<primset_buffer_t> buffers_;
  std::vector<primset_tensor> tensors_;
};

template <typename T, typename Wide>
Pooled<T> pooled(const Windows& windows, std::vector<T>& x) {
  ThreadPool pool(3);
  const auto count = static_cast<size_t>(kPlanes * elements(windows.places()));
  Pooled<T> out{std::vector<T>(count), std::vector<int64_t>(count, -7)};
  Call c(windows);
  c.add(x, windows.shape);
  c.add(out.y, windows.places());
  c.add(out.index, windows.places());
  c.set_results(1);
  MaxWindows<T, Wide>(c.call, regular_windows(c.call, windows.shape.data())).run(pool);
  return out;
}

template <typename T>
std::vector<T> gradients(const Windows& windows, std::vector<T>& grad,
                         std::vector<int64_t>& index) {
  ThreadPool pool(3);
  std::vector<T> x(static_cast<size_t>(kPlanes * elements(windows.shape)), T(77));
  Call c(windows);
  c.add(grad, windows.places());
  c.add(index, windows.places());
  c.add(x, windows.shape);
  c.set_results(2);
  MaxGradients<T, T>(c.call).run(pool);
  return x;
}

const Windows kWindows[] = {
    {{9, 40}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {{20, 33}, {4, 5}, {1, 3}, {2, 1}, {2, 0}},
    {{64, 70}, {7, 7}, {7, 7}, {1, 1}, {3, 3}},
    {{12, 12}, {12, 12}, {1, 1}, {1, 1}, {0, 0}},
    {{6, 7, 19}, {3, 2, 4}, {1, 2, 2}, {1, 3, 2}, {1, 0, 2}},
    {{8, 1}, {5, 1}, {2, 1}, {1, 1}, {2, 0}},
};

// Few values, so that many are equal; every `special`-th is NaN or infinite in turns.
template <typename T>
std::vector<T> inputs(const Windows& windows, int special) {
  std::mt19937 random(3);
  std::vector<T> x(static_cast<size_t>(kPlanes * elements(windows.shape)));
  for (T& e : x) e = static_cast<T>(random() % 6) - 3;
  constexpr T kInfinity = std::numeric_limits<T>::infinity(),
              kNaN = std::numeric_limits<T>::quiet_NaN();
  const T specials[] = {kNaN, kInfinity, -kInfinity};
  for (size_t i = 0; special && i < x.size(); i += static_cast<size_t>(special))
    x[i] = specials[random() % 3];
  return x;
}

template <typename T>
void expect_same(const std::vector<T>& got, const std::vector<T>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_TRUE(got[i] == want[i] || (got[i] != got[i] && want[i] != want[i]))
        << i << ": " << got[i] << ", not " << want[i];
}

template <typename T>
void expect_greatest() {
  for (const Windows& windows : kWindows) {
    for (const int special : {0, 1, 5, 50}) {
      SCOPED_TRACE(testing::Message() << "windows of " << testing::PrintToString(windows.window)
                                      << ", special " << special);
      std::vector<T> x = inputs<T>(windows, special);
      const Pooled<T> want = expected(windows, x), got = pooled<T, T>(windows, x);
      expect_same(got.y, want.y);
      expect_same(got.index, want.index);
    }
  }
}

TEST(CpuPooling, TheGreatestOfEachWindow) {
  expect_greatest<float>();
  expect_greatest<double>();
}

TEST(CpuPooling, OfBf16AsOfFloats) {
  for (const Windows& windows : kWindows) {
    std::vector<float> x = inputs<float>(windows, 9);
    std::vector<uint16_t> halves;
    for (const float e : x)
      halves.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(e) >> 16));  // all are exact
    const Pooled<float> want = expected(windows, x);
    const Pooled<uint16_t> got = pooled<uint16_t, float>(windows, halves);
    expect_same(got.index, want.index);
    std::vector<float> y;
    for (const uint16_t e : got.y) y.push_back(std::bit_cast<float>(uint32_t{e} << 16));
    expect_same(y, want.y);
  }
}

// Small integers, whose sums have one value in any order.
TEST(CpuPooling, GradientsWhereTheGreatestWas) {
  for (const Windows& windows : kWindows) {
    std::vector<double> x = inputs<double>(windows, 0);
    Pooled<double> pools = expected(windows, x);
    std::vector<double> grad;
    for (size_t i = 0; i < pools.y.size(); ++i) grad.push_back(static_cast<double>(i % 13) - 6);
    std::vector<double> want(x.size());
    const int64_t plane = elements(windows.shape), count = elements(windows.places());
    for (size_t i = 0; i < grad.size(); ++i)
      want[i / static_cast<size_t>(count) * static_cast<size_t>(plane) +
           static_cast<size_t>(pools.index[i])] += grad[i];
    expect_same(gradients(windows, grad, pools.index), want);
  }
}

TEST(CpuPooling, IndicesOutsideOfTheirWindowsAddNothing) {
  const Windows& windows = kWindows[0];
  const Sizes places = windows.places();
  std::vector<int64_t> index(static_cast<size_t>(kPlanes * elements(places)));
  std::vector<double> grad(index.size(), 1.0),
      want(static_cast<size_t>(kPlanes * elements(windows.shape)));
  const int64_t wrong[] = {-1, elements(windows.shape), INT64_MIN, INT64_MAX, 0};
  const int64_t count = elements(places), plane = elements(windows.shape);
  for (int64_t i = 0; i < kPlanes * count; ++i) {
    index[static_cast<size_t>(i)] = wrong[i % 5];
    // Place 0 is in the first window alone.
    if (i % 5 == 4 && i % count == 0) want[static_cast<size_t>(i / count * plane)] += 1;
  }
  expect_same(gradients(windows, grad, index), want);
}

// As adaptive pooling has them: windows of unequal sizes, whose bounds are kept inside.
TEST(CpuPooling, WindowsWithBounds) {
  ThreadPool pool(3);
  const Sizes shape = {17, 23}, places = {4, 5};
  std::vector<int64_t> bounds[4] = {
      {0, 4, 8, 12}, {5, 9, 13, 17}, {0, 4, 9, 13, -3}, {5, 10, 14, 99, 1}};
  std::vector<float> x = inputs<float>({shape, shape, {1, 1}, {1, 1}, {0, 0}}, 11);
  Pooled<float> got{std::vector<float>(kPlanes * 20), std::vector<int64_t>(kPlanes * 20)};
  primset_buffer_t buffers[7] = {};
  const Sizes sizes[] = {{kPlanes, 17, 23}, {4}, {4}, {5}, {5}, {kPlanes, 4, 5}, {kPlanes, 4, 5}};
  void* const data[] = {x.data(),         bounds[0].data(), bounds[1].data(), bounds[2].data(),
                        bounds[3].data(), got.y.data(),     got.index.data()};
  primset_tensor tensors[7];
  for (size_t i = 0; i < 7; ++i) {
    buffers[i].address = static_cast<char*>(data[i]);
    tensors[i] = {sizeof(primset_tensor),
                  i == 0 || i == 5 ? PRIMSET_F32 : PRIMSET_I64,
                  &buffers[i],
                  0,
                  static_cast<uint32_t>(sizes[i].size()),
                  0,
                  sizes[i].data(),
                  nullptr};
  }
  primset_primitive_call call{};
  call.operands = tensors, call.operand_count = 5;
  call.results = tensors + 5, call.result_count = 2;
  MaxWindows<float, float>(call, bounded_windows(call, shape.data())).run(pool);
  for (int64_t i = 0; i < kPlanes * 20; ++i) {
    const float* const plane = x.data() + i / 20 * elements(shape);
    const auto r = static_cast<size_t>(i / 5 % 4), c = static_cast<size_t>(i % 5);
    int64_t best = -1;
    for (int64_t row = bounds[0][r]; row < bounds[1][r]; ++row) {
      const int64_t begin = std::max<int64_t>(bounds[2][c], 0),
                    end = std::min<int64_t>(bounds[3][c], 23);
      for (int64_t at = row * 23 + begin; at < row * 23 + end; ++at)
        if (best < 0 || plane[at] > plane[best] || std::isnan(plane[at])) best = at;
    }
    ASSERT_EQ(got.index[static_cast<size_t>(i)], best) << i;
    const float y = got.y[static_cast<size_t>(i)], want = plane[best];
    ASSERT_TRUE(y == want || (std::isnan(y) && std::isnan(want))) << i;
  }
}

}  // namespace
}  // namespace primset_cpu
