// The primitive resample_antialias of bytes: one dim after the other, the last one first, sums
// rounded to bytes between them.
#ifndef PRIMSET_BACKENDS_CPU_RESAMPLE_BYTES_H_
#define PRIMSET_BACKENDS_CPU_RESAMPLE_BYTES_H_

#include <algorithm>
#include <vector>

#include "backends/cpu/byte_filter.h"
#include "backends/cpu/sparse/sparse_rows.h"

namespace primset_cpu {

PRIMSET_INLINE uint8_t rounded_byte(int32_t sum, int digits) {
  return static_cast<uint8_t>(std::clamp((sum + ((1 << digits) >> 1)) >> digits, 0, 255));
}

// A row of bytes filtered along itself. Neighbours are gone through eight at a time; `wide` has
// room for the row and the taps behind it, `sums` for the places.
struct RowFilter {
  const ByteFilter* filter;
  const uint8_t* from;
  uint8_t* to;
  int32_t *wide, *sums;

  static constexpr int64_t kLanes = 8;

  PRIMSET_INLINE void operator()() const {
    for (int64_t i = 0; i < filter->in; ++i) wide[i] = from[i];
    if (filter->taps == kLanes)
      add_up(kLanes);
    else
      add_up(filter->taps);
    round_sums(sums, filter->places, filter->digits, to);
  }

 private:
  static PRIMSET_INLINE void round_sums(const int32_t* from, int64_t count, int digits,
                                        uint8_t* to) {
    for (int64_t i = 0; i < count; ++i) to[i] = rounded_byte(from[i], digits);
  }

  PRIMSET_INLINE void add_up(int64_t taps) const {
    const int32_t *const first = filter->first.data(), *weights = filter->weights.data();
    const int64_t places = filter->places;
    for (int64_t place = 0; place < places; ++place, weights += taps) {
      const int32_t* const neighbours = wide + first[place];
      int32_t lanes[kLanes] = {};
      for (int64_t k = 0; k < taps; k += kLanes)
        for (int64_t w = 0; w < kLanes; ++w) lanes[w] += neighbours[k + w] * weights[k + w];
      int32_t sum = 0;
      for (const int32_t lane : lanes) sum += lane;
      sums[place] = sum;
    }
  }
};

// One place of a dim that others follow: `width` columns of its neighbours' rows.
struct ColumnFilter {
  const ByteFilter* filter;
  int64_t place, width;
  const uint8_t* from;
  uint8_t* to;

  static constexpr int64_t kColumns = 64, kFew = 8;

  PRIMSET_INLINE void operator()() const {
    int64_t column = 0;
    for (; column + kColumns <= width; column += kColumns) columns<kColumns>(column);
    for (; column + kFew <= width; column += kFew) columns<kFew>(column);
    for (; column < width; ++column) columns<1>(column);
  }

 private:
  template <int64_t kCount>
  PRIMSET_INLINE void columns(int64_t column) const {
    const int64_t first = filter->first[static_cast<size_t>(place)], step = width;
    const int64_t taps = std::min(filter->taps, filter->in - first);
    const int32_t* const weights = filter->of(place);
    const uint8_t* row = from + first * step + column;
    int32_t sums[kCount] = {};
    for (int64_t k = 0; k < taps; ++k, row += step)
      for (int64_t c = 0; c < kCount; ++c) sums[c] += row[c] * weights[k];
    const int digits = filter->digits;
    for (int64_t c = 0; c < kCount; ++c) to[column + c] = rounded_byte(sums[c], digits);
  }
};

class ResampleBytesCall {
 public:
  explicit ResampleBytesCall(const primset_primitive_call& call) : call_(call) {}

  void run(ThreadPool& pool) {
    const primset_tensor &x = call_.operands[0], &y = call_.results[0];
    std::vector<int64_t> sizes(x.sizes, x.sizes + x.rank);
    std::vector<uint8_t> now, next;
    const uint8_t* from = data_at<const uint8_t>(x);
    if (!is_dense(x)) now = dense_bytes(x), from = now.data();
    for (uint32_t d = x.rank; d-- > x.rank + 1 - call_.operand_count;) {
      if (sizes[d] == y.sizes[d]) continue;
      const uint32_t axis = d - (x.rank + 1 - call_.operand_count);
      const ByteFilter filter =
          byte_filter(text(call_, "filter"), scale_of(call_.operands[1 + axis]), sizes[d],
                      y.sizes[d], padded_reach(axis));
      const int64_t rows = product(sizes, 0, d), width = product(sizes, d + 1, x.rank);
      sizes[d] = y.sizes[d];
      next.resize(static_cast<size_t>(rows * filter.places * width));
      resample(pool, filter, rows, width, from, next.data());
      now.swap(next), from = now.data();
    }
    std::copy_n(from, product(sizes, 0, x.rank), data_at<uint8_t>(y));
  }

 private:
  static int64_t product(const std::vector<int64_t>& sizes, uint32_t first, uint32_t end) {
    int64_t n = 1;
    for (uint32_t d = first; d < end; ++d) n *= sizes[d];
    return n;
  }

  static double scale_of(const primset_tensor& t) {
    return t.dtype == PRIMSET_F32 ? static_cast<double>(*data_at<float>(t)) : *data_at<double>(t);
  }

  int64_t padded_reach(uint32_t axis) const {
    for (uint32_t i = 0; i < call_.attr_count; ++i)
      if (std::string_view(call_.attrs[i].name) == "reach")
        return (call_.attrs[i].value.ints[axis] + RowFilter::kLanes - 1) / RowFilter::kLanes *
               RowFilter::kLanes;
    return 0;
  }

  static std::vector<uint8_t> dense_bytes(const primset_tensor& t) {
    primset_backend::Dims rows;
    for (uint32_t d = 0; d + 1 < t.rank; ++d) rows.push_back(d);
    std::vector<uint8_t> bytes;
    const int64_t width = t.sizes[t.rank - 1], stride = t.strides[t.rank - 1];
    for (const int64_t offset : primset_backend::offsets_of(t, rows)) {
      const uint8_t* const row = data_at<const uint8_t>(t) + offset;
      if (stride == 1)
        bytes.insert(bytes.end(), row, row + width);
      else
        for (int64_t i = 0; i < width; ++i) bytes.push_back(row[i * stride]);
    }
    return bytes;
  }

  static void resample(ThreadPool& pool, const ByteFilter& f, int64_t rows, int64_t width,
                       const uint8_t* from, uint8_t* to) {
    if (width == 1) {
      return in_parallel(pool, rows, [&](int64_t first, int64_t end) {
        std::vector<int32_t> wide(static_cast<size_t>(f.in + f.taps + RowFilter::kLanes));
        std::vector<int32_t> sums(static_cast<size_t>(f.places));
        for (int64_t r = first; r < end; ++r)
          vector_code([](const RowFilter& row) PRIMSET_INLINE_LAMBDA { row(); },
                      RowFilter{&f, from + r * f.in, to + r * f.places, wide.data(), sums.data()});
      });
    }
    in_parallel(pool, rows * f.places, [&](int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i) {
        const int64_t r = i / f.places;
        vector_code([](const ColumnFilter& row) PRIMSET_INLINE_LAMBDA { row(); },
                    ColumnFilter{&f, i % f.places, width, from + r * f.in * width, to + i * width});
      }
    });
  }

  const primset_primitive_call& call_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_RESAMPLE_BYTES_H_
