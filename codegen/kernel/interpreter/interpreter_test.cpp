// Correct kernels give the right values, and each kind of bug is found and named.
#include "codegen/kernel/interpreter/testing/group_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "codegen/kernel/ir/builder.h"
#include "primset/error.h"

namespace primset::kir {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TargetModel gpu() {
  TargetModel t;
  t.format = Format::spirv_vulkan;
  t.simt = true;
  t.min_subgroup = 1;
  t.max_subgroup = 64;
  return t;
}

template <class T>
InterpreterBuffer uninitialized(std::vector<T>& data) {
  return {std::as_writable_bytes(std::span(data)), std::vector<bool>(data.size() * sizeof(T))};
}

// The message of the error that running the kernel ends in; empty when there is none.
std::string error_of(const Kernel& kernel, std::vector<InterpreterBuffer> buffers,
                     std::vector<uint64_t> scalars = {}, const InterpreterOptions& options = {}) {
  try {
    interpret(kernel, buffers, scalars, options);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::runtime);
    return e.what();
  }
  return "";
}

// A kernel over one i32 buffer "x" with `threads` threads, built by body(b, x, thread).
Kernel kernel_of(uint32_t threads, const std::function<void(Builder&, Value, Value)>& body) {
  Builder b("k", gpu());
  b.set_group_size(threads);
  Value x = b.pointer_param("x", true, true);
  body(b, x, b.local_id(0));
  return std::move(b).finish();
}

// --- values --------------------------------------------------------------------------------------

// Sums a group's elements by halves in workgroup memory.
Kernel tree_reduction(uint32_t threads) {
  Builder b("tree", gpu());
  b.set_group_size(threads);
  Value x = b.pointer_param("x", true, false), out = b.pointer_param("out", false, true);
  Value tid = b.local_id(0), group = b.group_id(0);
  Value scratch = b.group_alloc(Scalar::i32, threads);
  Value at = b.add(b.mul(group, b.i32(threads)), tid);
  b.store(scratch, tid, b.load(kI32, x, at, 4), 4);
  b.barrier();
  for (uint32_t half = threads / 2; half > 0; half /= 2) {
    b.if_then(b.slt(tid, b.i32(half)), [&] {
      Value sum =
          b.add(b.load(kI32, scratch, tid, 4), b.load(kI32, scratch, b.add(tid, b.i32(half)), 4));
      b.store(scratch, tid, sum, 4);
    });
    b.barrier();
  }
  b.if_then(b.ieq(tid, b.i32(0)),
            [&] { b.store(out, group, b.load(kI32, scratch, b.i32(0), 4), 4); });
  return std::move(b).finish();
}

TEST(Interpreter, ReducesInWorkgroupMemory) {
  std::vector<int32_t> x(4 * 64), out(4);
  std::iota(x.begin(), x.end(), -17);
  std::vector<InterpreterBuffer> buffers = {buffer(x), uninitialized(out)};
  InterpreterOptions options;
  options.groups = {4, 1, 1};
  interpret(tree_reduction(64), buffers, {}, options);
  for (size_t g = 0; g < 4; ++g) {
    EXPECT_EQ(out[g], std::accumulate(x.begin() + static_cast<long>(g) * 64,
                                      x.begin() + static_cast<long>(g + 1) * 64, 0));
  }
  EXPECT_EQ(buffers[1].initialized, std::vector<bool>(16, true));
}

// Each subgroup sums its lanes by shuffles as far as it is wide.
Kernel subgroup_reduction() {
  Builder b("subgroup", gpu());
  b.set_group_size(64);
  Value x = b.pointer_param("x", true, false), out = b.pointer_param("out", false, true);
  Value tid = b.local_id(0), sum = b.load(kI32, x, tid, 4);
  for (uint32_t mask = 1; mask < 64; mask *= 2) {
    Value wide_enough = b.ult(b.i32(mask), b.subgroup_size());
    sum = b.if_else(
        wide_enough, [&] { return Builder::Values{b.add(sum, b.subgroup_shuffle_xor(sum, mask))}; },
        [&] { return Builder::Values{sum}; })[0];
  }
  b.store(out, tid, sum, 4);
  return std::move(b).finish();
}

