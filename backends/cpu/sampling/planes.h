// Operands of a sample: channels of an image side by side, of which a few make one vector of each
// place, and the grid.
#ifndef PRIMSET_BACKENDS_CPU_SAMPLING_PLANES_H_
#define PRIMSET_BACKENDS_CPU_SAMPLING_PLANES_H_

#include <vector>

#include "backends/common/contraction.h"
#include "backends/cpu/sparse/sparse_rows.h"
#include "backends/cpu/transposed_copy.h"

namespace primset_cpu {

inline constexpr int kChannels = static_cast<int>(kTransposedSide);

// The elements in row-major order.
template <typename T>
std::vector<T> dense_copy(const primset_tensor& t) {
  primset_backend::Dims all;
  for (uint32_t d = 0; d < t.rank; ++d) all.push_back(d);
  std::vector<T> copy;
  const T* const data = data_at<const T>(t);
  for (const int64_t at : primset_backend::offsets_of(t, all)) copy.push_back(data[at]);
  return copy;
}

// [batch, places..., dims] without gaps: as it lies in memory, or a copy.
template <typename T>
struct GridOperand {
  std::vector<T> copy;
  const T* data;
  int64_t places = 1;  // of an image

  explicit GridOperand(const primset_tensor& t)
      : copy(is_dense(t) ? std::vector<T>() : dense_copy<T>(t)),
        data(is_dense(t) ? data_at<const T>(t) : copy.data()) {
    for (uint32_t d = 1; d + 1 < t.rank; ++d) places *= t.sizes[d];
  }
};

// An operand [batch, channels, places...], where one stride goes through the places: as it lies in
// memory, or a copy.
template <typename T>
struct Planes {
  const T* data;
  int64_t batch_stride, channel_stride, place_stride;
  std::vector<T> copy;

  explicit Planes(const primset_tensor& t) : data(data_at<const T>(t)) {
    batch_stride = t.strides[0], channel_stride = t.strides[1];
    place_stride = t.strides[t.rank - 1];
    int64_t places = t.sizes[t.rank - 1];
    bool regular = true;
    for (uint32_t d = t.rank - 1; d-- > 2; places *= t.sizes[d])
      regular &= t.sizes[d] == 1 || t.strides[d] == places * place_stride;
    if (regular) return;
    copy = dense_copy<T>(t);
    data = copy.data();
    place_stride = 1, channel_stride = places, batch_stride = places * t.sizes[1];
  }

  // Of up to kChannels channels from a place on, to [count, kChannels]; the rest are 0.
  PRIMSET_INLINE void pack(int64_t batch, int64_t channel, int64_t channels, int64_t place,
                           int64_t count, T* to) const {
    const T* const from =
        data + batch * batch_stride + channel * channel_stride + place * place_stride;
    int64_t p = 0;
    if (channels == kChannels && place_stride == 1)
      for (; p + kTransposedSide <= count; p += kTransposedSide)
        transpose_block(from + p, channel_stride, to + p * kChannels, kChannels);
    for (; p < count; ++p)
      for (int64_t c = 0; c < kChannels; ++c)
        to[p * kChannels + c] = c < channels ? from[p * place_stride + c * channel_stride] : T();
  }
};

// To dense planes.
template <typename T>
PRIMSET_INLINE void unpack(const T* from, int64_t channels, int64_t first, int64_t end,
                           int64_t plane, T* to) {
  int64_t p = first;
  if (channels == kChannels)
    for (; p + kTransposedSide <= end; p += kTransposedSide)
      transpose_block(from + p * kChannels, kChannels, to + p, plane);
  for (; p < end; ++p)
    for (int64_t c = 0; c < channels; ++c) to[c * plane + p] = from[p * kChannels + c];
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SAMPLING_PLANES_H_
