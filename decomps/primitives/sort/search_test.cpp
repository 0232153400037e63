// Searches, counts and distinct entries against plain loops.
#include <algorithm>
#include <map>

#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

using Numbers = std::vector<double>;

Result searched(const Array& sequence, const Array& values, bool right,
                const Array& sorter = absent()) {
  return run_derived(Prim::search_sorted, {sequence, values, sorter}, {{"right", right}});
}

TEST(SearchSorted, IsThatOfALinearSearch) {
  const Numbers values = {-1, 0, 1, 1.5, 2, 5, 6, kInf, -kInf};
  for (size_t size : {0, 1, 2, 3, 7, 8}) {
    Numbers sequence = {0, 1, 1, 2, 2, 2, 5, 5};
    sequence.resize(size);
    for (bool right : {false, true}) {
      std::vector<int64_t> want;
      for (double v : values)
        want.push_back(std::count_if(sequence.begin(), sequence.end(),
                                     [&](double s) { return right ? s <= v : s < v; }));
      expect_equal(
          searched(vector(DType::f32, sequence), vector(DType::f32, values), right).outputs[0],
          integers(DType::i64, want));
    }
  }
  expect_equal(searched(vector(DType::f32, {1, 2}), vector(DType::f32, {kNan}), false).outputs[0],
               integers(DType::i64, {2}));
}

TEST(SearchSorted, OfRowsAndThroughASorter) {
  const Array rows = array(DType::f64, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Array values = array(DType::f64, {2, 2}, {2, 9, 2, 5});
  Array want = integers(DType::i64, {1, 3, 0, 1});
  want.shape = {2, 2};
  expect_equal(searched(rows, values, false).outputs[0], want);
  expect_equal(searched(integers(DType::i32, {5, 1, 3}), integers(DType::i32, {3, 6, 0}), true,
                        integers(DType::i64, {1, 2, 0}))
                   .outputs[0],
               integers(DType::i64, {2, 3, 0}));
}

TEST(Bincount, OfIntegersAndWeights) {
  const Array x = integers(DType::i64, {3, 0, 3, 1});
  const std::vector<prims::Attr> attrs = {{"size", SymInt(5)}, {"in_bounds", false}};
  expect_equal(run_derived(Prim::bincount, {x, absent()}, attrs).outputs[0],
               integers(DType::i64, {1, 1, 0, 2, 0}));
  expect_near(run_derived(Prim::bincount, {x, vector(DType::f32, {1, 2, 4, 8})}, attrs).outputs[0],
              {5}, {2, 8, 0, 5, 0}, 0);
  const Result r = run_derived(Prim::bincount, {integers(DType::i64, {-1, 5, 2}), absent()}, attrs);
  expect_equal(r.outputs[0], integers(DType::i64, {0, 0, 1, 0, 0}));
  EXPECT_EQ(r.failures.size(), 1u);
}

TEST(Histogram, TheLastBinHasBothEdges) {
  const Array x = vector(DType::f32, {0, 1, 1, 1.9, 2, 3, -1, 3.1, kNan, 2.5});
  const Array edges = vector(DType::f32, {0, 1, 2, 3});
  expect_near(run_derived(Prim::histogram, {x, edges, absent()}).outputs[0], {3}, {1, 3, 3}, 0);
  const Array weights = vector(DType::f32, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512});
  expect_near(run_derived(Prim::histogram, {x, edges, weights}).outputs[0], {3}, {1, 14, 560}, 0);
}

// --- distinct entries ---

using Entry = std::vector<double>;

struct Distinct {
  std::vector<Entry> entries;
  std::vector<int64_t> inverse, counts;
};