TEST(Interpreter, ReducesInSubgroupsOfEverySize) {
  for (uint32_t size : {1u, 8u, 32u, 64u}) {
    std::vector<int32_t> x(64), out(64);
    std::iota(x.begin(), x.end(), 1);
    std::vector<InterpreterBuffer> buffers = {buffer(x), uninitialized(out)};
    InterpreterOptions options;
    options.subgroup_size = size;
    interpret(subgroup_reduction(), buffers, {}, options);
    for (uint32_t t = 0; t < 64; ++t) {
      const auto first = static_cast<int>(t / size * size), n = static_cast<int>(size);
      EXPECT_EQ(out[t], n * (2 * first + n + 1) / 2) << "size " << size << " thread " << t;
    }
  }
}

// Each thread learns how many lanes of its subgroup before it hold an odd number, and that of the
// last such lane.
Kernel odd_lanes() {
  TargetModel target = gpu();
  target.max_subgroup = 64;
  target.subgroup_ballot = true;
  Builder b("odd", target);
  b.set_group_size(64);
  Value x = b.pointer_param("x", true, false), before = b.pointer_param("before", false, true),
        last = b.pointer_param("last", false, true);
  Value tid = b.local_id(0), lane = b.subgroup_lane(), own = b.load(kI32, x, tid, 4);
  Value odd = b.ine(b.and_(own, b.i32(1)), b.i32(0));
  Value count = b.i32(0), found = lane;
  for (uint32_t word = 0; word < 2; ++word) {
    Value lanes = b.subgroup_ballot(odd, word);
    for (uint32_t bit = 0; bit < 32; ++bit) {
      Value number = b.i32(word * 32 + bit);
      Value votes = b.ine(b.and_(lanes, b.i32(int64_t{1} << bit)), b.i32(0));
      found = b.select(votes, number, found);
    }
    Value from = b.i32(word * 32);
    Value whole = b.sle(b.add(from, b.i32(32)), lane);
    Value own_word = b.and_(b.sle(from, lane), b.not_(whole));
    Value shift = b.select(own_word, b.sub(lane, from), b.i32(0));
    Value below = b.sub(b.shl(b.i32(1), shift), b.i32(1));
    Value counted = b.and_(lanes, b.select(whole, b.i32(-1), below));
    count = b.add(count, b.popcount(counted));
  }
  b.store(before, tid, count, 4);
  b.store(last, tid, b.subgroup_shuffle(own, found), 4);
  return std::move(b).finish();
}

TEST(Interpreter, BallotsAndShufflesInSubgroupsOfEverySize) {
  std::vector<int32_t> x(64);
  for (size_t i = 0; i < 64; ++i) x[i] = static_cast<int32_t>(i * i * 7 / 5);
  for (uint32_t size : {1u, 8u, 32u, 64u}) {
    std::vector<int32_t> before(64), last(64);
    std::vector<InterpreterBuffer> buffers = {buffer(x), uninitialized(before),
                                              uninitialized(last)};
    InterpreterOptions options;
    options.subgroup_size = size;
    interpret(odd_lanes(), buffers, {}, options);
    for (uint32_t t = 0; t < 64; ++t) {
      const auto first = x.begin() + t / size * size;
      const auto is_odd = [](int32_t v) { return (v & 1) != 0; };
      EXPECT_EQ(before[t], std::count_if(first, x.begin() + t, is_odd)) << size << " " << t;
      int32_t expected = x[t];
      for (auto v = first; v != first + size; ++v) expected = is_odd(*v) ? *v : expected;
      EXPECT_EQ(last[t], expected) << size << " " << t;
    }
  }
}

