#include "sdk/runtime/plugin/hazards.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace primset::plugin {
namespace {

constexpr uint32_t kRead = PRIMSET_ACCESS_READ, kWrite = PRIMSET_ACCESS_WRITE;

primset_buffer buffer(uintptr_t n) {
  return reinterpret_cast<primset_buffer>(n * 16);
}

primset_binding range(uintptr_t n, uint64_t begin, uint64_t end, uint32_t access) {
  return {buffer(n), begin, end - begin, access, 0};
}

using Bindings = std::vector<primset_binding>;

TEST(Hazards, DisjointRangesOverlapInTime) {
  HazardTracker tracker;
  EXPECT_EQ(tracker.flags_for(Bindings{range(1, 0, 64, kRead), range(1, 64, 128, kWrite)}),
            PRIMSET_LAUNCH_INDEPENDENT);
  EXPECT_EQ(tracker.flags_for(Bindings{range(1, 0, 64, kRead), range(1, 128, 192, kWrite)}),
            PRIMSET_LAUNCH_INDEPENDENT);
  EXPECT_EQ(tracker.flags_for(Bindings{range(2, 64, 128, kWrite)}), PRIMSET_LAUNCH_INDEPENDENT);
}

TEST(Hazards, EachKindWaits) {
  struct Case {
    uint32_t first, second;
    HazardTracker::Kind kind;
  };
  for (const Case& c : {Case{kWrite, kRead, HazardTracker::Kind::read_after_write},
                        Case{kRead, kWrite, HazardTracker::Kind::write_after_read},
                        Case{kWrite, kWrite, HazardTracker::Kind::write_after_write}}) {
    HazardTracker tracker;
    tracker.add(Bindings{range(1, 0, 64, c.first)});
    const Bindings second{range(1, 63, 128, c.second)};
    const auto conflict = tracker.conflict(second);
    ASSERT_TRUE(conflict.has_value());
    EXPECT_EQ(conflict->kind, c.kind) << name(conflict->kind);
    EXPECT_EQ(tracker.flags_for(second), 0u);
  }
}

TEST(Hazards, ReadsDoNotConflict) {
  HazardTracker tracker;
  tracker.add(Bindings{range(1, 0, 64, kRead)});
  EXPECT_EQ(tracker.flags_for(Bindings{range(1, 0, 64, kRead)}), PRIMSET_LAUNCH_INDEPENDENT);
}

TEST(Hazards, ALaunchThatWaitedIsStillInFlight) {
  HazardTracker tracker;
  tracker.add(Bindings{range(1, 0, 64, kWrite)});
  EXPECT_EQ(tracker.flags_for(Bindings{range(1, 0, 64, kRead), range(2, 0, 64, kWrite)}), 0u);
  // The write of buffer 1 is complete; the read of it and the write of buffer 2 are not.
  EXPECT_EQ(tracker.flags_for(Bindings{range(1, 0, 64, kRead)}), PRIMSET_LAUNCH_INDEPENDENT);
  EXPECT_EQ(tracker.flags_for(Bindings{range(2, 0, 64, kRead)}), 0u);
}

TEST(Hazards, CopiesAndSynchronisation) {
  HazardTracker tracker;
  tracker.restart(Bindings{range(1, 0, 64, kWrite)});
  EXPECT_EQ(tracker.flags_for(Bindings{range(2, 0, 64, kWrite)}), PRIMSET_LAUNCH_INDEPENDENT);
  EXPECT_EQ(tracker.flags_for(Bindings{range(1, 0, 64, kRead)}), 0u);
  tracker.clear();
  EXPECT_EQ(tracker.flags_for(Bindings{range(1, 0, 64, kWrite)}), PRIMSET_LAUNCH_INDEPENDENT);
}

TEST(Hazards, UnknownMemoryWaitsAndIsWaitedFor) {
  HazardTracker tracker;
  EXPECT_EQ(tracker.flags_for(Bindings{range(1, 0, 64, kWrite)}, false), 0u);
  EXPECT_EQ(tracker.flags_for(Bindings{range(2, 0, 64, kWrite)}), 0u);
  EXPECT_EQ(tracker.flags_for(Bindings{range(3, 0, 64, kWrite)}), PRIMSET_LAUNCH_INDEPENDENT);
}

TEST(Hazards, AFullTrackerWaits) {
  HazardTracker tracker;
  int waits = 0;
  for (uintptr_t i = 0; i < 1000; ++i)
    if (!(tracker.flags_for(Bindings{range(i + 1, 0, 64, kWrite)}) & PRIMSET_LAUNCH_INDEPENDENT))
      ++waits;
  EXPECT_GT(waits, 0);
  EXPECT_LT(waits, 100);
}

TEST(Hazards, EmptyBindingsAndMissingAccess) {
  HazardTracker tracker;
  tracker.add(Bindings{range(1, 8, 8, kWrite), range(2, 0, 8, 0)});
  EXPECT_FALSE(tracker.conflict(Bindings{range(1, 0, 64, kWrite)}));
  EXPECT_TRUE(tracker.conflict(Bindings{range(2, 0, 8, kRead)}));
}

// Against a model that remembers every byte since the last launch that waited.
TEST(Hazards, NeverMissesAConflict) {
  std::mt19937 random(7);
  auto below = [&](uint32_t n) { return random() % n; };
  HazardTracker tracker;
  std::vector<primset_binding> in_flight;
  for (int step = 0; step < 20000; ++step) {
    Bindings launch;
    for (uint32_t i = 0; i <= below(3); ++i) {
      const uint64_t begin = below(60);
      launch.push_back(range(1 + below(3), begin, begin + 1 + below(4), 1 + below(3)));
    }
    bool conflict = false;
    for (const auto& a : launch)
      for (const auto& b : in_flight)
        conflict |= a.buffer == b.buffer && a.offset < b.offset + b.size &&
                    b.offset < a.offset + a.size && ((a.access | b.access) & kWrite);
    const bool independent = tracker.flags_for(launch) & PRIMSET_LAUNCH_INDEPENDENT;
    ASSERT_FALSE(independent && conflict) << "step " << step;
    if (!independent) in_flight.clear();
    in_flight.insert(in_flight.end(), launch.begin(), launch.end());
  }
}

}  // namespace
}  // namespace primset::plugin
