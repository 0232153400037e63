// grid_sample: images at the places of a grid, a few channels at a time.
#ifndef PRIMSET_BACKENDS_CPU_SAMPLING_SAMPLES_H_
#define PRIMSET_BACKENDS_CPU_SAMPLING_SAMPLES_H_

#include <algorithm>
#include <memory>

#include "backends/cpu/sampling/grid_corners.h"
#include "backends/cpu/sampling/planes.h"

namespace primset_cpu {

template <typename T>
class Samples {
 public:
  Samples(const primset_primitive_call& call, const GridCorners& corners)
      : corners_(corners),
        x_(call.operands[0]),
        grid_(call.operands[1]),
        y_(data_at<T>(call.results[0])),
        batches_(call.operands[0].sizes[0]),
        channels_(call.operands[0].sizes[1]),
        groups_((channels_ + kChannels - 1) / kChannels) {}

  // An image is read by the threads together, and then sampled by them.
  void run(ThreadPool& pool) const {
    const int64_t elements = corners_.plane, blocks = ceil_div(grid_.places, kBlockPlaces);
    const std::unique_ptr<T[]> image(new T[static_cast<size_t>((elements + 1) * kChannels)]);
    T* const x = image.get();
    std::fill_n(x + elements * kChannels, kChannels, T());
    for (int64_t i = 0; i < batches_ * groups_; ++i) {
      const int64_t channel = i % groups_ * kChannels;
      const Part part{i / groups_, channel, std::min<int64_t>(channels_ - channel, kChannels)};
      in_parallel(pool, ceil_div(elements, kElements), [&](int64_t first, int64_t end) {
        vector_code(
            [](const Samples& s, const Part& p, int64_t from, int64_t to, T* at)
                PRIMSET_INLINE_LAMBDA {
                  s.x_.pack(p.batch, p.channel, p.channels, from, to - from, at + from * kChannels);
                },
            *this, part, first * kElements, std::min(end * kElements, elements), x);
      });
      in_parallel(pool, blocks, [&](int64_t first, int64_t end) {
        vector_code([](const Samples& s, const Part& p, int64_t from, int64_t to, const T* at)
                        PRIMSET_INLINE_LAMBDA { s.sample(p, from, to, at); },
                    *this, part, first, end, x);
      });
    }
  }

 private:
  static constexpr int64_t kElements = 1024;

  struct Part {
    int64_t batch, channel, channels;
  };

  static int64_t ceil_div(int64_t x, int64_t y) { return (x + y - 1) / y; }

  PRIMSET_INLINE void sample(const Part& part, int64_t first, int64_t end, const T* x) const {
    const int64_t places = grid_.places, dims = corners_.dims();
    BlockCorners<T> block;
    T sums[kBlockPlaces * kChannels];
    for (int64_t b = first; b < end; ++b) {
      const int64_t place = b * kBlockPlaces;
      const int count = static_cast<int>(std::min<int64_t>(places - place, kBlockPlaces));
      block.find_values(corners_, grid_.data + (part.batch * places + place) * dims, count);
      for (int i = 0; i < count; ++i) add_up(block, i, x, sums + i * kChannels);
      unpack(sums, part.channels, 0, count, places,
             y_ + (part.batch * channels_ + part.channel) * places + place);
    }
  }

  PRIMSET_INLINE void add_up(const BlockCorners<T>& block, int i, const T* x, T* to) const {
    T sum[kChannels];
    for (int c = 0; c < kChannels; ++c)
      sum[c] = x[block.place[0][i] * kChannels + c] * block.weight[0][i];
    for (int k = 1; k < corners_.corners; ++k) {
      const T* const from = x + block.place[k][i] * kChannels;
      const T weight = block.weight[k][i];
      for (int c = 0; c < kChannels; ++c) sum[c] += from[c] * weight;
    }
    std::copy_n(sum, kChannels, to);
  }

  const GridCorners& corners_;
  const Planes<T> x_;
  const GridOperand<T> grid_;
  T* y_;
  int64_t batches_, channels_, groups_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SAMPLING_SAMPLES_H_