// Carried values swap each round: Fibonacci numbers, by for and by while.
TEST(Interpreter, LoopsCarryValues) {
  Builder b("fibonacci", gpu());
  Value out = b.pointer_param("out", false, true), n = b.scalar_param("n", kI32);
  auto for_pair = b.for_loop(
      b.i32(0), n, b.i32(1), {b.i64(0), b.i64(1)},
      [&](Value, std::span<const Value> c) { return Builder::Values{c[1], b.add(c[0], c[1])}; });
  auto while_state = b.while_loop(
      {b.i64(0), b.i64(1), n}, [&](std::span<const Value> c) { return b.slt(b.i32(0), c[2]); },
      [&](std::span<const Value> c) {
        return Builder::Values{c[1], b.add(c[0], c[1]), b.sub(c[2], b.i32(1))};
      });
  b.store(out, b.i32(0), for_pair[0], 8);
  b.store(out, b.i32(1), while_state[0], 8);
  const Kernel kernel = std::move(b).finish();
  for (auto [count, expected] : {std::pair{0u, 0}, {1u, 1}, {10u, 55}, {50u, -1}}) {
    std::vector<int64_t> result(2);
    std::vector<InterpreterBuffer> buffers = {buffer(result)};
    const uint64_t scalars[] = {count};
    interpret(kernel, buffers, scalars, {});
    EXPECT_EQ(result[0], expected < 0 ? 12586269025 : expected);
    EXPECT_EQ(result[1], result[0]);
  }
}

TEST(Interpreter, VectorsMasksAndShuffles) {
  Builder b("vectors", gpu());
  Value x = b.pointer_param("x", true, false), out = b.pointer_param("out", false, true);
  const Type v4 = {Scalar::i32, 4};
  Value v = b.load(v4, x, b.i32(0), 4);
  Value reversed = b.shuffle(v, v, {3, 2, 1, 0});
  Value mask = b.slt(b.lane_iota(v4), b.constant(v4, 3));
  b.masked_store(out, b.i32(0), reversed, mask, 4);
  Value gathered =
      b.gather(v4, x, b.mul(b.lane_iota(v4), b.constant(v4, 2)), mask, b.constant(v4, -1), 4);
  b.store(out, b.i32(4), gathered, 4);
  // Equal indices: the highest lane wins.
  b.scatter(out, b.constant(v4, 8), v, b.constant_bits({Scalar::i1, 4}, 1), 4);
  std::vector<int32_t> in = {10, 11, 12, 13, 14, 15}, result(9, 7);
  std::vector<InterpreterBuffer> buffers = {buffer(in), buffer(result)};
  interpret(std::move(b).finish(), buffers, {}, {});
  EXPECT_EQ(result, (std::vector<int32_t>{13, 12, 11, 7, 10, 12, 14, -1, 13}));
}

TEST(Interpreter, AtomicsCountAcrossGroups) {
  Builder b("atomics", gpu());
  b.set_group_size(32);
  Value x = b.pointer_param("x", true, true);
  b.atomic_rmw(Rmw::add, x, b.i32(0), b.i32(1), 4);
  b.atomic_rmw(Rmw::max_s, x, b.i32(1), b.local_id(0), 4);
  Value old = b.atomic_cas(x, b.i32(2), b.i32(5), b.i32(9), 4);
  b.atomic_cas(x, b.i32(3), b.add(old, b.i32(1)), b.i32(8), 4);
  std::vector<int32_t> data = {0, -3, 5, 0};
  std::vector<InterpreterBuffer> buffers = {buffer(data)};
  InterpreterOptions options;
  options.groups = {3, 2, 1};
  interpret(std::move(b).finish(), buffers, {}, options);
  EXPECT_EQ(data, (std::vector<int32_t>{192, 31, 9, 0}));
}

