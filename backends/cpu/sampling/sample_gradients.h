// grid_sample_backward: the gradients by the image and by the grid, a few channels at a time.
#ifndef PRIMSET_BACKENDS_CPU_SAMPLING_SAMPLE_GRADIENTS_H_
#define PRIMSET_BACKENDS_CPU_SAMPLING_SAMPLE_GRADIENTS_H_

#include <algorithm>
#include <memory>
#include <vector>

#include "backends/cpu/sampling/grid_corners.h"
#include "backends/cpu/sampling/planes.h"

namespace primset_cpu {

template <typename T>
class SampleGradients {
 public:
  SampleGradients(const primset_primitive_call& call, const GridCorners& corners)
      : corners_(corners),
        grad_(call.operands[0]),
        x_(call.operands[1]),
        grid_(call.operands[2]),
        grad_x_(data_at<T>(call.results[0])),
        grad_grid_(data_at<T>(call.results[1])),
        batches_(call.operands[1].sizes[0]),
        channels_(call.operands[1].sizes[1]),
        groups_((channels_ + kChannels - 1) / kChannels),
        places_(grid_.places) {}

  void run(ThreadPool& pool) {
    const int64_t parts = batches_ * places_ * corners_.dims();
    if (has_slopes() && groups_ > 1) parts_.resize(static_cast<size_t>(groups_ * parts));
    if (!has_slopes() || groups_ == 0) std::fill_n(grad_grid_, parts, T());
    const int64_t images = batches_ * groups_, shares = shares_of(images);
    if (shares == 1) {
      in_parallel(pool, images, [&](int64_t first, int64_t end) {
        Scratch s(padded_plane(), 1);
        for (int64_t i = first; i < end; ++i) {
          read_image(i, 0, corners_.plane, s);
          add_share(i, 0, 1, s);
          write_image(i, 0, corners_.plane, 1, s);
        }
      });
    } else {
      Scratch s(padded_plane(), shares);
      for (int64_t i = 0; i < images; ++i) share_image(pool, i, shares, s);
    }
    if (!parts_.empty()) add_parts(pool, parts);
  }

 private:
  // Of one image: its channels side by side, and the sums of each share of the places. Behind the
  // last element stands what is outside, which reads as 0 and is written in vain.
  struct Scratch {
    Scratch(int64_t elements, int64_t shares)
        : x(new T[static_cast<size_t>(elements)]),
          sums(new T[static_cast<size_t>(elements * shares)]) {}
    std::unique_ptr<T[]> x, sums;
  };

  bool has_slopes() const { return corners_.mode != GridMode::nearest; }
  int64_t padded_plane() const { return (corners_.plane + 1) * kChannels; }
  int64_t first_channel(int64_t image) const { return image % groups_ * kChannels; }
  int64_t channels_of(int64_t image) const {
    return std::min<int64_t>(channels_ - first_channel(image), kChannels);
  }

  // Few images have their places shared out, if these are many more than the elements that the
  // sums of a share have to be added up for. Sizes alone decide, so that the bits do not depend on
  // the threads.
  int64_t shares_of(int64_t images) const {
    constexpr int64_t kImages = 16, kPlacesAnElement = 2;
    return std::clamp<int64_t>(
        std::min(kImages / std::max<int64_t>(images, 1),
                 places_ / (kPlacesAnElement * std::max<int64_t>(corners_.plane, 1))),
        1, kImages);
  }

  void share_image(ThreadPool& pool, int64_t image, int64_t shares, const Scratch& s) {
    constexpr int64_t kElements = 1024;
    const int64_t blocks = (corners_.plane + kElements - 1) / kElements;
    const auto end_of = [&](int64_t block) { return std::min(block * kElements, corners_.plane); };
    in_parallel(pool, blocks, [&](int64_t first, int64_t end) {
      read_image(image, first * kElements, end_of(end), s);
    });
    in_parallel(pool, shares, [&](int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i) add_share(image, i, shares, s);
    });
    in_parallel(pool, blocks, [&](int64_t first, int64_t end) {
      write_image(image, first * kElements, end_of(end), shares, s);
    });
  }

  void read_image(int64_t image, int64_t first, int64_t end, const Scratch& s) const {
    std::fill_n(s.x.get() + corners_.plane * kChannels, kChannels, T());
    if (!has_slopes()) return;
    vector_code(
        [](const SampleGradients& g, int64_t i, int64_t from, int64_t to, T* x)
            PRIMSET_INLINE_LAMBDA {
              g.x_.pack(i / g.groups_, g.first_channel(i), g.channels_of(i), from, to - from,
                        x + from * kChannels);
            },
        *this, image, first, end, s.x.get());
  }

