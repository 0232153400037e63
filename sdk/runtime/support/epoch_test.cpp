#include "sdk/runtime/support/epoch.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace primset::runtime {
namespace {

TEST(Epoch, WhatNobodyReadsIsUnreachableAtOnce) {
  RetireList list;
  list.retire(std::make_shared<int>(1));
  list.retire(std::make_shared<int>(2));
  EXPECT_EQ(list.take_unreachable().size(), 2u);
  EXPECT_TRUE(list.take_unreachable().empty());
}

TEST(Epoch, AReaderInsideHoldsWhatIsRetiredMeanwhile) {
  RetireList list;
  {
    const EpochReader reader;
    list.retire(std::make_shared<int>(1));
    EXPECT_TRUE(list.take_unreachable().empty());
    EXPECT_TRUE(list.take_unreachable().empty());
  }
  EXPECT_EQ(list.take_unreachable().size(), 1u);
}

TEST(Epoch, AHazardPointerHoldsItsObjectForLonger) {
  RetireList list;
  const auto object = std::make_shared<int>(1), other = std::make_shared<int>(2);
  HazardPointer hazard;
  {
    const EpochReader reader;
    hazard = HazardPointer(reader, object.get());
  }
  list.retire(object, object.get());
  list.retire(other, other.get());
  EXPECT_EQ(list.take_unreachable(), (std::vector<RetireList::Object>{other}));
  const HazardPointer moved = std::move(hazard);
  EXPECT_TRUE(list.take_unreachable().empty());
  HazardPointer last = HazardPointer();
  EXPECT_FALSE(last);
}

TEST(Epoch, AThreadHasFewHazardPointers) {
  const int object = 1;
  const EpochReader reader;
  std::vector<HazardPointer> all;
  do all.emplace_back(reader, &object);
  while (all.back());
  EXPECT_EQ(all.size(), reader.record().hazards.size() + 1);
  all.clear();
  EXPECT_TRUE(HazardPointer(reader, &object));
}

TEST(Epoch, AReaderThatCameLaterHoldsNothingOfBefore) {
  RetireList first, second;
  std::array<std::atomic<int>, 2> step{};
  std::thread other;
  {
    const EpochReader early;
    first.retire(std::make_shared<int>(1));
    EXPECT_TRUE(first.take_unreachable().empty());
    other = std::thread([&] {
      const EpochReader late;
      step[0] = 1;
      step[0].notify_one();
      step[1].wait(0);
    });
    step[0].wait(0);
  }
  EXPECT_EQ(first.take_unreachable().size(), 1u);
  second.retire(std::make_shared<int>(2));
  EXPECT_TRUE(second.take_unreachable().empty());
  step[1] = 1;
  step[1].notify_one();
  other.join();
  EXPECT_EQ(second.take_unreachable().size(), 1u);
}

// The links of a list of one element are replaced while others read it; what they read is whole.
TEST(Epoch, ReadersMeetWholeObjects) {
  struct Pair {
    int a, b;
  };
  std::atomic<const Pair*> link{nullptr};
  auto newest = std::make_shared<const Pair>(Pair{0, 0});
  link = newest.get();
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!stop) {
        const EpochReader reader;
        const Pair* p = link.load();
        ASSERT_EQ(p->b, 2 * p->a);
      }
    });
  }
  RetireList list;
  for (int i = 1; i < 20000; ++i) {
    auto next = std::make_shared<const Pair>(Pair{i, 2 * i});
    link.store(next.get());
    list.retire(std::exchange(newest, std::move(next)));
    list.take_unreachable();
  }
  stop = true;
  for (std::thread& t : readers) t.join();
}

}  // namespace
}  // namespace primset::runtime
