// Selections against a plain sort of each row.
#include <algorithm>
#include <cmath>
#include <random>

#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

using Row = std::vector<double>;

Result top_k(const Array& x, int64_t k, bool largest) {
  return run_derived(
      Prim::top_k, {x},
      {{"k", SymInt(k)}, {"dim", int64_t{0}}, {"largest", largest}, {"sorted", true}});
}

TEST(TopK, TakesTheFirstOfEqualElementsAndNanAsTheGreatest) {
  const Array x = vector(DType::f32, {1, 3, kNan, 3, -2, 1});
  Result r = top_k(x, 4, true);
  expect_equal(r.outputs[0], vector(DType::f32, {kNan, 3, 3, 1}));
  expect_equal(r.outputs[1], integers(DType::i64, {2, 1, 3, 0}));
  r = top_k(x, 3, false);
  expect_equal(r.outputs[0], vector(DType::f32, {-2, 1, 1}));
  expect_equal(r.outputs[1], integers(DType::i64, {4, 0, 5}));
  EXPECT_TRUE(top_k(x, 0, true).outputs[0].data.empty());
}

// --- a plain implementation ---

struct Chosen {
  double value;
  int64_t index;
};

Row in_order(Row row) {
  std::sort(row.begin(), row.end(),
            [](double a, double b) { return !std::isnan(a) && (std::isnan(b) || a < b); });
  return row;
}

Chosen first_equal(const Row& row, double value) {
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i] == value || (std::isnan(row[i]) && std::isnan(value)))
      return {row[i], static_cast<int64_t>(i)};
  }
  return {value, -1};
}

Chosen kth(const Row& row, size_t k) {
  return first_equal(row, in_order(row)[k - 1]);
}

Chosen plain_median(const Row& row, bool ignore_nan) {
  const auto numbers = static_cast<size_t>(
      std::count_if(row.begin(), row.end(), [](double v) { return !std::isnan(v); }));
  const bool usable = ignore_nan ? numbers > 0 : numbers == row.size();
  return kth(row, usable ? (numbers + 1) / 2 : row.size());
}

Chosen plain_mode(const Row& row) {
  Chosen best{kNan, -1};
  int64_t most = 0;
  for (double v : in_order(row)) {
    const auto count = static_cast<int64_t>(std::count(row.begin(), row.end(), v));
    if (count <= most) continue;
    most = count;
    best.value = v;
  }
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i] == best.value) best.index = static_cast<int64_t>(i);
  }
  return best;
}

// --- rows of every dtype ---

Array array_of(DType t, const Row& row) {
  if (!is_integral(t) && !is_bool(t)) return vector(t, row);
  return integers(t, std::vector<int64_t>(row.begin(), row.end()));
}

double value_of(const Array& a) {
  return is_floating(a.dtype) ? prims::reference::plain(a.dtype, a.data[0])
                              : static_cast<double>(a.data[0].integer);
}

void expect_chosen(const Result& got, const Chosen& want) {
  ASSERT_TRUE(got.failures.empty());
  EXPECT_EQ(ulps(DType::f64, value_of(got.outputs[0]), want.value), 0) << want.value;
  EXPECT_EQ(got.outputs[1].data[0].integer, want.index);
}

std::vector<Row> rows_of(DType t, std::mt19937& random) {
  const bool bits = is_bool(t), floating = is_floating(t);
  std::vector<Row> rows;
  for (size_t size : {1, 2, 3, 10, 37}) {
    Row row;
    const int low = is_unsigned_integer(t) || bits ? 0 : -4, high = bits ? 1 : 5;
    for (size_t i = 0; i < size; ++i)
      row.push_back(std::uniform_int_distribution(low, high)(random));
    rows.push_back(row);
    if (!floating) continue;
    for (double& v : row) v = v == 2 ? kNan : v == 3 ? -kInf : v * 1.5;
    rows.push_back(row);
    rows.emplace_back(size, kNan);
  }
  return rows;
}

constexpr DType kTypes[] = {DType::boolean, DType::u8,  DType::i8,  DType::i16, DType::u32,
                            DType::i64,     DType::u64, DType::f16, DType::f32, DType::f64};

TEST(KthValue, IsThatOfAPlainSort) {
  std::mt19937 random(1);
  for (DType t : kTypes) {
    SCOPED_TRACE(name(t));
    for (const Row& row : rows_of(t, random)) {
      for (size_t k : {size_t{1}, row.size() / 2 + 1, row.size()})
        expect_chosen(run_derived(Prim::kth_value, {array_of(t, row)},
                                  {{"k", SymInt(static_cast<int64_t>(k))}, {"dim", int64_t{0}}}),
                      kth(row, k));
    }
  }
}

TEST(KthValue, TellsExtremesOfIntegersApart) {
  const std::vector<int64_t> values = {std::numeric_limits<int64_t>::max(), -1, 0,
                                       std::numeric_limits<int64_t>::min(), 1};
  const std::vector<int64_t> order = {3, 1, 2, 4, 0};
  for (int64_t k = 1; k <= 5; ++k) {
    const Result r = run_derived(Prim::kth_value, {integers(DType::i64, values)},
                                 {{"k", SymInt(k)}, {"dim", int64_t{0}}});
    EXPECT_EQ(r.outputs[1].data[0].integer, order[static_cast<size_t>(k - 1)]);
  }
}

TEST(Median, IsThatOfAPlainSort) {
  std::mt19937 random(2);
  for (DType t : kTypes) {
    SCOPED_TRACE(name(t));
    for (const Row& row : rows_of(t, random)) {
      for (bool ignore_nan : {false, true})
        expect_chosen(run_derived(Prim::median, {array_of(t, row)},
                                  {{"dim", int64_t{0}}, {"ignore_nan", ignore_nan}}),
                      plain_median(row, ignore_nan));
    }
  }
}

TEST(Mode, IsTheSmallestOfTheMostFrequent) {
  std::mt19937 random(3);
  for (DType t : kTypes) {
    SCOPED_TRACE(name(t));
    for (const Row& row : rows_of(t, random)) {
      if (std::all_of(row.begin(), row.end(), [](double v) { return std::isnan(v); })) continue;
      expect_chosen(run_derived(Prim::mode, {array_of(t, row)}, {{"dim", int64_t{0}}}),
                    plain_mode(row));
    }
  }
}

TEST(Median, OfColumns) {
  const Array x = array(DType::f32, {3, 2}, {3, 1, 2, 9, 5, 4});
  const Result r = run_derived(Prim::median, {x}, {{"dim", int64_t{0}}, {"ignore_nan", false}});
  expect_equal(r.outputs[0], vector(DType::f32, {3, 4}));
  expect_equal(r.outputs[1], integers(DType::i64, {0, 2}));
}

}  // namespace
}  // namespace primset::decomps