// A plain map: in order, or by runs.
Distinct distinct(const std::vector<Entry>& rows, bool consecutive) {
  Distinct out;
  if (!consecutive) {
    std::map<Entry, int64_t> counts;
    for (const Entry& e : rows) ++counts[e];
    for (const auto& [entry, count] : counts) {
      out.entries.push_back(entry);
      out.counts.push_back(count);
    }
    for (const Entry& e : rows)
      out.inverse.push_back(std::distance(counts.begin(), counts.find(e)));
    return out;
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i] != rows[i - 1]) {
      out.entries.push_back(rows[i]);
      out.counts.push_back(0);
    }
    ++out.counts.back();
    out.inverse.push_back(static_cast<int64_t>(out.entries.size()) - 1);
  }
  return out;
}

void cut(Array& a, int64_t count) {
  const size_t width = a.shape[0] ? a.data.size() / static_cast<size_t>(a.shape[0]) : 0;
  a.shape[0] = count;
  a.data.resize(static_cast<size_t>(count) * width);
}

// As it is decomposed and as the reference has it, without what is behind the last entry.
Result found(Prim p, const Array& x) {
  const std::vector<prims::Attr> attrs = {{"return_inverse", true}, {"return_counts", true}};
  Result got = run_derived(p, {x}, attrs), want = prims::reference::run_prim(p, {x}, attrs);
  for (Result* r : {&got, &want})
    for (const size_t i : {0u, 2u}) cut(r->outputs[i], r->outputs[3].data[0].integer);
  for (size_t i = 0; i < got.outputs.size(); ++i) expect_equal(got.outputs[i], want.outputs[i]);
  return got;
}

TEST(Unique, IsThatOfAMap) {
  for (int64_t columns : {1, 2, 3, 5}) {
    for (bool consecutive : {false, true}) {
      SCOPED_TRACE(columns);
      std::vector<Entry> rows;
      Numbers flat;
      for (int64_t i = 0; i < 23; ++i) {
        Entry row;
        for (int64_t k = 0; k < columns; ++k)
          row.push_back(static_cast<double>((i / 2 * 7 + k * 5) % 4 % (k + 2) - 1));
        flat.insert(flat.end(), row.begin(), row.end());
        rows.push_back(row);
      }
      const Result r = found(consecutive ? Prim::unique_consecutive : Prim::unique,
                             array(DType::f32, {23, columns}, flat));
      const Distinct want = distinct(rows, consecutive);
      Numbers entries;
      for (const Entry& e : want.entries) entries.insert(entries.end(), e.begin(), e.end());
      const auto count = static_cast<int64_t>(want.entries.size());
      expect_equal(r.outputs[0], array(DType::f32, {count, columns}, entries));
      expect_equal(r.outputs[1], integers(DType::i64, want.inverse));
      expect_equal(r.outputs[2], integers(DType::i64, want.counts));
      EXPECT_EQ(r.outputs[3].data[0].integer, count);
    }
  }
}

TEST(Unique, NanIsEqualToNothingAndTheFirstZeroStands) {
  const Result r = found(Prim::unique, vector(DType::f32, {kNan, 0, -0.0, kNan, -1}));
  expect_equal(r.outputs[0], vector(DType::f32, {-1, 0, kNan, kNan}));
  EXPECT_FALSE(std::signbit(static_cast<double>(r.outputs[0].data[1].re)));
  expect_equal(r.outputs[1], integers(DType::i64, {2, 1, 1, 3, 0}));
  expect_equal(r.outputs[2], integers(DType::i64, {1, 2, 1, 1}));
}

TEST(Unique, OfNothing) {
  for (Prim p : {Prim::unique, Prim::unique_consecutive}) {
    const Result none = found(p, array(DType::i32, {0, 2}, {}));
    EXPECT_EQ(none.outputs[0].shape, (std::vector<int64_t>{0, 2}));
    EXPECT_EQ(none.outputs[3].data[0].integer, 0);
    const Result hollow = found(p, array(DType::f32, {3, 0}, {}));
    EXPECT_EQ(hollow.outputs[0].shape, (std::vector<int64_t>{1, 0}));
    expect_equal(hollow.outputs[2], integers(DType::i64, {3}));
  }
}

}  // namespace
}  // namespace primset::decomps
