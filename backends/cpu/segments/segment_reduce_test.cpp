// Reductions of segments of any length, with one column or some, by several threads, against
// elements one by one.
#include "backends/cpu/segments/segment_reduce.h"

#include <gtest/gtest.h>

#include <cmath>

namespace primset_cpu {
namespace {

constexpr int64_t kRows = 300;

// A segment of nothing, some short ones, a long one, and one whose end is beyond all rows.
const std::vector<int64_t> kOffsets = {2, 2, 3, 19, 35, 40, 250, 400};

template <typename Reduction>
std::vector<double> found(std::vector<double> x, int64_t columns) {
  ThreadPool pool(3);
  std::vector<int64_t> offsets = kOffsets;
  const auto bounds = static_cast<int64_t>(offsets.size()), segments = bounds - 1;
  std::vector<double> out(static_cast<size_t>(segments * columns));
  primset_buffer_t buffers[3] = {};
  const int64_t sizes[] = {kRows, columns}, to_sizes[] = {segments, columns};
  const int64_t strides[] = {columns, 1}, one = 1;
  const auto tensor = [&](size_t i, void* data, uint32_t rank, const int64_t* sizes,
                          const int64_t* strides, uint32_t dtype) {
    buffers[i].address = static_cast<char*>(data);
    return primset_tensor{sizeof(primset_tensor), dtype, &buffers[i], 0, rank, 0, sizes, strides};
  };
  const primset_tensor operands[] = {tensor(0, x.data(), 2, sizes, strides, PRIMSET_F64),
                                     tensor(1, offsets.data(), 1, &bounds, &one, PRIMSET_I64)};
  const primset_tensor result = tensor(2, out.data(), 2, to_sizes, strides, PRIMSET_F64);
  primset_primitive_call call{};
  call.operands = operands, call.results = &result;
  SegmentReduceCall<double, Reduction>(call).run(pool);
  return out;
}

// Of small integers, whose sums are the same in any order, and one NaN.
std::vector<double> elements(int64_t columns) {
  std::vector<double> x(static_cast<size_t>(kRows * columns));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * 37 % 11) - 4;
  x[static_cast<size_t>(21 * columns)] = std::nan("");
  return x;
}

template <typename Reduction>
void expect_reduced(int64_t columns) {
  const std::vector<double> x = elements(columns), got = found<Reduction>(x, columns);
  for (size_t s = 0; s + 1 < kOffsets.size(); ++s) {
    for (int64_t c = 0; c < columns; ++c) {
      double want = Reduction::kNeutral;
      for (int64_t r = kOffsets[s]; r < std::min(kOffsets[s + 1], kRows); ++r)
        want = Reduction::combined(want, x[static_cast<size_t>(r * columns + c)]);
      const double y = got[s * static_cast<size_t>(columns) + static_cast<size_t>(c)];
      EXPECT_TRUE(y == want || (std::isnan(y) && std::isnan(want)))
          << y << ", not " << want << " of segment " << s << ", column " << c << " of " << columns;
    }
  }
}

TEST(SegmentReduce, OfOneColumnAndOfSome) {
  for (const int64_t columns : {1, 3, 200}) {
    expect_reduced<SumOfSegment>(columns);
    expect_reduced<GreatestOfSegment>(columns);
    expect_reduced<LeastOfSegment>(columns);
  }
}

TEST(SegmentReduce, ProductsOfNothingAreOne) {
  EXPECT_EQ(found<ProductOfSegment>(elements(1), 1)[0], 1);
}

}  // namespace
}  // namespace primset_cpu
