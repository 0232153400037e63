// Samples and their gradients, against sums over the corners of one place after the other: images
// and volumes, full and partial vectors of channels, operands that are not dense, places outside.
#include "backends/cpu/sampling/sample_gradients.h"
#include "backends/cpu/sampling/samples.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace primset_cpu {
namespace {

using Sizes = std::vector<int64_t>;

int64_t count_of(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

// A tensor over its own memory, whose dims lie there in this order, outermost first.
template <typename T>
class Tensor {
 public:
  Tensor(Sizes sizes, const std::vector<size_t>& order, double low, double high, unsigned seed)
      : sizes_(std::move(sizes)),
        strides_(sizes_.size()),
        data_(static_cast<size_t>(count_of(sizes_))) {
    int64_t stride = 1;
    for (size_t k = order.size(); k-- > 0; stride *= sizes_[order[k]]) strides_[order[k]] = stride;
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> values(low, high);
    for (T& x : data_) x = static_cast<T>(values(random));
    buffer_.address = reinterpret_cast<char*>(data_.data());
  }

  T& operator()(const Sizes& index) {
    return data_[static_cast<size_t>(
        std::inner_product(index.begin(), index.end(), strides_.begin(), int64_t{0}))];
  }
  primset_tensor described() {
    return {sizeof(primset_tensor),
            sizeof(T) == 4 ? PRIMSET_F32 : PRIMSET_F64,
            &buffer_,
            0,
            static_cast<uint32_t>(sizes_.size()),
            0,
            sizes_.data(),
            strides_.data()};
  }

 private:
  Sizes sizes_, strides_;
  std::vector<T> data_;
  primset_buffer_t buffer_{};
};

std::vector<size_t> row_major(size_t rank) {
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

struct Case {
  int64_t batches, channels;
  Sizes image, places;
  bool channels_last = false;
  double reach = 1.3;  // of coordinates
};

// Linear weights of one place: index, weight and derivative of the two neighbours along a dim.
struct Neighbours {
  int64_t index[2];
  double weight[2];
  double slope;
};

Neighbours neighbours(double coordinate, int64_t size) {
  const auto count = static_cast<double>(size);
  const double at = ((coordinate + 1) * count - 1) / 2, below = std::floor(at);
  const auto first = static_cast<int64_t>(below);
  return {{first, first + 1}, {1 - (at - below), at - below}, count / 2};
}

template <typename T>
class Sampled {
 public:
  explicit Sampled(const Case& c)
      : c_(c),
        dims_(c.image.size()),
        x_(with(c.image), order(), -1, 1, 1),
        grad_(with(c.places), order(), -1, 1, 2),
        grid_(grid_sizes(), row_major(dims_ + 2), -c.reach, c.reach, 3),
        y_(with(c.places), row_major(dims_ + 2), 7, 7, 8),
        grad_x_(with(c.image), row_major(dims_ + 2), 7, 7, 4),
        grad_grid_(grid_sizes(), row_major(dims_ + 2), 7, 7, 5),
        wanted_y_(with(c.places), row_major(dims_ + 2), 0, 0, 9),
        wanted_x_(with(c.image), row_major(dims_ + 2), 0, 0, 6),
        wanted_grid_(grid_sizes(), row_major(dims_ + 2), 0, 0, 7) {}

  void compute() {
    ThreadPool pool(3);
    const primset_tensor operands[] = {grad_.described(), x_.described(), grid_.described()};
    const primset_tensor results[] = {grad_x_.described(), grad_grid_.described()};
    primset_primitive_call call{};
    call.operands = operands, call.operand_count = 3, call.results = results;
    std::vector<GridAxis> axes;
    for (const int64_t size : c_.image) axes.push_back({size, GridPadding::zeros, false});
    const GridCorners corners(axes, GridMode::bilinear);
    SampleGradients<T>(call, corners).run(pool);
    const primset_tensor y = y_.described();
    call.operands = operands + 1, call.operand_count = 2, call.results = &y;
    Samples<T>(call, corners).run(pool);
  }

  void expect_sums() {
    for (int64_t b = 0; b < c_.batches; ++b)
      for (int64_t p = 0; p < count_of(c_.places); ++p) add_place(b, unraveled(p, c_.places));
    const double bound = sizeof(T) == 4 ? 2e-4 : 1e-11;
    for (int64_t b = 0; b < c_.batches; ++b) {
      for (int64_t ch = 0; ch < c_.channels; ++ch)
        for (int64_t i = 0; i < count_of(c_.image); ++i) {
          const Sizes at = joined({b, ch}, unraveled(i, c_.image));
          ASSERT_NEAR(grad_x_(at), wanted_x_(at), bound) << i;
        }
      for (int64_t i = 0; i < c_.channels * count_of(c_.places); ++i) {
        const int64_t places = count_of(c_.places);
        const Sizes at = joined({b, i / places}, unraveled(i % places, c_.places));
        ASSERT_NEAR(y_(at), wanted_y_(at), bound) << i;
      }
      for (int64_t p = 0; p < count_of(c_.places); ++p)
        for (size_t d = 0; d < dims_; ++d) {
          const Sizes at = joined(joined({b}, unraveled(p, c_.places)), {static_cast<int64_t>(d)});
          ASSERT_NEAR(grad_grid_(at), wanted_grid_(at), bound * 10) << p;
        }
    }
  }

 private:
  Sizes with(const Sizes& sizes) const { return joined({c_.batches, c_.channels}, sizes); }
  Sizes grid_sizes() const {
    return joined(joined({c_.batches}, c_.places), {static_cast<int64_t>(dims_)});
  }
  std::vector<size_t> order() const {
    std::vector<size_t> all = row_major(dims_ + 2);
    if (c_.channels_last) std::rotate(all.begin() + 1, all.begin() + 2, all.end());
    return all;
  }
  static Sizes joined(Sizes a, const Sizes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  static Sizes unraveled(int64_t i, const Sizes& sizes) {
    Sizes out(sizes.size());
    for (size_t d = sizes.size(); d-- > 0; i /= sizes[d]) out[d] = i % sizes[d];
    return out;
  }

  void add_place(int64_t b, const Sizes& place) {
    std::vector<Neighbours> near;
    for (size_t d = 0; d < dims_; ++d) {
      const auto inner = static_cast<int64_t>(dims_ - 1 - d);
      near.push_back(neighbours(grid_(joined(joined({b}, place), {inner})), c_.image[d]));
    }
    for (size_t corner = 0; corner < (size_t{1} << dims_); ++corner)
      add_corner(b, place, near, corner);
  }

  void add_corner(int64_t b, const Sizes& place, const std::vector<Neighbours>& near,
                  size_t corner) {
    Sizes index;
    double weight = 1;
    bool inside = true;
    for (size_t d = 0; d < dims_; ++d) {
      const size_t tap = corner >> d & 1;
      index.push_back(near[d].index[tap]);
      weight *= near[d].weight[tap];
      inside &= index[d] >= 0 && index[d] < c_.image[d];
    }
    if (!inside) return;
    for (int64_t ch = 0; ch < c_.channels; ++ch) {
      const double grad = grad_(joined({b, ch}, place)), x = x_(joined({b, ch}, index));
      wanted_y_(joined({b, ch}, place)) += static_cast<T>(x * weight);
      wanted_x_(joined({b, ch}, index)) += static_cast<T>(grad * weight);
      for (size_t d = 0; d < dims_; ++d) {
        const size_t tap = corner >> d & 1;
        double others = 1;
        for (size_t e = 0; e < dims_; ++e) others *= e == d ? 1 : near[e].weight[corner >> e & 1];
        const auto inner = static_cast<int64_t>(dims_ - 1 - d);
        wanted_grid_(joined(joined({b}, place), {inner})) +=
            static_cast<T>(grad * x * others * (tap ? 1 : -1) * near[d].slope);
      }
    }
  }

  const Case& c_;
  size_t dims_;
  Tensor<T> x_, grad_, grid_, y_, grad_x_, grad_grid_, wanted_y_, wanted_x_, wanted_grid_;
};

TEST(CpuSampling, AddsUpCorners) {
  const Case cases[] = {
      {2, 8, {9, 7}, {5, 13}},      {1, 3, {4, 5}, {40, 41}},  // places shared out
      {2, 19, {6, 6}, {8, 9}},       // groups of channels, the last one partial
      {2, 9, {6, 5}, {8, 9}, true},  // channels innermost
      {1, 5, {3, 4, 5}, {6, 7, 9}},  // a volume, its places shared out
      {1, 8, {1, 1}, {3, 3}},       {1, 2, {5, 4}, {3, 3}, false, 40},  // nearly all outside
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message()
                 << c.channels << " channels, " << count_of(c.places) << " places");
    Sampled<float> narrow(c);
    narrow.compute();
    narrow.expect_sums();
    Sampled<double> wide(c);
    wide.compute();
    wide.expect_sums();
  }
}

}  // namespace
}  // namespace primset_cpu