TEST(Interpreter, ReachesBuffersByAddress) {
  Builder b("table", gpu());
  Value table = b.pointer_param("table", true, false);
  Value p = b.int_to_ptr(b.load(kI64, table, b.i32(0), 8));
  p = b.int_to_ptr(b.add(b.ptr_to_int(p), b.i64(2)));
  b.store(b.ptr_add(p, b.i64(2)), b.i32(0), b.i32(77), 4);
  const Kernel kernel = std::move(b).finish();
  std::vector<int32_t> data(2);
  std::vector<int64_t> addresses = {std::bit_cast<int64_t>(data.data())};
  EXPECT_EQ(error_of(kernel, {buffer(addresses), buffer(data)}), "");
  EXPECT_EQ(data[1], 77);
  EXPECT_THAT(error_of(kernel, {buffer(addresses)}), HasSubstr("is in no buffer"));
}

TEST(Interpreter, LowWordsOfAddressesAreTheSameWithoutI64) {
  std::vector<int32_t> data(2);
  for (const bool i64 : {true, false}) {
    TargetModel target = gpu();
    target.i64 = i64;
    Builder b("low_word", target);
    Value p = b.pointer_param("p", true, true);
    b.store(p, b.i32(i64 ? 0 : 1), b.address_low_word(p), 4);
    EXPECT_EQ(error_of(std::move(b).finish(), {buffer(data)}), "");
  }
  EXPECT_EQ(data[0], static_cast<int32_t>(std::bit_cast<intptr_t>(data.data())));
  EXPECT_EQ(data[1], data[0]);
}

// An address says nothing of the buffer whose end it is, too.
TEST(Interpreter, ReachesBuffersThatBeginWhereOthersEnd) {
  Builder b("table", gpu());
  Value table = b.pointer_param("table", true, false);
  b.store(b.int_to_ptr(b.load(kI64, table, b.i32(0), 8)), b.i32(0), b.i32(77), 4);
  const Kernel kernel = std::move(b).finish();
  std::vector<int32_t> data(4);
  const auto half = [&](size_t i) {
    return InterpreterBuffer{std::as_writable_bytes(std::span(data).subspan(2 * i, 2)), {}};
  };
  std::vector<int64_t> addresses = {std::bit_cast<int64_t>(data.data() + 2)};
  EXPECT_EQ(error_of(kernel, {buffer(addresses), half(0), half(1)}), "");
  EXPECT_EQ(data[2], 77);
}

TEST(Interpreter, UnfusedFmaRoundsTwice) {
  Builder b("fma", gpu());
  Value out = b.pointer_param("out", true, true);
  Value x = b.load(kF32, out, b.i32(0), 4);
  b.store(out, b.i32(1), b.fma(x, x, b.constant_f(kF32, -1.0)), 4);
  const Kernel kernel = std::move(b).finish();
  const float x1 = 1 + 0x1p-12f;
  for (bool fused : {true, false}) {
    std::vector<float> data = {x1, 0};
    InterpreterOptions options;
    options.fused_fma = fused;
    EXPECT_EQ(error_of(kernel, {buffer(data)}, {}, options), "");
    EXPECT_EQ(data[1], fused ? 0x1p-11f + 0x1p-24f : 0x1p-11f);
  }
}

// --- bugs ----------------------------------------------------------------------------------------

TEST(InterpreterFinds, AccessesOutOfBounds) {
  std::vector<int32_t> x(32);
  const Kernel kernel =
      kernel_of(64, [](Builder& b, Value p, Value tid) { b.store(p, tid, b.i32(1), 4); });
  EXPECT_THAT(error_of(kernel, {buffer(x)}),
              AllOf(HasSubstr("kernel 'k', group (0, 0, 0), thread (32, 0, 0)"),
                    HasSubstr("out of bounds: writes 4 bytes at offset 128 of buffer 'x' (128"),
                    HasSubstr("(index 32)"), HasSubstr("store")));
  const Kernel before = kernel_of(1, [](Builder& b, Value p, Value) {
    b.store(p, b.i32(0), b.load(kI32, p, b.i32(-1), 4), 4);
  });
  EXPECT_THAT(error_of(before, {buffer(x)}),
              HasSubstr("out of bounds: reads 4 bytes at offset -4"));
}

