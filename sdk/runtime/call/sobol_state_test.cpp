// Direction numbers of Sobol sequences, with those that torch._sobol_engine_initialize_state_
// gives.
#include <gtest/gtest.h>

#include "primset/invoke.h"

namespace primset {
namespace {

using Longs = std::vector<int64_t>;

Longs initialized(int64_t rows, int64_t dims, int64_t before) {
  const Longs numbers(static_cast<size_t>(rows) * 30, before);
  const Tensor state = Tensor::of(std::span<const int64_t>(numbers), {rows, 30});
  invoke("_sobol_engine_initialize_state_", {state, dims});
  return state.to_vector<int64_t>();
}

Longs row(const Longs& state, size_t i, size_t count) {
  const auto first = state.begin() + static_cast<std::ptrdiff_t>(i * 30);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

TEST(SobolState, HasTheNumbersOfJoeAndKuo) {
  const Longs state = initialized(21201, 21201, 0);
  EXPECT_EQ(row(state, 0, 3), (Longs{536870912, 268435456, 134217728}));
  EXPECT_EQ(row(state, 2, 6),
            (Longs{536870912, 805306368, 402653184, 603979776, 973078528, 385875968}));
  EXPECT_EQ(row(state, 1000, 6),
            (Longs{536870912, 805306368, 134217728, 1006632960, 436207616, 721420288}));
  EXPECT_EQ(row(state, 21200, 30),
            (Longs{536870912, 268435456,  939524096, 738197504, 503316480, 117440512,
                   310378496, 1002438656, 706740224, 256901120, 816316416, 964952064,
                   964296704, 631701504,  896761856, 440221696, 938827776, 353554432,
                   459831296, 184552448,  478153216, 79693056,  346033280, 714081856,
                   495453536, 609487440,  840041592, 906168668, 56201214,  254952011}));
}

TEST(SobolState, ShiftsRowsThatAreNoDims) {
  const Longs state = initialized(3, 0, 3);
  EXPECT_EQ(row(state, 0, 2), (Longs{536870912, 268435456}));
  EXPECT_EQ(row(state, 2, 2), (Longs{3 * 536870912L, 3 * 268435456L}));
}

TEST(SobolState, KnowsNoMoreDims) {
  EXPECT_THROW(initialized(3, 4, 0), Error);
  EXPECT_THROW(initialized(21202, 21202, 0), Error);
}

}  // namespace
}  // namespace primset
