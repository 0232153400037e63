#include "codegen/emit/spirv/testing/sample_kernels.h"

#include "codegen/kernel/ir/builder.h"

namespace primset::emit::testing {

using kir::Builder;
using kir::kI32;
using kir::kI64;
using kir::Rmw;
using kir::Type;
using kir::Value;
using Values = Builder::Values;
using Args = std::span<const Value>;

namespace {

Value thread_index(Builder& b, uint32_t threads = kSampleThreads) {
  b.set_group_size(threads);
  return b.add(b.mul(b.group_id(0), b.i32(threads)), b.local_id(0));
}

uint32_t size_of(Scalar s) {
  return static_cast<uint32_t>(kir::bytes(s));
}

// The whole number v in a type of either kind.
Value number(Builder& b, Type t, int64_t v) {
  return b.constant(t, v);
}

Value add(Builder& b, Value x, Value y) {
  return kir::is_float(b.type(x).scalar) ? b.fadd(x, y) : b.add(x, y);
}

Value mul(Builder& b, Value x, Value y) {
  return kir::is_float(b.type(x).scalar) ? b.fmul(x, y) : b.mul(x, y);
}

Value from_i32(Builder& b, Value v, Scalar to) {
  return kir::is_float(to) ? b.sitofp(v, to) : b.int_resize(v, to, true);
}

}  // namespace

// --- memory --------------------------------------------------------------------------------------

Kernel masked_copy(const TargetModel& target, Scalar elem, uint16_t lanes) {
  Builder b("masked_copy", target);
  const Value in = b.pointer_param("in", true, false), mask = b.pointer_param("mask", true, false),
              out = b.pointer_param("out", false, true);
  const Value at = b.mul(thread_index(b), b.i32(lanes));
  const Type t{elem, lanes};
  const uint32_t align = size_of(elem);
  const Value odd = b.trunc(b.load({Scalar::i8, lanes}, mask, at, 1), Scalar::i1);
  const Value x = b.masked_load(t, in, at, odd, number(b, t, 3), align);
  b.masked_store(out, at, add(b, x, number(b, t, 1)), odd, align);
  return std::move(b).finish();
}

Kernel gather_scatter(const TargetModel& target, Scalar elem, uint16_t lanes, bool wide_index) {
  Builder b("gather_scatter", target);
  const Value in = b.pointer_param("in", true, false), from = b.pointer_param("from", true, false),
              to = b.pointer_param("to", true, false), mask = b.pointer_param("mask", true, false),
              out = b.pointer_param("out", false, true);
  const Value at = b.mul(thread_index(b), b.i32(lanes));
  const Type t{elem, lanes}, index{wide_index ? Scalar::i64 : Scalar::i32, lanes};
  const uint32_t align = size_of(elem), index_align = size_of(index.scalar) * lanes;
  const Value m = b.load({Scalar::i8, lanes}, mask, at, lanes);
  const Value x = b.gather(t, in, b.load(index, from, at, index_align), b.trunc(m, Scalar::i1),
                           number(b, t, 7), align);
  b.scatter(out, b.load(index, to, at, index_align), x,
            b.ine(m, b.constant({Scalar::i8, lanes}, 0)), align);
  return std::move(b).finish();
}

Kernel upper_halves(const TargetModel& target, uint16_t lanes, uint32_t align, uint32_t to_add) {
  Builder b("upper_halves", target);
  const Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", false, true);
  const Value at = b.mul(thread_index(b), b.i32(lanes));
  const Type wide{Scalar::i32, lanes};
  const Value half = b.constant(wide, 16);
  const Value word = b.shl(b.zext(b.load({Scalar::i16, lanes}, in, at, align), Scalar::i32), half);
  const Value sum = b.add(word, b.constant(wide, to_add));
  b.store(out, at, b.trunc(b.lshr(sum, half), Scalar::i16), align);
  return std::move(b).finish();
}

Kernel aligned_copy(const TargetModel& target, Scalar elem, uint16_t lanes, uint32_t align) {
  Builder b("aligned_copy", target);
  const Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", false, true);
  const Value at = b.mul(thread_index(b), b.i32(lanes));
  b.store(out, at, b.load({elem, lanes}, in, at, align), align);
  return std::move(b).finish();
}

Kernel private_array(const TargetModel& target, Scalar elem) {
  Builder b("private_array", target);
  const Value out = b.pointer_param("out", false, true);
  const Value i = thread_index(b);
  const Value array = b.private_alloc(elem, 16);
  const uint32_t align = size_of(elem);
  b.for_loop(b.i32(0), b.i32(16), b.i32(1), {}, [&](Value k, Args) {
    const Value at = b.and_(b.mul(k, b.i32(5)), b.i32(15));
    b.store(array, at, from_i32(b, b.mul(i, k), elem), align);
    return Values{};
  });
  const Value zero = number(b, {elem}, 0);
  const Value sum = b.for_loop(b.i32(0), b.i32(16), b.i32(1), {zero}, [&](Value k, Args sum) {
    const Value x = b.load({elem}, array, k, align);
    return Values{add(b, sum[0], mul(b, x, from_i32(b, k, elem)))};
  })[0];
  b.store(out, i, sum, align);
  return std::move(b).finish();
}

Kernel pointer_table(const TargetModel& target) {
  Builder b("pointer_table", target);
  const Value table = b.pointer_param("table", true, false),
              odd = b.pointer_param("odd", true, false),
              even = b.pointer_param("even", true, false),
              out = b.pointer_param("out", false, true);
  const Value i = thread_index(b);
  const Value row = b.ptr_add(b.int_to_ptr(b.load(kI64, table, i, 8)), b.i64(4));
  const Value chosen = b.select(b.trunc(i, Scalar::i1), odd, even);
  const Value same_row = b.int_to_ptr(b.sub(b.ptr_to_int(row), b.i64(4)));
  const Value x = b.load(kI32, same_row, b.i32(1), 4);
  // A pointer that a loop carries: three steps of four bytes.
  const Value walked = b.for_loop(b.i32(0), b.i32(3), b.i32(1), {chosen}, [&](Value, Args p) {
    return Values{b.ptr_add(p[0], b.i64(4))};
  })[0];
  b.store(out, i, b.add(x, b.load(kI32, walked, b.i64(-3), 4)), 4);
  return std::move(b).finish();
}

Kernel global_atomic(const TargetModel& target, Rmw rmw, Scalar elem) {
  Builder b("global_atomic", target);
  const Value x = b.pointer_param("x", true, true), slot = b.pointer_param("slot", true, false),
              v = b.pointer_param("v", true, false), old = b.pointer_param("old", false, true);
  const Value i = thread_index(b);
  const uint32_t align = size_of(elem);
  const Value at = b.load(kI32, slot, i, 4);
  b.store(old, i, b.atomic_rmw(rmw, x, at, b.load({elem}, v, i, align), align), align);
  return std::move(b).finish();
}

Kernel group_atomic(const TargetModel& target, Rmw rmw, Scalar elem) {
  Builder b("group_atomic", target);
  const Value slot = b.pointer_param("slot", true, false), v = b.pointer_param("v", true, false),
              out = b.pointer_param("out", false, true);
  const Value i = thread_index(b), local = b.local_id(0);
  const uint32_t align = size_of(elem);
  const Value array = b.group_alloc(elem, 8);
  const Value first = b.slt(local, b.i32(8));
  b.if_then(first, [&] { b.store(array, local, b.load({elem}, v, b.i32(0), align), align); });
  b.barrier();
  b.atomic_rmw(rmw, array, b.load(kI32, slot, i, 4), b.load({elem}, v, i, align), align);
  b.barrier();
  b.if_then(first, [&] {
    const Value at = b.add(b.mul(b.group_id(0), b.i32(8)), local);
    b.store(out, at, b.load({elem}, array, local, align), align);
  });
  return std::move(b).finish();
}

Kernel cas_add(const TargetModel& target, Scalar elem, bool in_group) {
  Builder b("cas_add", target);
  const Value x = b.pointer_param("x", true, true), v = b.pointer_param("v", true, false);
  const Value i = thread_index(b);
  const uint32_t align = size_of(elem);
  const Type t{elem};
  const Value shared = in_group ? b.group_alloc(elem, 1) : x;
  const Value zero = b.i32(0), leader = b.ieq(b.local_id(0), zero);
  if (in_group) {
    b.if_then(leader, [&] { b.store(shared, zero, b.constant(t, 0), align); });
    b.barrier();
  }
  const Value mine = b.load(t, v, i, align);
  const Value old = b.load(t, shared, zero, align);
  b.while_loop(
      {old, b.i1(false)}, [&](Args c) { return b.ieq(b.zext(c[1], Scalar::i32), zero); },
      [&](Args c) {
        const Value seen = b.atomic_cas(shared, zero, c[0], b.add(c[0], mine), align);
        return Values{seen, b.ieq(seen, c[0])};
      });
  if (in_group) {
    b.barrier();
    b.if_then(leader,
              [&] { b.atomic_rmw(Rmw::add, x, zero, b.load(t, shared, zero, align), align); });
  }
  return std::move(b).finish();
}

// --- the workgroup -------------------------------------------------------------------------------

Kernel tree_sum(const TargetModel& target, Scalar elem, uint32_t threads) {
  Builder b("tree_sum", target);
  const Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", false, true);
  const Value i = thread_index(b, threads), local = b.local_id(0);
  const uint32_t align = size_of(elem);
  const Type t{elem};
  const Value array = b.group_alloc(elem, threads);
  b.store(array, local, b.load(t, in, i, align), align);
  b.barrier();
  b.while_loop(
      {b.i32(threads / 2)}, [&](Args half) { return b.slt(b.i32(0), half[0]); },
      [&](Args half) {
        b.if_then(b.slt(local, half[0]), [&] {
          const Value other = b.load(t, array, b.add(local, half[0]), align);
          b.store(array, local, add(b, b.load(t, array, local, align), other), align);
        });
        b.barrier();
        return Values{b.lshr(half[0], b.i32(1))};
      });
  b.if_then(b.ieq(local, b.i32(0)),
            [&] { b.store(out, b.group_id(0), b.load(t, array, b.i64(0), align), align); });
  return std::move(b).finish();
}

Kernel subgroup_exchange(const TargetModel& target, Scalar elem, uint32_t mask) {
  Builder b("subgroup_exchange", target);
  const Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", false, true),
              size = b.pointer_param("size", false, true),
              lane = b.pointer_param("lane", false, true);
  const Value i = thread_index(b);
  const Scalar stored = elem == Scalar::i1 ? Scalar::i8 : elem;
  Value x = b.load({stored}, in, i, size_of(stored));
  if (elem == Scalar::i1) x = b.trunc(x, Scalar::i1);
  Value y = b.subgroup_shuffle_xor(x, mask);
  if (elem == Scalar::i1) y = b.zext(y, Scalar::i8);
  b.store(out, i, y, size_of(stored));
  b.store(size, i, b.subgroup_size(), 4);
  b.store(lane, i, b.subgroup_lane(), 4);
  return std::move(b).finish();
}

Kernel subgroup_votes(const TargetModel& target) {
  Builder b("subgroup_votes", target);
  const Value in = b.pointer_param("in", true, false), odd = b.pointer_param("odd", false, true),
              next = b.pointer_param("next", false, true);
  const Value i = thread_index(b), one = b.i32(1);
  const Value x = b.load(kI32, in, i, 4), lane = b.subgroup_lane();
  const Value votes = b.subgroup_ballot(b.ine(b.and_(x, one), b.i32(0)), 0);
  const Value before = b.sub(b.shl(one, lane), one);
  b.store(odd, i, b.popcount(b.and_(votes, before)), 4);
  const Value behind = b.and_(b.add(lane, one), b.sub(b.subgroup_size(), one));
  b.store(next, i, b.subgroup_shuffle(x, behind), 4);
  return std::move(b).finish();
}

// --- control flow --------------------------------------------------------------------------------

Kernel collatz(const TargetModel& target) {
  Builder b("collatz", target);
  const Value in = b.pointer_param("in", true, false),
              steps = b.pointer_param("steps", false, true),
              high = b.pointer_param("high", false, true);
  const Value i = thread_index(b);
  const Value x = b.load(kI64, in, i, 8), one = b.i64(1);
  const Values end = b.while_loop(
      {x, b.i32(0), x}, [&](Args c) { return b.slt(one, c[0]); },
      [&](Args c) {
        const Value next = b.if_else(
            b.trunc(c[0], Scalar::i1), [&] { return Values{b.add(b.mul(c[0], b.i64(3)), one)}; },
            [&] { return Values{b.lshr(c[0], one)}; })[0];
        return Values{next, b.add(c[1], b.i32(1)), b.select(b.slt(c[2], next), next, c[2])};
      });
  b.store(steps, i, end[1], 4);
  b.store(high, i, end[2], 8);
  return std::move(b).finish();
}

Kernel nested_loops(const TargetModel& target) {
  Builder b("nested_loops", target);
  const Value in = b.pointer_param("in", true, false), count = b.pointer_param("count", true, true),
              out = b.pointer_param("out", false, true);
  const Value i = thread_index(b);
  const Type t{Scalar::f32, 16};
  const Value x = b.load(t, in, b.i32(0), 64), zero = b.i64(0), one = b.i64(1);
  const Value n = b.load(kI64, count, i, 8);
  const Values end = b.for_loop(zero, n, one, {b.constant(t, 0), zero}, [&](Value j, Args outer) {
    return b.for_loop(zero, j, one, {outer[0], outer[1]}, [&](Value k, Args inner) {
      const Value weight = b.splat(b.sitofp(b.add(j, k), Scalar::f32), 16);
      return Values{b.fadd(inner[0], b.fmul(x, weight)), b.add(inner[1], one)};
    });
  });
  b.store(out, b.mul(i, b.i32(16)), end[0], 64);
  b.store(count, i, end[1], 8);
  return std::move(b).finish();
}

Kernel nested_ifs(const TargetModel& target) {
  Builder b("nested_ifs", target);
  const Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", false, true);
  const Value i = thread_index(b);
  const Value x = b.load(kI32, in, i, 4), one = b.i32(1);
  const Value bit0 = b.trunc(x, Scalar::i1), bit1 = b.trunc(b.lshr(x, one), Scalar::i1);
  const auto arm = [&](int64_t odd, int64_t even) {
    return b.if_else(
        bit0, [&] { return Values{b.i32(odd), b.constant({Scalar::f32, 2}, odd), bit1}; },
        [&] { return Values{b.mul(x, b.i32(even)), b.constant({Scalar::f32, 2}, even), bit0}; });
  };
  const Values r = b.if_else(bit1, [&] { return arm(10, 20); }, [&] { return arm(30, 40); });
  const Value f = b.fptosi(b.extract(r[1], 1), Scalar::i32);
  b.store(out, i, b.add(b.add(r[0], b.mul(f, b.i32(1000))), b.zext(r[2], Scalar::i32)), 4);
  return std::move(b).finish();
}

Kernel long_loop(const TargetModel& target, bool is_while) {
  Builder b("long_loop", target);
  const Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", false, true);
  const Value i = thread_index(b), one = b.i32(1), zero = b.i32(0);
  const Value n = b.load(kI32, in, i, 4);
  // The sum depends on the step in a way that no compiler turns into a formula.
  const auto mix = [&](Value sum, Value k) {
    return b.xor_(b.mul(sum, b.i32(1664525)), b.load(kI32, in, b.and_(k, one), 4));
  };
  const Value sum = is_while
                        ? b.while_loop(
                              {zero, zero}, [&](Args c) { return b.slt(c[0], n); },
                              [&](Args c) { return Values{b.add(c[0], one), mix(c[1], c[0])}; })[1]
                        : b.for_loop(zero, n, one, {zero},
                                     [&](Value k, Args c) { return Values{mix(c[0], k)}; })[0];
  b.store(out, i, sum, 4);
  return std::move(b).finish();
}

Kernel effects_in_regions(const TargetModel& target) {
  Builder b("effects_in_regions", target);
  const Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", true, true);
  const Value i = thread_index(b), zero = b.i32(0), one = b.i32(1);
  const Value x = b.load(kI32, in, i, 4);
  b.while_loop(
      {zero},
      [&](Args c) {
        // Stops after x steps, or after 5 when x is even.
        const Value limit = b.if_else(
            b.trunc(x, Scalar::i1),
            [&] { return Values{b.masked_load(kI32, in, i, b.slt(c[0], x), zero, 4)}; },
            [&] { return Values{b.i32(5)}; })[0];
        return b.slt(c[0], limit);
      },
      [&](Args c) {
        const Value old = b.load(kI32, out, i, 4);
        b.masked_store(out, i, b.add(old, b.i32(100)), b.slt(c[0], b.i32(3)), 4);
        b.if_then(b.ieq(c[0], b.i32(4)), [&] {
          b.for_loop(zero, x, one, {}, [&](Value, Args) {
            b.store(out, i, b.add(b.load(kI32, out, i, 4), one), 4);
            return Values{};
          });
        });
        return Values{b.add(c[0], one)};
      });
  return std::move(b).finish();
}

// --- vectors and parameters ----------------------------------------------------------------------

Kernel vector_moves(const TargetModel& target, uint16_t lanes) {
  Builder b("vector_moves", target);
  const Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", false, true);
  const Value i = thread_index(b);
  const Type t{Scalar::i32, lanes};
  const uint32_t align = 4u * lanes;
  const Value at = b.mul(i, b.i32(lanes));
  const Value x = b.load(t, in, at, align);
  std::vector<uint16_t> reversed, interleaved, twice;
  for (uint16_t l = 0; l < lanes; ++l) {
    reversed.push_back(static_cast<uint16_t>(lanes - 1 - l));
    interleaved.push_back(static_cast<uint16_t>(l / 2 + (l % 2) * lanes));
  }
  const Value iota = b.lane_iota(t);
  const Value mixed = b.shuffle(b.shuffle(x, x, reversed), iota, interleaved);
  const Value replaced = b.insert(mixed, i, lanes / 2u);
  // To twice and to half as many lanes.
  for (uint16_t l = 0; l < 2 * lanes; ++l) twice.push_back(l);
  const Value wide = b.shuffle(replaced, iota, twice);
  std::vector<uint16_t> every_other;
  for (uint16_t l = 0; l < lanes; ++l) every_other.push_back(static_cast<uint16_t>(2 * l));
  const Value half = b.shuffle(wide, wide, every_other);
  const Value odd = b.trunc(x, Scalar::i1);
  const Value flags =
      b.add(b.zext(b.any(odd), Scalar::i32), b.mul(b.zext(b.all(odd), Scalar::i32), b.i32(2)));
  const Value last = b.extract(replaced, lanes - 1u);
  // From one lane too few to one too many.
  const Value shown = b.sub(b.urem(i, b.i32(lanes + 2)), b.i32(1));
  const Value some = b.select(b.active_lane_mask(shown, lanes), half, b.constant(t, 0));
  b.store(out, at,
          b.add(b.mul(some, b.splat(b.i32(8), lanes)),
                b.splat(b.add(flags, b.mul(last, b.i32(1000))), lanes)),
          align);
  return std::move(b).finish();
}

Kernel parameters(const TargetModel& target, uint32_t n) {
  Builder b("parameters", target);
  const Value out = b.pointer_param("out", false, true);
  std::vector<Value> all;
  for (uint32_t k = 0; k < n; ++k) {
    for (Scalar s : {Scalar::i32, Scalar::f32, Scalar::i64, Scalar::f64}) {
      all.push_back(b.scalar_param("p" + std::to_string(all.size()), {s}));
    }
  }
  b.set_group_size(1);
  for (size_t k = 0; k < all.size(); ++k) {
    Value v = all[k];
    const Scalar s = b.type(v).scalar;
    if (kir::is_float(s)) v = b.bitcast(v, s == Scalar::f32 ? Scalar::i32 : Scalar::i64);
    b.store(out, b.i64(static_cast<int64_t>(k)), b.int_resize(v, Scalar::i64, false), 8);
  }
  return std::move(b).finish();
}

Kernel ids(const TargetModel& target) {
  Builder b("ids", target);
  const Value out = b.pointer_param("out", false, true);
  b.set_group_size(4, 2, 2);
  const auto flat = [&](auto id, auto count, auto last) {
    return b.add(b.mul(b.add(b.mul(id(2), count(1)), id(1)), count(0)), last(0));
  };
  const auto group_id = [&](int d) { return b.group_id(d); };
  const auto group_count = [&](int d) { return b.group_count(d); };
  const auto local_id = [&](int d) { return b.local_id(d); };
  const auto local_count = [&](int d) { return b.i32(d == 0 ? 4 : 2); };
  const Value thread = b.add(b.mul(flat(group_id, group_count, group_id), b.i32(16)),
                             flat(local_id, local_count, local_id));
  const Value at = b.mul(thread, b.i32(9));
  for (int d = 0; d < 3; ++d) {
    b.store(out, b.add(at, b.i32(d)), b.group_id(d), 4);
    b.store(out, b.add(at, b.i32(d + 3)), b.group_count(d), 4);
    b.store(out, b.add(at, b.i32(d + 6)), b.local_id(d), 4);
  }
  return std::move(b).finish();
}

namespace {

struct Samples {
  std::vector<Sample> all;