// Masked lanes touch nothing.
TEST(InterpreterFinds, OnlyActiveLanesOutOfBounds) {
  const Type v4 = {Scalar::i32, 4};
  for (int64_t active : {-1, 2, 3}) {
    const Kernel kernel = kernel_of(1, [&](Builder& b, Value p, Value) {
      Value mask = b.active_lane_mask(b.i64(active), 4);
      b.masked_store(p, b.i32(0), b.constant(v4, 5), mask, 4);
    });
    std::vector<int32_t> x(2);
    EXPECT_EQ(error_of(kernel, {buffer(x)}).empty(), active <= 2);
  }
}

TEST(InterpreterFinds, MisalignedAccesses) {
  const Kernel kernel = kernel_of(1, [](Builder& b, Value p, Value) {
    b.store(b.ptr_add(p, b.i64(2)), b.i32(0), b.i32(1), 4);
  });
  std::vector<int32_t> x(4);
  EXPECT_THAT(error_of(kernel, {buffer(x)}), HasSubstr("misaligned: writes 4 bytes at offset 2"));
  const Kernel vector = kernel_of(1, [](Builder& b, Value p, Value) {
    b.store(p, b.i32(1), b.constant({Scalar::i32, 4}, 1), 16);
  });
  std::vector<int32_t> y(64);
  EXPECT_THAT(error_of(vector, {buffer(y)}), HasSubstr("is not a multiple of 16 as promised"));
}

TEST(InterpreterFinds, UninitialisedReads) {
  const Kernel global = kernel_of(
      1, [](Builder& b, Value p, Value) { b.store(p, b.i32(0), b.load(kI32, p, b.i32(1), 4), 4); });
  std::vector<int32_t> x(4);
  EXPECT_THAT(error_of(global, {uninitialized(x)}),
              HasSubstr("uninitialised: reads 1 byte at offset 4 of buffer 'x'"));
  EXPECT_EQ(error_of(global, {buffer(x)}), "");
  const Kernel group = kernel_of(2, [](Builder& b, Value p, Value tid) {
    Value scratch = b.group_alloc(Scalar::i32, 4);
    b.store(scratch, tid, tid, 4);
    b.barrier();
    b.store(p, tid, b.load(kI32, scratch, b.add(tid, b.i32(1)), 4), 4);
  });
  EXPECT_THAT(error_of(group, {buffer(x)}), HasSubstr("uninitialised: reads 1 byte at offset 8 of "
                                                      "group array"));
  const Kernel own = kernel_of(1, [](Builder& b, Value p, Value) {
    Value scratch = b.private_alloc(Scalar::i32, 4);
    b.store(p, b.i32(0), b.load(kI32, scratch, b.i32(3), 4), 4);
  });
  EXPECT_THAT(error_of(own, {buffer(x)}), HasSubstr("of private array"));
}

TEST(InterpreterFinds, RacesWithinAGroup) {
  // Without the barrier, a neighbour's element is read while it may be written.
  for (bool synchronised : {false, true}) {
    const Kernel kernel = kernel_of(4, [&](Builder& b, Value p, Value tid) {
      Value scratch = b.group_alloc(Scalar::i32, 4);
      b.store(scratch, tid, tid, 4);
      if (synchronised) b.barrier();
      b.store(p, tid, b.load(kI32, scratch, b.xor_(tid, b.i32(1)), 4), 4);
    });
    std::vector<int32_t> x(4);
    const std::string error = error_of(kernel, {buffer(x)});
    if (synchronised) {
      EXPECT_EQ(error, "");
      EXPECT_EQ(x, (std::vector<int32_t>{1, 0, 3, 2}));
    } else {
      EXPECT_THAT(error, testing::AnyOf(HasSubstr("data race"), HasSubstr("uninitialised")));
    }
  }
  const Kernel same_place =
      kernel_of(4, [](Builder& b, Value p, Value tid) { b.store(p, b.i32(0), tid, 4); });
  std::vector<int32_t> x(1);
  EXPECT_THAT(error_of(same_place, {buffer(x)}),
              AllOf(HasSubstr("thread (1, 0, 0)"),
                    HasSubstr("data race: writes 1 byte at offset 0 of buffer 'x'"),
                    HasSubstr("which thread 0 of group 0 wrote")));
  InterpreterOptions unchecked;
  unchecked.check_races = false;
  EXPECT_EQ(error_of(same_place, {buffer(x)}, {}, unchecked), "");
}

