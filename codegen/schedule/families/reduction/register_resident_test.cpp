// Rows that a workgroup of a SIMT device reads once, into registers, and variances as sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"

namespace primset::schedule {
namespace {

kir::TargetModel large_groups() {
  kir::TargetModel target = simt_model();
  target.fused_fma = true;
  target.group_threads = 256;
  target.max_group_threads = 1024;
  return target;
}

// Whose subgroups combine by exchanges.
kir::TargetModel with_exchanges() {
  kir::TargetModel target = large_groups();
  target.min_subgroup = target.max_subgroup = 32;
  target.subgroup_ballot = target.rounds_bf16 = true;
  return target;
}

std::shared_ptr<prims::Graph> graph_of(const std::string& text) {
  auto graph = std::make_shared<prims::Graph>(prims::parse(text));
  EXPECT_TRUE(prims::verify(*graph).empty()) << prims::verify(*graph)[0];
  return graph;
}

std::string softmax_text(const std::string& type, int64_t n, int64_t rows = 12) {
  return "symbol s0 = " + std::to_string(rows) + " min 2\nsymbol s1 = " + std::to_string(n) +
         " min 2\ngraph(%0 x: " + type +
         R"([s0, s1]) {
  %1: f32[s0, s1] = convert(%0) {dtype = f32}
  %2: f32[s0] = reduce_max(%1) {dims = (1)}
  %3: f32[s0, s1] = broadcast_in_dim(%2) {shape = [s0, s1], dims = (0)}
  %4: f32[s0, s1] = sub(%1, %3)
  %5: f32[s0, s1] = exp(%4)
  %6: f32[s0] = reduce_sum(%5) {dims = (1)}
  %7: f32[s0, s1] = broadcast_in_dim(%6) {shape = [s0, s1], dims = (0)}
  %8: f32[s0, s1] = div(%5, %7)
  %9: )" +
         type + "[s0, s1] = convert(%8) {dtype = " + type + "}\n  return %9 y\n}\n";
}

// Vector loads of the input outside of loops over the row.
size_t held_loads(const Program& program) {
  size_t count = 0;
  for (const kir::Inst& inst : program.kernels[0].insts) {
    const bool wide =
        inst.op == kir::Op::Load && program.kernels[0].type(inst.results[0]).lanes == 8;
    count += wide ? 1 : 0;
  }
  return count;
}

// Lengths that a row's vectors fill, or not; of one iteration and of several.
TEST(HeldRows, Softmax) {
  for (const char* type : {"bf16", "f32"}) {
    for (int64_t n : {1032, 2048, 2056, 3000, 4101, 8192}) {
      const auto graph = graph_of(softmax_text(type, n));
      const Options options = row_major_options(*graph);
      const Program program = schedule(graph, large_groups(), options);
      for (int64_t shift : {0, 1}) {
        check_program(*graph, program, options, large_groups(), {12, n},
                      {std::string(type) + " " + std::to_string(n), 0, false, shift});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Rows of large and of small groups, of numbers and of truth values.
TEST(HeldRows, ExchangesInSubgroups) {
  for (int64_t n : {40, 700, 1032, 4101}) {
    for (const std::string& text : {softmax_text("bf16", n), "symbol s0 = 12 min 2\nsymbol s1 = " +
                                                                 std::to_string(n) + R"( min 2
graph(%0 x: bool[s0, s1], %1 y: f64[s0, s1], %2 z: i16[s0, s1]) {
  %3: bool[s0] = reduce_and(%0) {dims = (1)}
  %4: f64[s0] = reduce_sum(%1) {dims = (1)}
  %5: i16[s0] = reduce_max(%2) {dims = (1)}
  return %3 a, %4 b, %5 c
}
)"}) {
      const auto graph = graph_of(text);
      const Options options = row_major_options(*graph);
      const Program program = schedule(graph, with_exchanges(), options);
      const auto exchanges =
          std::ranges::count(program.kernels[0].insts, kir::Op::SubgroupShuffleXor, &kir::Inst::op);
      EXPECT_GE(exchanges, 5);
      check_program(*graph, program, options, with_exchanges(), {12, n}, {std::to_string(n)});
      if (HasFatalFailure()) return;
    }
  }
}

// The loops over the row have one vector load a walk; a register-resident row one an iteration.
TEST(HeldRows, AreReadOnce) {
  const auto loads = [](int64_t n) {
    const auto graph = graph_of(softmax_text("bf16", n));
    return held_loads(schedule(graph, large_groups(), row_major_options(*graph)));
  };
  EXPECT_EQ(loads(2048), 3u + 1u);
  EXPECT_EQ(loads(4096), 3u + 2u);
  EXPECT_EQ(loads(8192), 3u + 4u);
  EXPECT_EQ(loads(8200), 3u);
}

// What is read, and only where a cache cannot hold it anyway.
TEST(HeldRows, ManyAreKeptInCaches) {
  const auto kept = [](int64_t rows, bool policies) {
    kir::TargetModel target = large_groups();
    target.cache_policies = policies;
    const auto graph = graph_of(softmax_text("bf16", 4096, rows));
    const Program program = schedule(graph, target, row_major_options(*graph));
    int count = 0;
    for (const kir::Param& p : program.kernels[0].params) {
      if (p.evict_last) EXPECT_TRUE(p.read && !p.written) << p.name;
      count += p.evict_last;
    }
    return std::pair(count, graph->context().guards().size());
  };
  EXPECT_EQ(kept(8192, true).first, 0);
  EXPECT_EQ(kept(8193, true).first, 1);
  EXPECT_EQ(kept(8193, false).first, 0);
  EXPECT_EQ(kept(8193, true).second, kept(8193, false).second + 1);
}

// Memory that lies elsewhere does not change the order of additions.
TEST(HeldRows, SumAsLoopsDo) {
  const int64_t n = 6000;
  const auto graph = graph_of(softmax_text("f32", n));
  const Options options = row_major_options(*graph);
  const Program program = schedule(graph, large_groups(), options);
  std::mt19937_64 rng(graph->value_count());
  std::vector<float> x(static_cast<size_t>(12 * n));
  for (float& v : x) v = static_cast<float>(rng() % 4001) / 256 - 8;
  std::vector<std::byte> bytes(x.size() * 4);
  std::memcpy(bytes.data(), x.data(), bytes.size());
  const auto run = [&](int64_t shift) {
    return run_program(program, large_groups(), {{{bytes}}}, {12, n}, {.shift = shift})
        .outputs[0]
        .bytes;
  };
  EXPECT_EQ(run(0), run(1));
}

struct Moments {
  std::vector<float> variance, mean;
};

Moments var_mean(const std::vector<float>& x, int64_t rows, int64_t n, double correction) {
  const std::string size = std::to_string(n);
  const auto graph = graph_of("symbol s0 = " + std::to_string(rows) + "\nsymbol s1 = " + size +
                              "\ngraph(%0 x: f32[s0, s1]) {\n  %1: f32[s0], %2: f32[s0] = "
                              "var_mean(%0) {dims = (1), correction = #" +
                              std::to_string(correction) + "}\n  return %1 v, %2 m\n}\n");
  EXPECT_TRUE(is_legal_derived(*graph, graph->body.nodes[0], large_groups()));
  const Program program = schedule(graph, large_groups(), row_major_options(*graph));
  EXPECT_GT(std::ranges::count(program.kernels[0].insts, kir::Op::Fma, &kir::Inst::op), 0);
  std::vector<std::byte> bytes(x.size() * 4);
  std::memcpy(bytes.data(), x.data(), bytes.size());
  const RunnerResult got = run_program(program, large_groups(), {{{bytes}}}, {rows, n});
  Moments out;
  for (auto [to, from] : {std::pair(&out.variance, 0), std::pair(&out.mean, 1)}) {
    to->resize(static_cast<size_t>(rows));
    std::memcpy(to->data(), got.outputs[static_cast<size_t>(from)].bytes.data(), to->size() * 4);
  }
  return out;
}

// Also far from zero, where a difference of squares would have no correct digit.
TEST(VarianceAsSums, IsThatOfDoubles) {
  for (int64_t n : {2, 33, 700, 1024, 5000}) {
    for (double offset : {0.0, 1e4}) {
      std::mt19937_64 rng(static_cast<uint64_t>(n));
      std::vector<float> x(static_cast<size_t>(2 * n));
      for (float& v : x) v = static_cast<float>(offset + static_cast<double>(rng() % 1001) / 500);
      const Moments got = var_mean(x, 2, n, 1);
      for (size_t row = 0; row < 2; ++row) {
        double mean = 0, squares = 0;
        const auto first = x.begin() + static_cast<std::ptrdiff_t>(row) * n;
        for (auto v = first; v != first + n; ++v) mean += *v;
        mean /= static_cast<double>(n);
        for (auto v = first; v != first + n; ++v) squares += (*v - mean) * (*v - mean);
        const double variance = squares / static_cast<double>(n - 1);
        EXPECT_NEAR(got.mean[row], mean, std::abs(mean) * 2e-7 + 1e-7) << n;
        EXPECT_NEAR(got.variance[row], variance, variance * 2e-6) << n << " " << offset;
      }
    }
  }
}

TEST(VarianceAsSums, OfSpecialNumbers) {
  const float infinity = std::numeric_limits<float>::infinity();
  // No sum overflows that a mean does not.
  Moments m = var_mean(std::vector<float>(80, 3e38F), 2, 40, 0);
  EXPECT_FLOAT_EQ(m.mean[0], 3e38F);
  std::vector<float> x(80, 1);
  x[3] = infinity, x[45] = std::nanf("");
  m = var_mean(x, 2, 40, 0);
  EXPECT_EQ(m.mean[0], infinity);
  EXPECT_TRUE(std::isnan(m.mean[1]));
  EXPECT_TRUE(std::isnan(m.variance[0]));
  EXPECT_TRUE(std::isnan(m.variance[1]));
  // As many corrections as elements.
  m = var_mean({5, 5}, 2, 1, 1);
  EXPECT_TRUE(std::isnan(m.variance[0]));
  EXPECT_EQ(m.mean[0], 5);
}

}  // namespace
}  // namespace primset::schedule