  void write_image(int64_t image, int64_t first, int64_t end, int64_t shares,
                   const Scratch& s) const {
    T* const sums = s.sums.get();
    for (int64_t i = 1; i < shares; ++i)
      for (int64_t at = first * kChannels; at < end * kChannels; ++at)
        sums[at] += sums[i * padded_plane() + at];
    T* const to = grad_x_ + (image / groups_ * channels_ + first_channel(image)) * corners_.plane;
    vector_code([](const T* from, int64_t channels, int64_t begin, int64_t stop, int64_t plane,
                   T* y) PRIMSET_INLINE_LAMBDA { unpack(from, channels, begin, stop, plane, y); },
                sums, channels_of(image), first, end, corners_.plane, to);
  }

  void add_share(int64_t image, int64_t share, int64_t shares, const Scratch& s) {
    const int64_t blocks = (places_ + kBlockPlaces - 1) / kBlockPlaces;
    const int64_t first = blocks * share / shares, end = blocks * (share + 1) / shares;
    T* const sums = s.sums.get() + share * padded_plane();
    std::fill_n(sums, padded_plane(), T());
    vector_code([](const SampleGradients& g, int64_t i, int64_t from, int64_t to, const T* x, T* y)
                    PRIMSET_INLINE_LAMBDA { g.add_blocks(i, from, to, x, y); },
                *this, image, first, end, s.x.get(), sums);
  }

  PRIMSET_INLINE void add_blocks(int64_t image, int64_t first, int64_t end, const T* x,
                                 T* sums) const {
    const int64_t batch = image / groups_, dims = corners_.dims();
    T* const slopes = parts_.empty() ? grad_grid_ : part_of(image % groups_);
    BlockCorners<T> block;
    T grads[kBlockPlaces * kChannels];
    for (int64_t b = first; b < end; ++b) {
      const int64_t place = b * kBlockPlaces, at = (batch * places_ + place) * dims;
      const int count = static_cast<int>(std::min<int64_t>(places_ - place, kBlockPlaces));
      block.find(corners_, grid_.data + at, count);
      grad_.pack(batch, first_channel(image), channels_of(image), place, count, grads);
      for (int i = 0; i < count; ++i) {
        add_place(block, i, grads + i * kChannels, sums);
        if (has_slopes()) add_slopes(block, i, grads + i * kChannels, x, slopes + at + i * dims);
      }
    }
  }

  PRIMSET_INLINE void add_place(const BlockCorners<T>& block, int i, const T* grad, T* sums) const {
    for (int k = 0; k < corners_.corners; ++k) {
      T* const to = sums + block.place[k][i] * kChannels;
      const T weight = block.weight[k][i];
      for (int c = 0; c < kChannels; ++c) to[c] += weight * grad[c];
    }
  }

  // The grid has the innermost dim first.
  PRIMSET_INLINE void add_slopes(const BlockCorners<T>& block, int i, const T* grad, const T* x,
                                 T* to) const {
    const T* value[kMostCorners + 1];
    for (int k = 0; k < corners_.corners; ++k) value[k] = x + block.place[k][i] * kChannels;
    value[corners_.corners] = x + corners_.plane * kChannels;
    for (int d = 0; d < corners_.dims(); ++d) {
      T rise[kChannels];
      for (int k = 0; k < corners_.pairs_of(d); ++k) {
        const CornerPair pair = corners_.pairs[d][static_cast<size_t>(k)];
        const T *const low = value[pair.low], *const high = value[pair.high];
        const T weight = block.rise_weight[d][k][i];
        for (int c = 0; c < kChannels; ++c) {
          const T term = (high[c] - low[c]) * weight;
          rise[c] = k == 0 ? term : rise[c] + term;
        }
      }
      for (int c = 0; c < kChannels; ++c) rise[c] *= grad[c];
      for (int step = kChannels / 2; step > 0; step /= 2)
        for (int c = 0; c < step; ++c) rise[c] += rise[c + step];
      to[corners_.dims() - 1 - d] = rise[0] * block.slope[d][i];
    }
  }

  T* part_of(int64_t group) const {
    return const_cast<T*>(parts_.data()) + group * batches_ * places_ * corners_.dims();
  }

  // The groups of channels in order.
  void add_parts(ThreadPool& pool, int64_t count) const {
    constexpr int64_t kElements = 4096;
    in_parallel(pool, (count + kElements - 1) / kElements, [&](int64_t first, int64_t end) {
      for (int64_t i = first * kElements; i < std::min(end * kElements, count); ++i) {
        T sum = 0;
        for (int64_t g = 0; g < groups_; ++g) sum += part_of(g)[i];
        grad_grid_[i] = sum;
      }
    });
  }

  const GridCorners& corners_;
  const Planes<T> grad_, x_;
  const GridOperand<T> grid_;
  T *grad_x_, *grad_grid_;
  int64_t batches_, channels_, groups_, places_;
  std::vector<T> parts_;  // of the gradient by the grid, where there are several groups of channels
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SAMPLING_SAMPLE_GRADIENTS_H_