// A read by one thread and a later write by another, in one epoch.
TEST(InterpreterFinds, WritesAfterReads) {
  const Kernel kernel = kernel_of(2, [](Builder& b, Value p, Value tid) {
    Value v = b.load(kI32, p, b.i32(0), 4);
    b.if_then(b.ieq(tid, b.i32(1)), [&] { b.store(p, b.i32(0), b.add(v, b.i32(1)), 4); });
  });
  std::vector<int32_t> x(1);
  EXPECT_THAT(error_of(kernel, {buffer(x)}), HasSubstr("and others read with no barrier"));
}

// A barrier orders workgroup memory alone; what was read before it may be overwritten behind it.
TEST(InterpreterFinds, RacesInBuffersInSpiteOfBarriers) {
  for (bool written : {false, true}) {
    const Kernel kernel = kernel_of(2, [&](Builder& b, Value p, Value tid) {
      const Value other = b.xor_(tid, b.i32(1));
      if (written) b.store(p, tid, tid, 4);
      const Value before = b.load(kI32, p, tid, 4);
      b.barrier();
      b.store(p, other, written ? b.load(kI32, p, other, 4) : before, 4);
    });
    std::vector<int32_t> x{7, 8};
    const std::string error = error_of(kernel, {buffer(x)});
    if (written) {
      EXPECT_THAT(error, HasSubstr("of group 0 wrote; no barrier orders that"));
    } else {
      EXPECT_EQ(error, "");
      EXPECT_EQ(x, (std::vector<int32_t>{8, 7}));
    }
  }
}

TEST(InterpreterFinds, RacesBetweenGroupsInSpiteOfBarriers) {
  const Kernel kernel = kernel_of(1, [](Builder& b, Value p, Value) {
    b.if_then(b.ieq(b.group_id(0), b.i32(0)), [&] { b.store(p, b.i32(0), b.i32(1), 4); });
    b.barrier();
    b.if_then(b.ieq(b.group_id(0), b.i32(1)),
              [&] { b.store(p, b.i32(1), b.load(kI32, p, b.i32(0), 4), 4); });
  });
  std::vector<int32_t> x(2);
  InterpreterOptions options;
  options.groups = {2, 1, 1};
  EXPECT_THAT(error_of(kernel, {buffer(x)}, {}, options),
              AllOf(HasSubstr("data race"), HasSubstr("group (1, 0, 0)")));
}

// Atomics may meet each other, but not a plain access.
TEST(InterpreterFinds, PlainAccessesBesideAtomics) {
  const Kernel kernel = kernel_of(2, [](Builder& b, Value p, Value tid) {
    b.atomic_rmw(Rmw::add, p, b.i32(0), tid, 4);
    b.store(p, b.add(tid, b.i32(1)), b.load(kI32, p, b.i32(0), 4), 4);
  });
  std::vector<int32_t> x(3);
  EXPECT_THAT(error_of(kernel, {buffer(x)}), HasSubstr("data race: updates"));
}

TEST(InterpreterFinds, RacesThroughOverlappingBuffers) {
  Builder b("alias", gpu());
  b.set_group_size(2);
  Value p = b.pointer_param("p", true, false), q = b.pointer_param("q", false, true);
  Value tid = b.local_id(0);
  b.store(q, tid, b.load(kI32, p, b.sub(b.i32(1), tid), 4), 4);
  std::vector<int32_t> x(2);
  EXPECT_THAT(error_of(std::move(b).finish(), {buffer(x), buffer(x)}), HasSubstr("data race"));
}

