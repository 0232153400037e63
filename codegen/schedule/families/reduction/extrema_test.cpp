// The greatest and least of rows where a device takes denormals for zeros in comparing numbers, and
// the places of the greatest and least.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"

namespace primset::schedule {
namespace {

constexpr int64_t kRows = 8;

kir::TargetModel flushing() {
  kir::TargetModel target = simt_model();
  target.group_threads = 256;
  target.max_group_threads = 1024;
  target.flush_denormals_f32 = true;
  return target;
}

// What the numbers of each row are drawn from.
std::vector<float> numbers_of_row(int64_t row) {
  using L = std::numeric_limits<float>;
  const float tiny = std::bit_cast<float>(0x00030000u), tinier = std::bit_cast<float>(0x00010000u);
  const float negative_nan = std::bit_cast<float>(0xffff0000u),
              least_nan = std::bit_cast<float>(0x7f810000u);
  switch (row) {
    case 0:
      return {-3.5F, 2.25F, 0, 17, -1024, -0.0F};
    case 1:
      return {-3.5F, -2.25F, -tiny, -17, -L::infinity()};
    case 2:
      return {tiny, tinier, -tiny, -tinier, 0, -0.0F};
    case 3:
      return {-tiny, -tinier};
    case 4:
      return {tiny, tinier, 1, L::infinity()};
    case 5:
      return {-1, 5, negative_nan};
    case 6:
      return {-1, -5, least_nan};
    default:
      return {-L::infinity()};
  }
}

float extremum(const std::vector<float>& row, bool maximum) {
  float best = row[0];
  for (float v : row) {
    if (std::isnan(v) || (!std::isnan(best) && (maximum ? best < v : v < best))) best = v;
  }
  return best;
}

std::vector<std::byte> bytes_of(const std::vector<float>& x, bool bf16) {
  std::vector<std::byte> out(x.size() * (bf16 ? 2 : 4));
  for (size_t i = 0; i < x.size(); ++i) {
    const auto bits = std::bit_cast<uint32_t>(x[i]);
    const auto high = static_cast<uint16_t>(bits >> 16);
    if (bf16)
      std::memcpy(&out[i * 2], &high, 2);
    else
      std::memcpy(&out[i * 4], &bits, 4);
  }
  return out;
}

float number_at(const std::vector<std::byte>& bytes, size_t i, bool bf16) {
  uint32_t bits = 0;
  if (bf16) {
    uint16_t high;
    std::memcpy(&high, &bytes[i * 2], 2);
    bits = uint32_t{high} << 16;
  } else {
    std::memcpy(&bits, &bytes[i * 4], 4);
  }
  return std::bit_cast<float>(bits);
}

struct ExtremumCase {
  int64_t length;
  bool bf16, maximum, columns;
};

std::string text_of(const ExtremumCase& c) {
  const std::string type = c.bf16 ? "bf16" : "f32";
  return "symbol s0 = " + std::to_string(c.columns ? c.length : kRows) +
         "\nsymbol s1 = " + std::to_string(c.columns ? kRows : c.length) + "\ngraph(%0 x: " + type +
         "[s0, s1]) {\n  %1: " + type + (c.columns ? "[s1]" : "[s0]") +
         (c.maximum ? " = reduce_max" : " = reduce_min") + "(%0) {dims = (" +
         (c.columns ? "0" : "1") + ")}\n  return %1 y\n}\n";
}

void check(const ExtremumCase& c) {
  std::mt19937_64 rng(static_cast<uint64_t>(c.length));
  const auto length = static_cast<size_t>(c.length);
  std::vector<float> x(kRows * length);
  std::vector<std::vector<float>> rows(kRows);
  for (size_t row = 0; row < kRows; ++row) {
    const std::vector<float> numbers = numbers_of_row(static_cast<int64_t>(row));
    for (size_t i = 0; i < length; ++i) {
      rows[row].push_back(numbers[rng() % numbers.size()]);
      x[c.columns ? i * kRows + row : row * length + i] = rows[row].back();
    }
  }
  const auto graph = std::make_shared<prims::Graph>(prims::parse(text_of(c)));
  ASSERT_TRUE(prims::verify(*graph).empty()) << prims::verify(*graph)[0];
  const kir::TargetModel target = flushing();
  const Program program = schedule(graph, target, row_major_options(*graph));
  const std::vector<int64_t> symbols{c.columns ? c.length : kRows, c.columns ? kRows : c.length};
  const auto got = run_program(program, target, {{{bytes_of(x, c.bf16)}}}, symbols).outputs[0];
  for (size_t row = 0; row < kRows; ++row) {
    const float expected = extremum(rows[row], c.maximum),
                found = number_at(got.bytes, row, c.bf16);
    const std::string where = text_of(c) + "row " + std::to_string(row);
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(found)) << found << " in " << where;
    else
      EXPECT_EQ(found, expected) << where;
  }
}

// Rows of a thread, of a small and of a large group, register-resident or not, and of several
// chunks.
TEST(Extrema, WhereComparisonsFlush) {
  for (int64_t length : {1, 7, 33, 700, 1032, 4096, 70000}) {
    for (int options = 0; options < 8; ++options) {
      check({length, (options & 1) != 0, (options & 2) != 0, (options & 4) != 0});
      if (HasFatalFailure()) return;
    }
  }
}

// The first of the best: a NaN, or of equal numbers the one in front.
int64_t place_of_extremum(const std::vector<float>& row, bool maximum) {
  const float best = extremum(row, maximum);
  const auto is_best = [&](float v) { return std::isnan(best) ? std::isnan(v) : v == best; };
  return std::ranges::find_if(row, is_best) - row.begin();
}

void check_places(int64_t length, bool bf16, bool maximum) {
  const std::string type = bf16 ? "bf16" : "f32", name = maximum ? "argmax" : "argmin";
  const auto graph = std::make_shared<prims::Graph>(prims::parse(
      "symbol s0 = 8\nsymbol s1 = " + std::to_string(length) + "\ngraph(%0 x: " + type +
      "[s0, s1]) {\n  %1: i64[s0] = " + name + "(%0) {dim = 1}\n  return %1 y\n}\n"));
  kir::TargetModel target = flushing();
  target.multiprocessors = 2;
  const Program program = schedule(graph, target, row_major_options(*graph));
  std::mt19937_64 rng(static_cast<uint64_t>(length));
  std::vector<float> x;
  std::vector<int64_t> want;
  for (int64_t r = 0; r < kRows; ++r) {
    const std::vector<float> numbers = numbers_of_row(r);
    std::vector<float> row(static_cast<size_t>(length));
    for (float& v : row) v = numbers[rng() % numbers.size()];
    x.insert(x.end(), row.begin(), row.end());
    want.push_back(place_of_extremum(row, maximum));
  }
  const auto got =
      run_program(program, target, {{{bytes_of(x, bf16)}}}, {kRows, length}).outputs[0];
  std::vector<int64_t> places(kRows);
  std::memcpy(places.data(), got.bytes.data(), kRows * sizeof(int64_t));
  EXPECT_EQ(places, want) << name << " of " << length;
}

TEST(Extrema, PlacesAreOfTheFirstOfTheBest) {
  for (int64_t length : {1, 7, 33, 1032, 70000}) {
    for (int options = 0; options < 4; ++options)
      check_places(length, (options & 1) != 0, (options & 2) != 0);
  }
}

// Comparisons of numbers are what it is about: with them such a device finds zeros equal to these.
TEST(Extrema, AreFoundWithoutComparisonsOfNumbers) {
  const auto compares = [](const kir::TargetModel& target) {
    const auto graph =
        std::make_shared<prims::Graph>(prims::parse(text_of({4096, false, true, false})));
    const Program program = schedule(graph, target, row_major_options(*graph));
    return std::ranges::count_if(program.kernels[0].insts, [](const kir::Inst& inst) {
      return inst.op == kir::Op::FLt || inst.op == kir::Op::FNe;
    });
  };
  kir::TargetModel keeping = flushing();
  keeping.flush_denormals_f32 = false;
  EXPECT_GT(compares(keeping), 0);
  EXPECT_EQ(compares(flushing()), 0);
}

}  // namespace
}  // namespace primset::schedule