  void add(std::string name, Kernel kernel) { all.push_back({std::move(name), std::move(kernel)}); }
  void add_beyond(std::string name, Kernel kernel) {
    all.push_back({std::move(name), std::move(kernel), false});
  }
};

void add_memory(Samples& samples, const TargetModel& target) {
  for (Scalar s : {Scalar::i8, Scalar::i16, Scalar::i32, Scalar::i64, Scalar::f32, Scalar::f64}) {
    const std::string type(kir::name(s));
    for (uint16_t lanes : {1, 2, 4, 16}) {
      const std::string suffix = " " + type + " x " + std::to_string(lanes);
      samples.add("masked_copy" + suffix, masked_copy(target, s, lanes));
      samples.add("gather_scatter" + suffix, gather_scatter(target, s, lanes, lanes == 4));
      for (uint32_t align = size_of(s); align <= 16 && align <= lanes * size_of(s); align *= 2)
        samples.add("aligned_copy" + suffix + " at " + std::to_string(align),
                    aligned_copy(target, s, lanes, align));
    }
    samples.add("private_array " + type, private_array(target, s));
  }
  for (uint16_t lanes : {1, 4, 8, 16})
    samples.add("upper_halves x " + std::to_string(lanes),
                upper_halves(target, lanes, std::min(16u, 2u * lanes), 0x18000));
}

void add_subgroups(Samples& samples, const TargetModel& target) {
  for (Scalar s : {Scalar::i32, Scalar::i64, Scalar::f32, Scalar::f64}) {
    samples.add("subgroup_exchange " + std::string(kir::name(s)), subgroup_exchange(target, s, 1));
  }
  if (target.subgroup_ballot) samples.add("subgroup_votes", subgroup_votes(target));
}

void add_narrow_atomics(Samples& samples, const TargetModel& target) {
  for (Scalar s : {Scalar::i1, Scalar::i8, Scalar::i16}) {
    const std::string type(kir::name(s));
    samples.add_beyond("subgroup_exchange " + type, subgroup_exchange(target, s, 1));
    if (s == Scalar::i1) continue;
    for (int r = 0; r <= static_cast<int>(Rmw::exchange); ++r) {
      samples.add_beyond("global_atomic " + type, global_atomic(target, static_cast<Rmw>(r), s));
      samples.add_beyond("group_atomic " + type, group_atomic(target, static_cast<Rmw>(r), s));
    }
    samples.add_beyond("cas_add " + type, cas_add(target, s, false));
    samples.add_beyond("cas_add in group " + type, cas_add(target, s, true));
  }
}

void add_atomics(Samples& samples, const TargetModel& target) {
  for (Scalar s : {Scalar::i32, Scalar::i64, Scalar::f32, Scalar::f64}) {
    const std::string type(kir::name(s));
    for (int r = 0; r <= static_cast<int>(Rmw::fmax); ++r) {
      const auto rmw = static_cast<Rmw>(r);
      if (kir::is_float(rmw) != kir::is_float(s)) continue;
      samples.add("global_atomic " + type, global_atomic(target, rmw, s));
      samples.add("group_atomic " + type, group_atomic(target, rmw, s));
    }
    samples.add("tree_sum " + type, tree_sum(target, s, 256));
    if (kir::is_float(s)) continue;
    samples.add("cas_add " + type, cas_add(target, s, false));
    samples.add("cas_add in group " + type, cas_add(target, s, true));
  }
}

void add_control(Samples& samples, const TargetModel& target) {
  samples.add("pointer_table", pointer_table(target));
  samples.add("collatz", collatz(target));
  samples.add("nested_loops", nested_loops(target));
  samples.add("nested_ifs", nested_ifs(target));
  samples.add("long for", long_loop(target, false));
  samples.add("long while", long_loop(target, true));
  samples.add("effects_in_regions", effects_in_regions(target));
  for (uint16_t lanes : {2, 4, 8, 16}) {
    samples.add("vector_moves x " + std::to_string(lanes), vector_moves(target, lanes));
  }
  for (uint32_t n : {1, 5, 20}) samples.add("parameters", parameters(target, n));
  samples.add("ids", ids(target));
}

}  // namespace

std::vector<Sample> all_samples(const TargetModel& target) {
  Samples samples;
  add_memory(samples, target);
  add_subgroups(samples, target);
  add_narrow_atomics(samples, target);
  add_atomics(samples, target);
  add_control(samples, target);
  return std::move(samples.all);
}

}  // namespace primset::emit::testing
