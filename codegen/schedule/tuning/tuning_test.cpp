#include "codegen/schedule/tuning/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "codegen/schedule/tuning/contraction_tiles.h"
#include "codegen/schedule/tuning/cost_model.h"
#include "codegen/schedule/tuning/machine.h"
#include "primset/error.h"

namespace primset::schedule {
namespace {

using testing::HasSubstr;

kir::TargetModel gpu(uint32_t multiprocessors) {
  kir::TargetModel t;
  t.simt = true;
  t.multiprocessors = multiprocessors;
  return t;
}

std::string message_of(std::string_view overrides) {
  Tuning tuning{kir::TargetModel()};
  try {
    tuning.set(overrides);
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Tuning, FollowsTheKindOfDevice) {
  EXPECT_EQ(Tuning(gpu(132)).sort.run, 8);
  EXPECT_EQ(Tuning(kir::TargetModel()).sort.run, 32);
}

TEST(Tuning, IsOverriddenByName) {
  Tuning tuning(gpu(132));
  tuning.set("reduction.thread_row=64,,sort.run=16,");
  EXPECT_EQ(tuning.reduction.thread_row, 64);
  EXPECT_EQ(tuning.sort.run, 16);
  EXPECT_EQ(tuning.reduction.short_row, Tuning(gpu(132)).reduction.short_row);
}

TEST(Tuning, BadOverridesSayWhatIsExpectedAndChangeNothing) {
  EXPECT_THAT(message_of("thread_row=3"), HasSubstr("family.name=value"));
  EXPECT_THAT(message_of("reduction.thread_row"), HasSubstr("family.name=value"));
  EXPECT_THAT(message_of("reduction.row=3"), HasSubstr("reduction.thread_row"));
  EXPECT_THAT(message_of("reductions.row=3"), HasSubstr("sort.run"));
  for (const char* value : {"", "x", "3x", "0", "-1", "4294967296", "99999999999999999999"})
    EXPECT_THAT(message_of(std::string("reduction.thread_row=") + value),
                HasSubstr("an integer from 1 to 2^31"));
  EXPECT_THAT(message_of("sort.run=12"), HasSubstr("a power of two"));
  EXPECT_EQ(message_of("sort.radix_row=-1"), "accepted");
  EXPECT_EQ(message_of("fusion.recompute_percent=0"), "accepted");
  Tuning tuning(gpu(132));
  EXPECT_THROW(tuning.set("sort.run=16,sort.run=12"), Error);
  EXPECT_EQ(tuning.sort.run, 8);
}

TEST(Tuning, EveryParameterHasAName) {
  std::set<std::string> names;
  for (const Tuning::Parameter& p : Tuning(gpu(132)).parameters()) {
    EXPECT_TRUE(names.insert(std::string(p.family) + "." + std::string(p.name)).second);
    EXPECT_FALSE(p.text.empty());
    Tuning again(gpu(132));
    EXPECT_NO_THROW(again.set(std::string(p.family) + "." + std::string(p.name) + "=" +
                              std::to_string(p.value)));
  }
}

TEST(CostModel, WaitsForTheSlowestPartAndForIdleProcessors) {
  const Rates rates(gpu(100));
  const double launch = rates.seconds({});
  EXPECT_DOUBLE_EQ(launch, rates.seconds_per_launch);
  EXPECT_DOUBLE_EQ(rates.seconds({rates.bytes_per_second, 1, 0}), 1);
  EXPECT_DOUBLE_EQ(rates.seconds({1, rates.operations_per_second, 0}), 1);
  EXPECT_DOUBLE_EQ(rates.seconds({rates.bytes_per_second, 0, 0, rates.busy_threads / 4}), 4);
  EXPECT_DOUBLE_EQ(rates.seconds({rates.bytes_per_second, 0, 0, rates.busy_threads * 4}), 1);
  const Cost both = Cost{1, 2, 1, 64} + Cost{10, 20, 2, 32};
  EXPECT_EQ(both.bytes, 11);
  EXPECT_EQ(both.operations, 22);
  EXPECT_EQ(both.launches, 3);
  EXPECT_EQ(both.threads, 32);
}

TEST(CostModel, FindsWhereTheOrderTurns) {
  const Rates rates(gpu(100));
  const auto linear = [](double size) { return Cost{size * 100, 0, 1}; };
  const auto flat = [](double) { return Cost{100 * 1000.5, 0, 1}; };
  EXPECT_EQ(crossover(rates, linear, flat), 1001);
  const auto dearer = [](double size) { return Cost{size * 200, 0, 1}; };
  EXPECT_EQ(crossover(rates, dearer, linear), 1);
  EXPECT_EQ(crossover(rates, flat, flat), int64_t{1} << 40);
}

TEST(ContractionTilings, GetSmallerWithTheResult) {
  const Machine machine(gpu(132));
  for (const TileKind kind : {TileKind::async_matrix, TileKind::async_scalar,
                              TileKind::group_matrix, TileKind::cooperative}) {
    ASSERT_FALSE(contraction_tilings(kind).empty());
    int64_t before = 0;
    for (int64_t side = 64; side <= 16384; side *= 2) {
      const ContractionTiling& t = choose_tiling(kind, side * side, 4096, machine);
      EXPECT_EQ(t.kind, kind);
      const int64_t elements = int64_t{t.shape.rows} * t.shape.columns;
      EXPECT_GE(elements, before);
      before = elements;
    }
  }
}

}  // namespace
}  // namespace primset::schedule
