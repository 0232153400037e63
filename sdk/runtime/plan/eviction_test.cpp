// Plans and kernels are bounded, on the current device: what is dropped is made again, and what
// runs meanwhile is not disturbed.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "primset/graph.h"
#include "primset/invoke.h"
#include "primset/options.h"
#include "primset/statistics.h"
#include "primset/stream.h"

namespace primset {
namespace {

using Dims = std::vector<int64_t>;

class Eviction : public ::testing::Test {
 protected:
  void TearDown() override { set_options(before_); }
  void limit(uint64_t plans, uint64_t kernels) const {
    Options o = before_;
    o.max_plans = plans;
    o.max_kernels = kernels;
    set_options(o);
  }

  const Options before_ = options();
};

const Dims kSizes{2, 3, 4, 5};

Tensor counted() {
  std::vector<float> values(2 * 3 * 4 * 5);
  std::iota(values.begin(), values.end(), 0.0f);
  return Tensor::of<float>(std::span<const float>(values), kSizes);
}

// Each permutation is a plan of its own, and so is what copies its result.
std::vector<Dims> permutations() {
  std::vector<Dims> all;
  Dims dims(kSizes.size());
  std::iota(dims.begin(), dims.end(), 0);
  do all.push_back(dims);
  while (std::ranges::next_permutation(dims).found);
  return all;
}

// Rows of dims `d` in the order of their own, made by the host.
std::vector<float> permuted(const Dims& d) {
  const Dims strides{60, 20, 5, 1};
  std::vector<float> out;
  for (int64_t i = 0; i < kSizes[static_cast<size_t>(d[0])]; ++i)
    for (int64_t j = 0; j < kSizes[static_cast<size_t>(d[1])]; ++j)
      for (int64_t k = 0; k < kSizes[static_cast<size_t>(d[2])]; ++k)
        for (int64_t l = 0; l < kSizes[static_cast<size_t>(d[3])]; ++l)
          out.push_back(static_cast<float>(
              i * strides[static_cast<size_t>(d[0])] + j * strides[static_cast<size_t>(d[1])] +
              k * strides[static_cast<size_t>(d[2])] + l * strides[static_cast<size_t>(d[3])]));
  return out;
}

std::vector<float> permute_and_add(const Tensor& x, const Dims& dims) {
  const Tensor view = invoke("permute", {x, dims})[0].tensor();
  const Tensor sum = invoke("add.Tensor", {view, view})[0].tensor();
  const Tensor dense =
      invoke("clone", {sum}, {{"memory_format", MemoryFormat::contiguous}})[0].tensor();
  return dense.to_vector<float>();
}

void expect_permuted(const std::vector<float>& got, const Dims& dims) {
  std::vector<float> want = permuted(dims);
  for (float& v : want) v *= 2;
  EXPECT_EQ(got, want);
}

TEST_F(Eviction, CallsWithEverNewStructureStayBelowTheLimits) {
  limit(24, 12);
  const Tensor x = counted();
  const Statistics before = statistics();
  for (int round = 0; round < 3; ++round) {
    for (const Dims& dims : permutations()) {
      expect_permuted(permute_and_add(x, dims), dims);
      EXPECT_LE(statistics().plans_cached, 24u);
    }
  }
  const Statistics after = statistics();
  EXPECT_GT(after.plans_evicted, before.plans_evicted);
  EXPECT_GT(after.kernels_evicted, before.kernels_evicted);
  // A plan of these has one kernel at most.
  EXPECT_LE(after.kernels_cached, 24u + 12u);
}

TEST_F(Eviction, WhatIsUsedAgainAndAgainStays) {
  limit(24, 12);
  const Tensor x = counted();
  const auto all = permutations();
  permute_and_add(x, all[0]);
  for (size_t i = 1; i < all.size(); ++i) {
    permute_and_add(x, all[i]);
    const uint64_t made = statistics().plans;
    expect_permuted(permute_and_add(x, all[0]), all[0]);
    EXPECT_EQ(statistics().plans, made) << "after permutation " << i;
  }
}

TEST_F(Eviction, AGraphIsCapturedAgain) {
  limit(1, 1);
  int captures = 0;
  const Graph graph = Graph::capture({counted()}, [&](std::span<const Tensor> in) {
    ++captures;
    return std::vector<Tensor>{invoke("add.Tensor", {in[0], 1})[0].tensor()};
  });
  const Tensor row = Tensor::of<float>({1, 2, 3}, {3});
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(graph.run({row})[0].to_vector<float>(), (std::vector<float>{2, 3, 4}));
    EXPECT_EQ(graph.run({counted()})[0].to_vector<float>()[7], 8.0f);
  }
  EXPECT_EQ(captures, 7);
  const uint64_t cached = statistics().plans_cached;
  {
    const Graph other = Graph::capture({row}, [](std::span<const Tensor> in) {
      return std::vector<Tensor>{invoke("mul.Tensor", {in[0], 2})[0].tensor()};
    });
    EXPECT_EQ(statistics().plans_cached, cached + 1);
  }
  EXPECT_EQ(statistics().plans_cached, cached);
}

TEST_F(Eviction, CallsThatFailLeaveNothing) {
  limit(4, 4);
  const Tensor x = counted();
  for (int64_t i = 0; i < 50; ++i) EXPECT_THROW(invoke("sum.dim_IntList", {x, Dims{4 + i}}), Error);
  expect_permuted(permute_and_add(x, {3, 2, 1, 0}), {3, 2, 1, 0});
}

// Plans and kernels go while other threads look them up, run them, and have launches of them on
// their way.
TEST_F(Eviction, ThreadsAreNotDisturbed) {
  limit(4, 2);
  const Tensor x = counted();
  synchronize();
  const auto all = permutations();
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < all.size(); ++i) {
        const Dims& dims = all[(i * (2 * t + 1)) % all.size()];
        expect_permuted(permute_and_add(x, dims), dims);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_LE(statistics().plans_cached, 4u);
}

}  // namespace
}  // namespace primset