TEST(InterpreterFinds, DivergentBarriers) {
  std::vector<int32_t> x(8);
  const Kernel some = kernel_of(4, [](Builder& b, Value p, Value tid) {
    b.if_then(b.slt(tid, b.i32(2)), [&] { b.barrier(); });
    b.store(p, tid, tid, 4);
  });
  EXPECT_THAT(error_of(some, {buffer(x)}),
              AllOf(HasSubstr("divergent barrier: thread (2, 0, 0) finished without it"),
                    HasSubstr("barrier")));
  // Both meet a barrier of the same loop, but in different rounds.
  const Kernel rounds = kernel_of(2, [](Builder& b, Value, Value tid) {
    b.for_loop(b.i32(0), b.i32(2), b.i32(1), {}, [&](Value i, std::span<const Value>) {
      b.if_then(b.ieq(i, tid), [&] { b.barrier(); });
      return Builder::Values{};
    });
  });
  EXPECT_THAT(error_of(rounds, {buffer(x)}),
              HasSubstr("waits at another, or in another iteration"));
}

TEST(InterpreterFinds, ShufflesWithLanesThatAreElsewhere) {
  std::vector<int32_t> x(8);
  const Kernel divergent = kernel_of(4, [](Builder& b, Value p, Value tid) {
    b.if_then(b.slt(tid, b.i32(1)), [&] { b.store(p, tid, b.subgroup_shuffle_xor(tid, 1), 4); });
  });
  EXPECT_THAT(error_of(divergent, {buffer(x)}),
              HasSubstr("reads a subgroup lane that does not run"));
  // Two lanes of a subgroup of eight, whose partners do not exist.
  const Kernel partial = kernel_of(2, [](Builder& b, Value p, Value tid) {
    b.store(p, tid, b.subgroup_shuffle_xor(tid, 4), 4);
  });
  EXPECT_THAT(error_of(partial, {buffer(x)}), HasSubstr("reads a subgroup lane that does not run"));
}

TEST(InterpreterFinds, TrapsAndEndlessLoops) {
  std::vector<int32_t> x = {1, 0};
  const Kernel division = kernel_of(1, [](Builder& b, Value p, Value) {
    b.store(p, b.i32(0), b.sdiv(b.load(kI32, p, b.i32(0), 4), b.load(kI32, p, b.i32(1), 4)), 4);
  });
  EXPECT_THAT(error_of(division, {buffer(x)}),
              AllOf(HasSubstr("division by zero"), HasSubstr("sdiv")));
  const Kernel endless = kernel_of(1, [](Builder& b, Value p, Value) {
    b.while_loop(
        {b.i32(1)}, [&](std::span<const Value> c) { return b.ine(c[0], b.i32(0)); },
        [&](std::span<const Value> c) {
          return Builder::Values{b.add(c[0], b.load(kI32, p, b.i32(1), 4))};
        });
  });
  InterpreterOptions options;
  options.max_steps = 10000;
  EXPECT_THAT(error_of(endless, {buffer(x)}, {}, options), HasSubstr("does this loop end?"));
}

TEST(InterpreterFinds, WrongArguments) {
  const Kernel kernel =
      kernel_of(1, [](Builder& b, Value p, Value) { b.store(p, b.i32(0), b.i32(1), 4); });
  std::vector<int32_t> x(1);
  EXPECT_THAT(error_of(kernel, {}), HasSubstr("0 buffers given; expected at least 1"));
  EXPECT_THAT(error_of(kernel, {buffer(x)}, {5}), HasSubstr("1 scalars given; expected 0"));
  InterpreterOptions options;
  options.subgroup_size = 65;
  EXPECT_THAT(error_of(kernel, {buffer(x)}, {}, options), HasSubstr("subgroup size 65"));
}

}  // namespace
}  // namespace primset::kir
