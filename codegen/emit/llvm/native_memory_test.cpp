// Memory, vectors, control flow and launches, run as native code.
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/emit/llvm/testing/native_runner.h"
#include "codegen/kernel/ir/builder.h"

namespace primset::emit {
namespace {

using kir::Builder;
using kir::kF32;
using kir::kI32;
using kir::kI64;
using kir::Rmw;
using kir::Scalar;
using kir::Type;
using kir::Value;
using testing::ElementsAre;

constexpr uint16_t kLanes[] = {1, 4, 16};

std::vector<int32_t> iota(size_t n, int32_t from = 0) {
  std::vector<int32_t> v(n);
  std::iota(v.begin(), v.end(), from);
  return v;
}

// --- launches ------------------------------------------------------------------------------------

TEST(NativeLaunchTest, RunsTheGroupsItIsGiven) {
  Builder b("k", native_model());
  const Value out = b.pointer_param("out", false, true);
  b.store(out, b.group_id(0), b.add(b.mul(b.group_count(0), b.i32(100)), b.group_id(0)), 4);
  const NativeRunner k(std::move(b).finish());
  std::vector<int32_t> v(8, -1);
  k.run({v.data()}, {}, 2, 5, 7);
  EXPECT_THAT(v, ElementsAre(-1, -1, 702, 703, 704, -1, -1, -1));
  k.run({v.data()}, {}, 5, 5, 7);
  EXPECT_EQ(v[5], -1);
}

TEST(NativeLaunchTest, OneThreadIsAWholeGroup) {
  Builder b("k", native_model());
  const Value out = b.pointer_param("out", false, true);
  b.store(out, b.i32(0), b.local_id(0), 4);
  b.store(out, b.i32(1), b.group_id(1), 4);
  b.store(out, b.i32(2), b.group_count(2), 4);
  std::vector<int32_t> v(3, -1);
  NativeRunner(std::move(b).finish()).run({v.data()});
  EXPECT_THAT(v, ElementsAre(0, 0, 1));
}

TEST(NativeLaunchTest, ParametersAreWhereTheLayoutSays) {
  Builder b("k", native_model());
  const Value out = b.pointer_param("out", false, true);
  const Value i = b.scalar_param("i", kI32), d = b.scalar_param("d", kir::kF64);
  const Value f = b.scalar_param("f", kF32), l = b.scalar_param("l", kI64);
  const auto to_f64 = [&](Value v) { return b.fpext(v, Scalar::f64); };
  b.store(out, b.i32(0), b.sitofp(i, Scalar::f64), 8);
  b.store(out, b.i32(1), d, 8);
  b.store(out, b.i32(2), to_f64(f), 8);
  b.store(out, b.i32(3), b.sitofp(l, Scalar::f64), 8);
  std::vector<double> v(4);
  const NativeRunner k(std::move(b).finish());
  k.run({v.data()}, {static_cast<uint32_t>(-3), std::bit_cast<uint64_t>(0.125),
                     std::bit_cast<uint32_t>(2.5f), uint64_t{1} << 40});
  EXPECT_THAT(v, ElementsAre(-3, 0.125, 2.5, 0x1p40));
}

// --- vectors -------------------------------------------------------------------------------------

TEST(NativeVectorTest, LanesMove) {
  Builder b("k", native_model());
  const Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", false, true);
  const Type t{Scalar::i32, 4};
  const Value zero = b.i32(0);
  const Value x = b.load(t, in, zero, 4), y = b.load(t, in, b.i32(4), 4);
  int row = 0;
  const auto put = [&](Value v) { b.store(out, b.i32(4 * row++), v, 4); };
  put(b.shuffle(x, y, {7, 0, 5, 2}));
  put(b.insert(x, b.extract(y, 3), 1));
  put(b.splat(b.extract(x, 2), 4));
  put(b.add(b.lane_iota(t), x));
  put(b.shuffle(b.shuffle(x, y, {0, 1, 2, 3, 4, 5, 6, 7}), b.splat(zero, 8), {1, 3, 5, 7}));
  const Value mask = b.slt(x, b.i32(12));
  put(b.splat(b.zext(b.any(mask), Scalar::i32), 4));
  put(b.splat(b.zext(b.all(mask), Scalar::i32), 4));
  put(b.splat(b.zext(b.all(b.slt(x, b.i32(14))), Scalar::i32), 4));
  std::vector<int32_t> input = iota(8, 10), v(4 * 8);
  NativeRunner(std::move(b).finish()).run({input.data(), v.data()});
  EXPECT_THAT(v, ElementsAre(17, 10, 15, 12,  //
                             10, 17, 12, 13,  //
                             12, 12, 12, 12,  //
                             10, 12, 14, 16,  //
                             11, 13, 15, 17,  //
                             1, 1, 1, 1,      //
                             0, 0, 0, 0,      //
                             1, 1, 1, 1));
}

TEST(NativeVectorTest, AnyAndAllOfEachWidth) {
  for (uint16_t lanes : {2, 4, 8, 16, 32, 64}) {
    Builder b("k", native_model());
    const Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", false, true);
    const Value mask = b.trunc(b.load({Scalar::i8, lanes}, in, b.i32(0), 1), Scalar::i1);
    b.store(out, b.i32(0), b.zext(b.any(mask), Scalar::i8), 1);
    b.store(out, b.i32(1), b.zext(b.all(mask), Scalar::i8), 1);
    const NativeRunner k(std::move(b).finish());
    for (int set = 0; set <= lanes; ++set) {
      std::vector<int8_t> input(lanes), v(2);
      std::fill_n(input.rbegin(), set, int8_t{1});
      k.run({input.data(), v.data()});
      EXPECT_EQ(v[0], set > 0) << lanes;
      EXPECT_EQ(v[1], set == lanes) << lanes;
    }
  }
}

// --- memory --------------------------------------------------------------------------------------

// Masked lanes touch nothing: the arrays end at a page that may not be touched.
class GuardedPage {
 public:
  GuardedPage() {
    memory_ = static_cast<std::byte*>(
        mmap(nullptr, 2 * kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + kSize, kSize, PROT_NONE);
  }
  ~GuardedPage() { munmap(memory_, 2 * kSize); }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;
  // The last n elements before the guard.
  template <typename T>
  T* last(size_t n) {
    return reinterpret_cast<T*>(memory_ + kSize) - n;
  }

 private:
  static constexpr size_t kSize = 4096;
  std::byte* memory_ = nullptr;
};

template <typename T>
void check_masked(Scalar s) {
  for (uint16_t lanes : kLanes) {
    Builder b("k", native_model());
    const Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", false, true);
    const Value all = b.pointer_param("all", false, true), n = b.scalar_param("n", kI32);
    const Type t{s, lanes};
    const Type index{Scalar::i32, lanes};
    const Value mask = b.slt(b.lane_iota(index), n);
    const Value passthru = b.constant_bits(t, 42);
    const auto align = static_cast<uint32_t>(sizeof(T));
    const Value v = b.masked_load(t, in, b.i64(0), mask, passthru, align);
    b.store(all, b.i32(0), v, align);
    b.masked_store(out, b.i64(0), v, mask, align);
    const NativeRunner k(std::move(b).finish());
    for (uint16_t count = 0; count <= lanes; ++count) {
      GuardedPage input, output;
      T* from = input.last<T>(count);
      T* to = output.last<T>(count);
      for (int i = 0; i < count; ++i) from[i] = static_cast<T>(i + 1);
      std::vector<T> everything(lanes);
      k.run({from, to, everything.data()}, {count});
      for (int i = 0; i < lanes; ++i) {
        T filler{};
        const uint64_t bits = 42;
        std::memcpy(&filler, &bits, sizeof filler);
        EXPECT_EQ(everything[static_cast<size_t>(i)], i < count ? static_cast<T>(i + 1) : filler);
        if (i < count) EXPECT_EQ(to[i], static_cast<T>(i + 1));
      }
    }
  }
}

TEST(NativeMemoryTest, MaskedLanesTouchNothing) {
  check_masked<int8_t>(Scalar::i8);
  check_masked<int16_t>(Scalar::i16);
  check_masked<int32_t>(Scalar::i32);
  check_masked<int64_t>(Scalar::i64);
  check_masked<float>(Scalar::f32);
  check_masked<double>(Scalar::f64);
}

template <typename T>
void check_gather(Scalar s, Scalar index) {
  for (uint16_t lanes : kLanes) {
    Builder b("k", native_model());
    const Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", false, true);
    const Value n = b.scalar_param("n", kI32);
    const Type t{s, lanes};
    const Value lane = b.lane_iota({Scalar::i32, lanes});
    const Value mask = b.active_lane_mask(b.int_resize(n, index, true), lanes);
    const auto align = static_cast<uint32_t>(sizeof(T));
    // Backwards from the element before the pointer: indices are signed.
    const Value from = b.sub(b.constant({Scalar::i32, lanes}, -1), lane);
    const Value v = b.gather(t, in, b.int_resize(from, index, true), mask, b.constant(t, 0), align);
    b.scatter(out, b.int_resize(b.mul(lane, b.i32(2)), index, true), v, mask, align);
    const NativeRunner k(std::move(b).finish());
    for (uint16_t count = 0; count <= lanes; ++count) {
      std::vector<T> input(lanes), output(2u * lanes);
      for (int i = 0; i < lanes; ++i) input[static_cast<size_t>(i)] = static_cast<T>(i + 1);
      k.run({input.data() + lanes, output.data()}, {count});
      for (int i = 0; i < 2 * lanes; ++i) {
        const bool written = i % 2 == 0 && i / 2 < count;
        EXPECT_EQ(output[static_cast<size_t>(i)], static_cast<T>(written ? lanes - i / 2 : 0));
      }
    }
  }
}

// Where LLVM sees that a mask leaves one lane, of integers that were truncated.
TEST(NativeMemoryTest, OneLaneOfNarrowIntegersIsAllThatIsStored) {
  for (const kir::Scalar narrow : {kir::Scalar::i8, kir::Scalar::i16}) {
    for (const int64_t lanes : {1, 2, 3}) {
      Builder b("k", native_model());
      const Value in = b.pointer_param("in", true, false),
                  out = b.pointer_param("out", false, true);
      const Value wide = b.load({kir::Scalar::i32, 16}, in, b.i32(0), 4);
      const auto bytes = static_cast<uint32_t>(kir::bytes(narrow));
      b.masked_store(out, b.i32(1), b.trunc(wide, narrow), b.active_lane_mask(b.i32(lanes), 16),
                     bytes);
      const std::vector<int32_t> from = iota(16, 0x01010101);
      std::vector<uint8_t> to(40, 0xee), want = to;
      for (int64_t i = 0; i < lanes; ++i)
        std::memcpy(want.data() + static_cast<size_t>(i + 1) * bytes, &from[static_cast<size_t>(i)],
                    bytes);
      NativeRunner(std::move(b).finish()).run({from.data(), to.data()});
      EXPECT_EQ(to, want) << lanes << " of " << bytes << " bytes";
    }
  }
}

TEST(NativeMemoryTest, GatherAndScatter) {
  for (Scalar index : {Scalar::i32, Scalar::i64}) {
    check_gather<int8_t>(Scalar::i8, index);
    check_gather<int32_t>(Scalar::i32, index);
    check_gather<float>(Scalar::f32, index);
    check_gather<double>(Scalar::f64, index);
    check_gather<int64_t>(Scalar::i64, index);
  }
}

TEST(NativeMemoryTest, ScatterToOnePlaceKeepsTheHighestLane) {
  Builder b("k", native_model());
  const Value out = b.pointer_param("out", false, true);
  const Type t{Scalar::i32, 16};
  b.scatter(out, b.constant(t, 0), b.lane_iota(t), b.i1(true), 4);
  int32_t v = -1;
  NativeRunner(std::move(b).finish()).run({&v});
  EXPECT_EQ(v, 15);
}

TEST(NativeMemoryTest, PointersMove) {
  Builder b("k", native_model());
  const Value table = b.pointer_param("table", true, false),
              out = b.pointer_param("out", false, true);
  const Value first = b.int_to_ptr(b.load(kI64, table, b.i32(1), 8));
  const Value p = b.int_to_ptr(b.ptr_to_int(first));
  b.store(out, b.i32(1), b.trunc(b.ptr_to_int(out), Scalar::i32), 4);
  b.store(out, b.i32(0), b.load(kI32, b.ptr_add(p, b.i64(8)), b.i32(1), 4), 4);
  const Value chosen = b.select(b.slt(b.load(kI32, p, b.i32(0), 4), b.i32(5)), p, out);
  b.store(chosen, b.i32(2), b.i32(99), 4);
  std::vector<int32_t> a = iota(4), v(4);
  const std::vector<uint64_t> addresses{0, reinterpret_cast<uint64_t>(a.data())};
  NativeRunner(std::move(b).finish()).run({addresses.data(), v.data()});
  EXPECT_EQ(v[0], 3);
  EXPECT_EQ(v[1], static_cast<int32_t>(reinterpret_cast<uint64_t>(v.data())));
  EXPECT_EQ(a[2], 99);
}

TEST(NativeMemoryTest, UnalignedAndHalfAccess) {
  Builder b("k", native_model());
  const Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", false, true);
  b.store(out, b.i32(0), b.load({Scalar::i32, 16}, b.ptr_add(in, b.i64(1)), b.i32(0), 1), 1);
  std::vector<uint8_t> from(100), to(64);
  std::iota(from.begin(), from.end(), uint8_t{0});
  NativeRunner(std::move(b).finish()).run({from.data(), to.data()});
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(to[i], i + 1);
}

TEST(NativeMemoryTest, AllocsKeepWhatIsStored) {
  Builder b("k", native_model());
  const Value out = b.pointer_param("out", false, true), n = b.scalar_param("n", kI32);
  const Value own = b.private_alloc(Scalar::i32, 64), shared = b.group_alloc(Scalar::i32, 64);
  const Value one = b.i32(1), zero = b.i32(0);
  b.for_loop(zero, n, one, {}, [&](Value i, auto) {
    b.store(own, i, b.mul(i, i), 4);
    b.store(shared, b.sub(b.i32(63), i), i, 4);
    return Builder::Values{};
  });
  const Value sum = b.for_loop(zero, n, one, {zero}, [&](Value i, auto carried) {
    const Value both = b.add(b.load(kI32, own, i, 4), b.load(kI32, shared, b.sub(b.i32(63), i), 4));
    return Builder::Values{b.add(carried[0], both)};
  })[0];
  b.store(out, zero, sum, 4);
  int32_t v = 0;
  NativeRunner(std::move(b).finish()).run({&v}, {10});
  EXPECT_EQ(v, 285 + 45);
}

// An input may be the output too: no load moves past a store to the same buffer.
TEST(NativeMemoryTest, InputMayBeOutput) {
  Builder b("k", native_model());
  const Value x = b.pointer_param("x", true, false), y = b.pointer_param("y", true, true);
  const Value out = b.pointer_param("out", false, true), zero = b.i32(0);
  b.store(y, zero, b.add(b.load(kI32, x, zero, 4), b.i32(1)), 4);
  b.store(out, zero, b.load(kI32, x, zero, 4), 4);
  int32_t v = 10, result = 0;
  NativeRunner(std::move(b).finish()).run({&v, &v, &result});
  EXPECT_EQ(result, 11);
}

// --- atomics -------------------------------------------------------------------------------------

template <typename T>
T rmw(Rmw op, Scalar s, T memory, T operand, T* old) {
  Builder b("k", native_model());
  const Value p = b.pointer_param("p", true, true), out = b.pointer_param("out", false, true);
  const Value v = b.load({s}, out, b.i32(0), sizeof(T));
  b.kernel().params[1].read = true;
  b.store(out, b.i32(0), b.atomic_rmw(op, p, b.i32(0), v, sizeof(T)), sizeof(T));
  *old = operand;
  NativeRunner(std::move(b).finish()).run({&memory, old});
  return memory;
}

template <typename T>
void check_int_atomics(Scalar s) {
  using U = std::make_unsigned_t<T>;
  const T x = -5, y = 3;
  T old = 0;
  const auto check = [&](Rmw op, T expected) {
    EXPECT_EQ(rmw<T>(op, s, x, y, &old), expected) << kir::name(op);
    EXPECT_EQ(old, x) << kir::name(op);
  };
  check(Rmw::add, x + y);
  check(Rmw::min_s, std::min(x, y));
  check(Rmw::max_s, std::max(x, y));
  check(Rmw::min_u, static_cast<T>(std::min(static_cast<U>(x), static_cast<U>(y))));
  check(Rmw::max_u, static_cast<T>(std::max(static_cast<U>(x), static_cast<U>(y))));
  check(Rmw::and_, x & y);
  check(Rmw::or_, x | y);
  check(Rmw::xor_, x ^ y);
  check(Rmw::exchange, y);
}

template <typename T>
void check_float_atomics(Scalar s) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  T old = 0;
  EXPECT_EQ(rmw<T>(Rmw::fadd, s, T{1.5}, T{2}, &old), T{3.5});
  EXPECT_EQ(old, T{1.5});
  EXPECT_EQ(rmw<T>(Rmw::fmin, s, T{1.5}, T{-2}, &old), T{-2});
  EXPECT_EQ(rmw<T>(Rmw::fmax, s, T{1.5}, T{-2}, &old), T{1.5});
  EXPECT_EQ(rmw<T>(Rmw::exchange, s, T{1.5}, T{-2}, &old), T{-2});
  EXPECT_TRUE(std::isnan(rmw<T>(Rmw::fmin, s, nan, T{1}, &old)));
  EXPECT_TRUE(std::isnan(rmw<T>(Rmw::fmin, s, T{1}, nan, &old)));
  EXPECT_TRUE(std::isnan(rmw<T>(Rmw::fmax, s, T{1}, nan, &old)));
}

TEST(NativeAtomicTest, ReadModifyWrite) {
  check_int_atomics<int32_t>(Scalar::i32);
  check_int_atomics<int64_t>(Scalar::i64);
  check_float_atomics<float>(Scalar::f32);
  check_float_atomics<double>(Scalar::f64);
}

TEST(NativeAtomicTest, CompareAndSwap) {
  for (Type t : {Type{Scalar::i8}, Type{Scalar::i16}, kI32, kI64}) {
    Builder b("k", native_model());
    const Value p = b.pointer_param("p", true, true), out = b.pointer_param("out", false, true);
    const auto align = static_cast<uint32_t>(kir::bytes(t.scalar));
    b.store(out, b.i32(0), b.atomic_cas(p, b.i32(0), b.constant(t, 7), b.constant(t, 9), align),
            align);
    const NativeRunner k(std::move(b).finish());
    int64_t memory = 7, old = 0;
    k.run({&memory, &old});
    EXPECT_EQ(old, 7);
    EXPECT_EQ(memory, 9);
    k.run({&memory, &old});
    EXPECT_EQ(old, 9);
    EXPECT_EQ(memory, 9);
  }
}

TEST(NativeAtomicTest, ThreadsDoNotLoseUpdates) {
  Builder b("k", native_model());
  const Value p = b.pointer_param("p", true, true);
  b.atomic_rmw(Rmw::fadd, p, b.i32(0), b.constant_f(kF32, 1), 4);
  const NativeRunner k(std::move(b).finish());
  float sum = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { k.run({&sum}, {}, 0, 10000, 40000); });
  threads.clear();
  EXPECT_EQ(sum, 40000);
}

// --- control flow --------------------------------------------------------------------------------

TEST(NativeControlTest, IfYields) {
  Builder b("k", native_model());
  const Value out = b.pointer_param("out", false, true), n = b.scalar_param("n", kI32);
  const auto r = b.if_else(
      b.slt(n, b.i32(0)),
      [&] {
        b.store(out, b.i32(2), n, 4);
        return Builder::Values{b.sub(b.i32(0), n), b.i32(1)};
      },
      [&] {
        const Value inner = b.if_else(
            b.ieq(n, b.i32(3)), [&] { return Builder::Values{b.i32(33)}; },
            [&] { return Builder::Values{n}; })[0];
        return Builder::Values{inner, b.i32(2)};
      });
  b.store(out, b.i32(0), r[0], 4);
  b.store(out, b.i32(1), r[1], 4);
  const NativeRunner k(std::move(b).finish());
  const auto run = [&](int32_t x) {
    std::vector<int32_t> v(3);
    k.run({v.data()}, {static_cast<uint32_t>(x)});
    return v;
  };
  EXPECT_THAT(run(-4), ElementsAre(4, 1, -4));
  EXPECT_THAT(run(3), ElementsAre(33, 2, 0));
  EXPECT_THAT(run(5), ElementsAre(5, 2, 0));
}

TEST(NativeControlTest, ForCarriesAndNests) {
  for (Type t : {kI32, kI64}) {
    Builder b("k", native_model());
    const Value out = b.pointer_param("out", false, true);
    const Value lo = b.scalar_param("lo", t), hi = b.scalar_param("hi", t),
                by = b.scalar_param("by", t);
    const Value zero = b.constant(t, 0);
    const auto r = b.for_loop(lo, hi, by, {zero, zero}, [&](Value i, auto outer) {
      const Value inner = b.for_loop(zero, i, b.constant(t, 1), {outer[0]}, [&](Value j, auto c) {
        return Builder::Values{b.add(c[0], j)};
      })[0];
      return Builder::Values{inner, i};
    });
    b.store(out, b.i32(0), b.int_resize(r[0], Scalar::i64, true), 8);
    b.store(out, b.i32(1), b.int_resize(r[1], Scalar::i64, true), 8);
    const NativeRunner k(std::move(b).finish());
    const auto expect = [&](int64_t lo_, int64_t hi_, int64_t by_) {
      int64_t sum = 0, last = 0;
      for (int64_t i = lo_; i < hi_; i += by_) {
        for (int64_t j = 0; j < i; ++j) sum += j;
        last = i;
      }
      std::vector<int64_t> v(2);
      const auto bits = [&](int64_t x) {
        return t == kI32 ? static_cast<uint32_t>(x) : static_cast<uint64_t>(x);
      };
      k.run({v.data()}, {bits(lo_), bits(hi_), bits(by_)});
      EXPECT_THAT(v, ElementsAre(sum, last));
    };
    expect(0, 10, 1);
    expect(0, 10, 3);
    expect(-4, 4, 2);
    expect(5, 5, 1);
    expect(6, 5, 1);
  }
}

TEST(NativeControlTest, ForRunsToTheEndOfTheRange) {
  Builder b("k", native_model());
  const Value out = b.pointer_param("out", false, true), lo = b.scalar_param("lo", kI32);
  const Value count = b.for_loop(lo, b.i32(INT32_MAX), b.i32(1), {b.i32(0)}, [&](Value, auto c) {
    return Builder::Values{b.add(c[0], b.i32(1))};
  })[0];
  b.store(out, b.i32(0), count, 4);
  int32_t v = 0;
  NativeRunner(std::move(b).finish()).run({&v}, {INT32_MAX - 5});
  EXPECT_EQ(v, 5);
}

TEST(NativeControlTest, WhileStopsWhenItsConditionFails) {
  Builder b("k", native_model());
  const Value out = b.pointer_param("out", false, true), n = b.scalar_param("n", kI64);
  // Steps of the Collatz sequence to 1.
  const auto r = b.while_loop(
      {n, b.i64(0)}, [&](auto c) { return b.ine(c[0], b.i64(1)); },
      [&](auto c) {
        const Value odd = b.ine(b.and_(c[0], b.i64(1)), b.i64(0));
        const Value next = b.if_else(
            odd, [&] { return Builder::Values{b.add(b.mul(c[0], b.i64(3)), b.i64(1))}; },
            [&] { return Builder::Values{b.lshr(c[0], b.i64(1))}; })[0];
        return Builder::Values{next, b.add(c[1], b.i64(1))};
      });
  b.store(out, b.i32(0), r[1], 8);
  const NativeRunner k(std::move(b).finish());
  int64_t steps = -1;
  k.run({&steps}, {27});
  EXPECT_EQ(steps, 111);
  k.run({&steps}, {1});
  EXPECT_EQ(steps, 0);
}

}  // namespace
}  // namespace primset::emit
