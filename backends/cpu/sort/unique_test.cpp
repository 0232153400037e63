// Distinct elements of vectors, those of several parts and threads too, against runs of a list that
// std::sort puts in order.
#include "backends/cpu/sort/unique.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <random>

namespace primset_cpu {
namespace {

// The bits of elements, so that -0 is not 0.
template <typename U>
struct Distinct {
  std::vector<U> entries;
  std::vector<int64_t> inverse, counts;
};

template <typename U, KeyKind kKind, typename Number>
Distinct<U> expected(const std::vector<U>& x, bool sorted, const Number& number) {
  std::vector<size_t> order(x.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto before = [&](size_t i, size_t j) {
    const auto a = number(x[i]), b = number(x[j]);
    if (a < b || (a == a && b != b)) return true;  // NaN is behind all others
    return !(b < a || (b == b && a != a)) && i < j;
  };
  if (sorted) std::ranges::sort(order, before);
  Distinct<U> out;
  out.inverse.resize(x.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !(number(x[order[i]]) == number(x[order[i - 1]]))) {
      out.entries.push_back(x[order[i]]);
      out.counts.push_back(0);
    }
    ++out.counts.back();
    out.inverse[order[i]] = static_cast<int64_t>(out.entries.size()) - 1;
  }
  return out;
}

// `asked`: bit 0 for the inverse, bit 1 for counts.
template <typename U, KeyKind kKind>
Distinct<U> found(const std::vector<U>& x, bool sorted, U infinity, int asked, int64_t stride) {
  ThreadPool pool(3);
  const auto size = static_cast<int64_t>(x.size());
  std::vector<U> spread(x.size() * static_cast<size_t>(stride), U{77}), entries(x.size());
  for (size_t i = 0; i < x.size(); ++i) spread[i * static_cast<size_t>(stride)] = x[i];
  std::vector<int64_t> inverse(x.size()), counts(x.size()), count(1);
  primset_buffer_t buffers[5] = {};
  const auto tensor = [&](size_t i, auto& data, const int64_t* strides) {
    buffers[i].address = reinterpret_cast<char*>(data.data());
    return primset_tensor{sizeof(primset_tensor), 0, &buffers[i], 0, 1, 0, &size, strides};
  };
  const int64_t one = 1;
  const primset_tensor operand = tensor(0, spread, &stride);
  const primset_tensor results[] = {tensor(1, entries, &one), tensor(2, inverse, &one),
                                    tensor(3, counts, &one), tensor(4, count, &one)};
  primset_attr attrs[2] = {{"return_inverse", PRIMSET_ATTR_INT, 1, {}},
                           {"return_counts", PRIMSET_ATTR_INT, 1, {}}};
  attrs[0].value.i = asked & 1, attrs[1].value.i = asked >> 1;
  primset_primitive_call call{};
  call.operands = &operand, call.results = results;
  call.attrs = attrs, call.attr_count = 2;
  UniqueCall<U, kKind>(call, infinity).run(pool, sorted);
  entries.resize(static_cast<size_t>(count[0])), counts.resize(static_cast<size_t>(count[0]));
  return {entries, inverse, counts};
}

template <typename U, KeyKind kKind, typename Number>
void expect_distinct(const std::vector<U>& x, U infinity, const Number& number) {
  for (const bool sorted : {false, true}) {
    const Distinct<U> want = expected<U, kKind>(x, sorted, number);
    for (const int asked : {0, 1, 2, 3}) {
      const int64_t stride = asked == 1 ? 3 : 1;
      SCOPED_TRACE(testing::Message() << x.size() << " of " << sizeof(U) << " bytes, sorted "
                                      << sorted << ", asked " << asked);
      const Distinct<U> got = found<U, kKind>(x, sorted, infinity, asked, stride);
      EXPECT_TRUE(got.entries == want.entries);
      if (asked & 1) EXPECT_TRUE(got.inverse == want.inverse);
      if (asked & 2) EXPECT_TRUE(got.counts == want.counts);
    }
  }
}

constexpr int64_t kSizes[] = {0, 1, 2, 4096, 4097, 40000};

template <typename U, KeyKind kKind>
void expect_distinct_integers() {
  using Number = std::conditional_t<kKind == KeyKind::signed_integer, std::make_signed_t<U>, U>;
  std::mt19937_64 random(7);
  for (const int64_t size : kSizes) {
    for (const uint64_t limit : {uint64_t{3}, uint64_t{50000}, UINT64_MAX}) {
      std::vector<U> x(static_cast<size_t>(size));
      for (U& e : x) e = static_cast<U>(random() % limit - limit / 2);
      expect_distinct<U, kKind>(x, 0, [](U e) { return static_cast<Number>(e); });
      std::ranges::sort(x);  // long runs
      expect_distinct<U, kKind>(x, 0, [](U e) { return static_cast<Number>(e); });
    }
  }
}

TEST(CpuUnique, OfIntegersAsOfAList) {
  expect_distinct_integers<uint8_t, KeyKind::unsigned_integer>();
  expect_distinct_integers<uint8_t, KeyKind::signed_integer>();
  expect_distinct_integers<uint32_t, KeyKind::signed_integer>();
  expect_distinct_integers<uint64_t, KeyKind::signed_integer>();
}

TEST(CpuUnique, OfFloatsTheFirstZeroStandsAndNanIsEqualToNothing) {
  std::mt19937 random(7);
  const float some[] = {-1, -0.0F, 0, 3, std::nanf(""), INFINITY};
  for (const int64_t size : kSizes) {
    for (const uint32_t kinds : {4u, 6u, 100000u}) {
      std::vector<uint32_t> x(static_cast<size_t>(size));
      for (uint32_t& e : x) {
        const uint32_t r = static_cast<uint32_t>(random()) % kinds;
        e = std::bit_cast<uint32_t>(r < 6 ? some[r] : static_cast<float>(r) / 7);
      }
      expect_distinct<uint32_t, KeyKind::floating>(
          x, 0x7f800000, [](uint32_t e) { return std::bit_cast<float>(e); });
    }
  }
}

}  // namespace
}  // namespace primset_cpu
