// Formats, errors and the time an emission takes.
#include "codegen/emit/llvm/llvm_emitter.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/emit/llvm/fatal_guard.h"
#include "codegen/emit/llvm/native_image.h"
#include "codegen/emit/llvm/testing/native_runner.h"
#include "codegen/emit/llvm/testing/ptxas.h"
#include "codegen/kernel/ir/builder.h"
#include "llvm/Support/ErrorHandling.h"
#include "primset/error.h"

namespace primset::emit {
namespace {

using kir::Builder;
using kir::Kernel;
using kir::kF32;
using kir::kF64;
using kir::kI32;
using kir::kI64;
using kir::Rmw;
using kir::Scalar;
using kir::TargetModel;
using kir::Type;
using kir::Value;
using testing::HasSubstr;
using testing::Not;

TargetModel simt(kir::Format format) {
  TargetModel model;
  model.format = format;
  model.simt = true;
  model.f16 = true;
  model.min_subgroup = model.max_subgroup = 32;
  model.subgroup_ballot = true;
  return model;
}

// One of everything a GPU kernel does: tree sum in workgroup memory, shuffles, atomics.
Kernel block_sum(const TargetModel& model) {
  Builder b("block_sum", model);
  const Value in = b.pointer_param("in", true, false, true),
              out = b.pointer_param("out", true, true);
  const Value n = b.scalar_param("n", kI32);
  b.set_group_size(256);
  const Value shared = b.group_alloc(Scalar::f32, 256);
  const Value local = b.local_id(0), zero = b.i32(0);
  const Value i = b.add(b.mul(b.group_id(0), b.i32(256)), local);
  const Value x = b.masked_load(kF32, in, i, b.slt(i, n), b.constant_f(kF32, 0), 4);
  b.store(shared, local, b.fadd(b.fmul(x, x), x), 4);
  b.barrier();
  b.while_loop(
      {b.i32(128)}, [&](auto c) { return b.slt(zero, c[0]); },
      [&](auto c) {
        b.if_then(b.slt(local, c[0]), [&] {
          const Value other = b.load(kF32, shared, b.add(local, c[0]), 4);
          b.store(shared, local, b.fadd(b.load(kF32, shared, local, 4), other), 4);
        });
        b.barrier();
        return Builder::Values{b.lshr(c[0], b.i32(1))};
      });
  const Value sum = b.subgroup_shuffle_xor(b.load(kF32, shared, zero, 4), 1);
  const Value wide = b.subgroup_shuffle_xor(b.fpext(sum, Scalar::f64), 16);
  const Value large = b.subgroup_ballot(b.flt(x, sum), 0);
  const Value number = b.and_(b.popcount(large), b.i32(31));
  b.atomic_rmw(Rmw::fadd, out, zero, b.subgroup_shuffle(x, number), 4);
  b.if_then(b.ieq(b.add(local, b.subgroup_lane()), zero), [&] {
    b.atomic_rmw(Rmw::fadd, out, zero, b.fadd(sum, b.fptrunc(wide, Scalar::f32)), 4);
    b.atomic_rmw(Rmw::fmax, out, b.i32(1), sum, 4);
    b.atomic_rmw(Rmw::max_u, out, b.i32(2), b.subgroup_size(), 4);
    b.atomic_cas(out, b.i32(1), b.i64(0), b.i64(1), 8);
  });
  return std::move(b).finish();
}

// A kernel under construction that has every value operation, on values of so many lanes.
struct Everything {
  Builder b;
  uint16_t lanes;
  Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", false, true);
  Value own = b.private_alloc(Scalar::f32, 64);
  Value at = b.zext(b.group_id(0), Scalar::i64);
  Value next = at;

  void put(Value v) {
    if (b.type(v).scalar == Scalar::i1) v = b.zext(v, Scalar::i8);
    next = b.add(next, b.i64(1));
    b.store(out, next, v, static_cast<uint32_t>(kir::bytes(b.type(v).scalar)));
  }
  void integers();
  void floats();
  void conversions(bool f16);
  void atomics();
};

void Everything::integers() {
  for (Scalar s : {Scalar::i8, Scalar::i16, Scalar::i32, Scalar::i64}) {
    const Value x = b.load({s, lanes}, in, at, 8), y = b.load({s, lanes}, in, b.i64(9), 8);
    for (Value v : {b.add(x, y), b.sub(x, y), b.mul(x, y), b.mul_hi_s(x, y), b.mul_hi_u(x, y),
                    b.sdiv(x, y), b.udiv(x, y), b.srem(x, y), b.urem(x, y), b.and_(x, y),
                    b.or_(x, y), b.xor_(x, y), b.shl(x, y), b.lshr(x, y), b.ashr(x, y)}) {
      put(v);
    }
    for (Value v : {b.ieq(x, y), b.ine(x, y), b.slt(x, y), b.sle(x, y), b.ult(x, y), b.ule(x, y)}) {
      put(b.select(v, x, y));
      put(b.any(v));
      put(b.all(v));
    }
    put(b.sitofp(x, Scalar::f32));
    put(b.uitofp(y, Scalar::f64));
  }
}

void Everything::floats() {
  for (Scalar s : {Scalar::f32, Scalar::f64}) {
    const Value x = b.load({s, lanes}, in, at, 8), y = b.load({s, lanes}, in, b.i64(9), 8);
    for (Value v : {b.fadd(x, y), b.fsub(x, y), b.fmul(x, y), b.fdiv(x, y), b.fneg(x), b.fabs(x),
                    b.fsqrt(x), b.ffloor(x), b.fceil(x), b.ftrunc(x), b.frint(x), b.fma(x, y, x)}) {
      put(v);
    }
    for (Value v : {b.feq(x, y), b.fne(x, y), b.flt(x, y), b.fle(x, y)}) put(v);
    for (Scalar i : {Scalar::i8, Scalar::i16, Scalar::i32, Scalar::i64}) {
      put(b.fptosi(x, i));
      put(b.fptoui(y, i));
    }
    const Value mask = b.flt(x, y);
    put(b.masked_load({s, lanes}, in, at, mask, y, 8));
    b.masked_store(out, at, x, mask, 8);
    const Value indices = b.lane_iota({Scalar::i32, lanes});
    put(b.gather({s, lanes}, in, indices, mask, y, 8));
    b.scatter(out, indices, x, mask, 8);
  }
}

void Everything::conversions(bool f16) {
  const Value f = b.load({Scalar::f32, lanes}, in, at, 4);
  b.store(own, b.trunc(at, Scalar::i32), f, 4);
  put(b.load({Scalar::f32, lanes}, own, b.i32(3), 4));
  if (f16) {
    put(b.fptrunc(f, Scalar::f16));
    put(b.fpext(b.load({Scalar::f16, lanes}, in, at, 2), Scalar::f32));
  }
  put(b.fpext(f, Scalar::f64));
  put(b.bitcast(f, Scalar::i32));
}

void Everything::atomics() {
  for (Scalar s : {Scalar::f32, Scalar::f64}) {
    const Value v = b.load({s}, in, at, 8);
    for (Rmw op : {Rmw::fadd, Rmw::fmin, Rmw::fmax, Rmw::exchange}) {
      put(b.atomic_rmw(op, in, at, v, 8));
    }
  }
  for (Scalar s : {Scalar::i32, Scalar::i64}) {
    const Value v = b.load({s}, in, at, 8);
    for (Rmw op : {Rmw::add, Rmw::min_s, Rmw::max_s, Rmw::min_u, Rmw::max_u, Rmw::and_, Rmw::or_,
                   Rmw::xor_, Rmw::exchange}) {
      put(b.atomic_rmw(op, in, at, v, 8));
    }
    put(b.atomic_cas(in, at, v, v, 8));
  }
}

Kernel everything(const TargetModel& model, uint16_t lanes) {
  Everything e{Builder("everything", model), lanes};
  e.integers();
  e.floats();
  e.conversions(model.f16);
  e.atomics();
  e.b.kernel().params[0].written = true;
  return std::move(e.b).finish();
}

std::string text_of(const Binary& binary) {
  return {binary.bytes.begin(), binary.bytes.end()};
}

// --- PTX -----------------------------------------------------------------------------------------

TEST(PtxTest, IsAKernelWithParametersInOrder) {
  const TargetModel model = simt(kir::Format::ptx);
  const Binary binary = emit(block_sum(model), model);
  ASSERT_EQ(binary.bytes.back(), 0);
  const std::string ptx = text_of(binary);
  EXPECT_THAT(ptx, HasSubstr(".target sm_75"));
  EXPECT_THAT(ptx, HasSubstr(".visible .entry block_sum("));
  EXPECT_THAT(ptx, HasSubstr(".reqntid 256"));
  EXPECT_THAT(ptx, HasSubstr("bar.sync"));
  EXPECT_THAT(ptx, HasSubstr(".shared"));
  EXPECT_THAT(ptx, HasSubstr("shfl.sync.bfly.b32"));
  EXPECT_THAT(ptx, HasSubstr("shfl.sync.idx.b32"));
  EXPECT_THAT(ptx, HasSubstr("vote.sync.ballot.b32"));
  EXPECT_THAT(ptx, HasSubstr("popc.b32"));
  EXPECT_THAT(ptx, HasSubstr("atom.global.add.f32"));
  EXPECT_THAT(ptx, HasSubstr("ld.global.nc"));
  // A product and a sum that ptxas must not contract either.
  EXPECT_THAT(ptx, HasSubstr("mul.rn.f32"));
  EXPECT_THAT(ptx, HasSubstr("add.rn.f32"));
  EXPECT_THAT(ptx, Not(HasSubstr("fma.")));
}

TEST(PtxTest, FastFunctions) {
  kir::TargetModel model = simt(kir::Format::ptx);
  model.fast_exp2 = true;
  kir::Builder b("fast", model);
  const kir::Value x = b.pointer_param("x", true, true), at = b.local_id(0);
  const kir::Value v = b.load({kir::Scalar::f32, 2}, x, at, 4);
  b.store(x, at, b.frsqrt(b.freciprocal(b.fexp2(v))), 4);
  const std::string ptx = text_of(emit(std::move(b).finish(), model));
  for (const char* one : {"ex2.approx.ftz.f32", "rcp.approx.ftz.f32", "rsqrt.approx.ftz.f32"}) {
    const size_t first = ptx.find(one);
    ASSERT_NE(first, std::string::npos) << one << " in " << ptx;
    EXPECT_NE(ptx.find(one, first + 1), std::string::npos) << "a lane without " << one;
  }
}

size_t times_in(const std::string& text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// The two halves of a product are one instruction, whichever comes first, and in each lane.
TEST(PtxTest, ProductsAreWholeWhereBothHalvesAreWanted) {
  const kir::TargetModel model = simt(kir::Format::ptx);
  const auto ptx_of = [&](bool both) {
    kir::Builder b("product", model);
    const kir::Value p = b.pointer_param("x", true, true), at = b.local_id(0);
    const kir::Value x = b.load({kir::Scalar::i32, 2}, p, at, 4);
    const kir::Value y = b.splat(b.i32(1234567), 2);
    const kir::Value low = both ? b.mul(x, y) : x;
    b.store(p, at, b.xor_(low, b.mul_hi_u(x, y)), 4);
    return text_of(emit(std::move(b).finish(), model));
  };
  const std::string both = ptx_of(true), high = ptx_of(false);
  EXPECT_EQ(times_in(both, "inline asm\n\tmul.wide.u32"), 2u) << both;
  EXPECT_THAT(both, Not(HasSubstr("mul.hi")));
  EXPECT_THAT(both, Not(HasSubstr("mul.lo")));
  EXPECT_EQ(times_in(high, "mul.hi.u32"), 2u) << high;
}

// What is kept in caches is read by vectors with a policy, where machines have policies.
TEST(PtxTest, KeepsWhatIsReadOnce) {
  for (const auto& [cpu, has] : {std::pair{"sm_75", false}, {"sm_90", true}, {"sm_100", true}}) {
    kir::TargetModel model = simt(kir::Format::ptx);
    model.cpu = cpu;
    model.cache_policies = has;
    kir::Builder b("copy", model);
    const kir::Value x = b.pointer_param("x", true, false), y = b.pointer_param("y", false, true);
    b.evict_last(x);
    const kir::Type eight{kir::Scalar::i16, 8};
    const kir::Value at = b.mul(b.local_id(0), b.i32(16));
    b.store(y, at, b.load(eight, x, at, 16), 16);
    const kir::Value narrow = b.add(at, b.i32(8));
    b.store(y, narrow, b.load({kir::Scalar::i16, 4}, x, narrow, 8), 8);
    const std::string ptx = text_of(emit(std::move(b).finish(), model));
    EXPECT_EQ(ptx.find("evict_last") != std::string::npos, has) << ptx;
    EXPECT_EQ(ptx.find("ld.global.L2::cache_hint.v4.b32") != std::string::npos, has) << ptx;
    EXPECT_THAT(ptx, HasSubstr("ld.global.v2.b32"));
    if (has_ptxas()) {
      const Assembled a = assemble(ptx.c_str(), cpu);
      EXPECT_TRUE(a.ok) << a.said;
    }
  }
}

// What does not change while a kernel runs is made by the launch before all the same.
TEST(PtxTest, WaitsForTheLaunchBeforeItTouchesMemory) {
  for (const bool early : {false, true}) {
    kir::TargetModel model = simt(kir::Format::ptx);
    model.cpu = "sm_90";
    model.programmatic_dependent_launch = early;
    kir::Builder b("sum", model);
    const kir::Value x = b.pointer_param("x", true, false), y = b.pointer_param("y", false, true);
    b.set_invariant(x);
    const kir::Value memory = b.group_alloc(kir::Scalar::f32, 64);
    b.store(memory, b.local_id(0), b.load({kir::Scalar::f32, 1}, x, b.local_id(0), 4), 4);
    b.barrier();
    b.store(y, b.local_id(0), b.load({kir::Scalar::f32, 1}, memory, b.i32(7), 4), 4);
    const std::string ptx = text_of(emit(std::move(b).finish(), model));
    const size_t starts = ptx.find("\tgriddepcontrol.wait;\n");
    EXPECT_EQ(starts != std::string::npos, early) << ptx;
    EXPECT_LT(ptx.rfind("\t.reg"), starts) << ptx;
    EXPECT_THAT(ptx, HasSubstr("ld.global.nc"));
    if (early) EXPECT_LT(starts, ptx.find("\tld.")) << ptx;
    if (has_ptxas()) {
      const Assembled a = assemble(ptx.c_str(), "sm_90");
      EXPECT_TRUE(a.ok) << a.said;
    }
  }
}

TEST(PtxTest, Assembles) {
  if (!has_ptxas()) GTEST_SKIP() << "ptxas is not installed: PTX is checked as text only";
  TargetModel model = simt(kir::Format::ptx);
  for (const char* cpu : {"sm_75", "sm_90"}) {
    model.cpu = cpu;
    const Assembled sum = assemble(text_of(emit(block_sum(model), model)).c_str(), cpu);
    EXPECT_TRUE(sum.ok) << sum.said;
    for (uint16_t lanes : {1, 2, 4}) {
      const Assembled all = assemble(text_of(emit(everything(model, lanes), model)).c_str(), cpu);
      EXPECT_TRUE(all.ok) << lanes << " " << all.said;
    }
  }
}

// --- bitcode -------------------------------------------------------------------------------------

TEST(BitcodeTest, StatesWhatItNeeds) {
  TargetModel model = simt(kir::Format::llvm_bitcode);
  model.triple = "acme-unknown-unknown";  // no such target: no data layout then
  const std::string text = emit_text(block_sum(model), model);
  EXPECT_THAT(text, HasSubstr("target triple = \"acme-unknown-unknown\""));
  EXPECT_THAT(text, HasSubstr("define dso_local void @block_sum(ptr addrspace(1)"));
  EXPECT_THAT(text, HasSubstr("addrspace(3) global [256 x float]"));
  EXPECT_THAT(text, HasSubstr("declare i32 @primset_local_id(i32)"));
  EXPECT_THAT(text, HasSubstr("declare void @primset_barrier()"));
  EXPECT_THAT(text, HasSubstr("declare double @primset_subgroup_shuffle_xor_f64(double, i32)"));
  EXPECT_THAT(text, HasSubstr("declare float @primset_subgroup_shuffle_f32(float, i32)"));
  EXPECT_THAT(text, HasSubstr("declare i32 @primset_subgroup_ballot(i1, i32)"));
  const Binary binary = emit(block_sum(model), model);
  EXPECT_EQ(text_of(binary).substr(0, 2), "BC");
}

TEST(BitcodeTest, ForACpuHasTheEntryOfAnImage) {
  TargetModel model;
  model.format = kir::Format::llvm_bitcode;
  model.triple = "aarch64-linux-gnu";
  const std::string text = emit_text(everything(model, 4), model);
  EXPECT_THAT(text, HasSubstr("@everything(ptr readonly"));
  EXPECT_THAT(text, HasSubstr("target datalayout = \"e-"));
  EXPECT_THAT(text, Not(HasSubstr("primset_")));
}

// --- native images -------------------------------------------------------------------------------

TEST(NativeImageTest, AllOperationsAreSelfContained) {
  const TargetModel model = native_model();
  for (uint16_t lanes : {1, 4, 16, 64}) {
    EXPECT_NO_THROW(NativeRunner k(everything(model, lanes), model)) << lanes;
  }
  TargetModel narrow = model;
  narrow.vector_bytes = 16;
  EXPECT_THAT(emit_text(everything(narrow, 16), narrow), Not(HasSubstr("%zmm")));
}

TEST(NativeImageTest, NamesWhatIsMissing) {
  // fma on a CPU that has none is a call of the C library.
  TargetModel model = native_model();
  model.triple = "x86_64-linux-gnu";
  model.cpu = "x86-64-v2";
  model.f16 = false;
  model.fused_fma = true;
  Builder b("k", model);
  const Value p = b.pointer_param("p", true, true), x = b.load(kF64, p, b.i32(0), 8);
  b.store(p, b.i32(0), b.fma(x, x, x), 8);
  try {
    emit(std::move(b).finish(), model);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::internal);
    EXPECT_STREQ(e.what(), "native image: the code calls 'fma', which nothing supplies");
  }
}

TEST(NativeImageTest, RefusesOtherMachines) {
  TargetModel model;
  model.triple = "aarch64-linux-gnu";
  model.cpu = "generic";
  Builder b("k", model);
  b.store(b.pointer_param("p", false, true), b.i32(0), b.i32(1), 4);
  const Kernel kernel = std::move(b).finish();
  try {
    emit(kernel, model);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::not_implemented);
  }
  model.triple = "pdp11-dec-unix";
  EXPECT_THROW(emit(kernel, model), Error);
}

// --- errors and threads --------------------------------------------------------------------------

TEST(EmitTest, VerifiesFirst) {
  Builder b("k", {});
  b.barrier();
  try {
    emit(std::move(b).finish(), {});
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("K24: barrier exists on SIMT targets only"));
  }
}

TEST(EmitTest, LlvmDoesNotEndTheProcess) {
  const auto message = [](const std::function<void()>& f) -> std::string {
    try {
      run_guarded(f);
    } catch (const Error& e) {
      return e.what();
    }
    return "nothing thrown";
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(message([] { llvm::report_fatal_error("cannot select"); }), "LLVM: cannot select");
    EXPECT_EQ(message([] { throw Error(ErrorCode::internal, "own"); }), "own");
    EXPECT_EQ(message([] {}), "nothing thrown");
  }
}

TEST(EmitTest, ThreadsEmitAtOnce) {
  const TargetModel model = native_model();
  const Kernel kernel = everything(model, 16);
  const Binary expected = emit(kernel, model);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 3; ++k) EXPECT_EQ(emit(kernel, model).bytes, expected.bytes);
    });
  }
}

TEST(EmitTest, VersionNamesLlvm) {
  EXPECT_THAT(emitter_version(), HasSubstr(";llvm-22."));
  EXPECT_THAT(host_target_name(), HasSubstr(";"));
}

// --- time ----------------------------------------------------------------------------------------

// About 200 instructions on vectors of 16 f32, as a fused pointwise kernel has: polynomials,
// selects and comparisons over a masked tail.
Kernel vector_kernel(const TargetModel& model) {
  Builder b("pointwise", model);
  const Value x = b.pointer_param("x", true, false), y = b.pointer_param("y", true, false);
  const Value out = b.pointer_param("out", false, true), n = b.scalar_param("n", kI64);
  const Type t{Scalar::f32, 16};
  const auto body = [&](Value i, Value mask) {
    const Value zero = b.constant_f(t, 0);
    Value a = b.masked_load(t, x, i, mask, zero, 4), c = b.masked_load(t, y, i, mask, zero, 4);
    for (int k = 0; k < 14; ++k) {
      const Value p = b.fadd(b.fmul(a, b.constant_f(t, 0.5 + k)), c);
      c = b.select(b.flt(p, b.constant_f(t, 100 + k)), p, b.fdiv(c, b.fabs(p)));
      a = b.fma(a, c,
                b.bitcast(b.and_(b.bitcast(p, Scalar::i32), b.i32(0x7fffff00 + k)), Scalar::f32));
    }
    b.masked_store(out, i, b.fadd(a, c), mask, 4);
  };
  const Value begin = b.mul(b.zext(b.group_id(0), Scalar::i64), b.i64(4096));
  const Value limit = b.add(begin, b.i64(4096));
  const Value end = b.select(b.slt(limit, n), limit, n);
  b.for_loop(begin, end, b.i64(16), {}, [&](Value i, auto) {
    const Value left = b.splat(b.sub(end, i), 16);
    body(i, b.slt(b.lane_iota({Scalar::i64, 16}), left));
    return Builder::Values{};
  });
  return std::move(b).finish();
}

TEST(EmitTest, ReportsItsTime) {
  const TargetModel model = native_model();
  if (!model.fused_fma) GTEST_SKIP() << "this CPU has no fma";
  const Kernel kernel = vector_kernel(model);
  const auto report = [&](const TargetModel& m, const Kernel& k, const char* what) {
    std::vector<LlvmTimes> times(15);
    for (LlvmTimes& t : times) emit_llvm(k, m, &t);
    const auto median = [&](double LlvmTimes::* part) {
      std::vector<double> v;
      for (const LlvmTimes& t : times) v.push_back(t.*part);
      std::nth_element(v.begin(), v.begin() + 7, v.end());
      return v[7];
    };
    std::printf(
        "%s, %zu instructions: lower %.2f ms, optimize %.2f ms, codegen %.2f ms, link %.3f ms\n",
        what, k.insts.size(), median(&LlvmTimes::lower), median(&LlvmTimes::optimize),
        median(&LlvmTimes::codegen), median(&LlvmTimes::link));
  };
  report(model, kernel, "native image");
  const TargetModel gpu = simt(kir::Format::ptx);
  report(gpu, block_sum(gpu), "PTX");
}

// --- matrices ------------------------------------------------------------------------------------

// 64 products on the way from global memory through group memory.
Kernel matrices(const TargetModel& model) {
  Builder b("matrices", model);
  const Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", true, true);
  b.set_group_size(32);
  const Value tile = b.group_alloc(Scalar::i16, 512), lane = b.local_id(0);
  const auto copy = [&](uint32_t count, int64_t first) {
    const Value at = b.add(b.mul(lane, b.i32(count)), b.i32(first));
    b.copy_async(Scalar::i16, count, tile, at, in, at, b.slt(lane, b.i32(16)));
    b.copy_commit();
  };
  copy(8, 0), copy(4, 256), copy(2, 384);
  b.copy_wait(1);
  b.barrier();
  const Value at = b.mul(lane, b.i32(8));
  const Value x = b.matrix_load(tile, at, false), y = b.matrix_load(tile, at, true);
  const Value sums = b.load({Scalar::f32, 4}, out, at, 16), half = b.shuffle(y, y, {0, 1});
  b.store(out, at, b.matrix_multiply_bf16(x, half, b.matrix_multiply_f16(x, half, sums)), 16);
  return std::move(b).finish();
}

TEST(Ptx, HasMatricesAndAsynchronousCopies) {
  TargetModel model = simt(kir::Format::ptx);
  model.cpu = "sm_80";
  model.async_copy = model.matrix = true;
  const std::string text = llvm_text(matrices(model), model);
  for (const char* instruction :
       {"cp.async.cg.shared.global [", "cp.async.ca.shared.global [", "cp.async.commit_group",
        "cp.async.wait_group \t1", "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"})
    EXPECT_THAT(text, HasSubstr(instruction));
}

TEST(Ptx, MatricesAreWrittenAsPtxAlone) {
  TargetModel model = simt(kir::Format::llvm_bitcode);
  model.triple = "spirv64-unknown-unknown";
  model.async_copy = model.matrix = true;
  EXPECT_THROW(llvm_text(matrices(model), model), Error);
}

// A product of tiles of which one lies by rows and the other by terms, in `copies` times as much
// memory as it needs.
kir::Kernel group_product(const TargetModel& model, uint32_t copies) {
  Builder b("product", model);
  const Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", true, true);
  b.set_group_size(128);
  const Value left = b.group_alloc(Scalar::i16, 64 * 64 * copies),
              right = b.group_alloc(Scalar::i16, 128 * 64 * copies), thread = b.local_id(0);
  const Value at = b.mul(thread, b.i32(8));
  b.copy_async(Scalar::i16, 8, left, at, in, at, b.i1(true));
  b.copy_async(Scalar::i16, 8, right, at, in, at, b.i1(true));
  b.copy_commit();
  b.copy_wait(0);
  b.barrier();
  const Value sums = b.load({Scalar::f32, 64}, out, at, 16);
  const Builder::GroupTile a{left, b.i32(4096 * (int64_t{copies} - 1)), false},
      w{right, b.i32(0), true};
  const Value half = b.group_multiply_wait(b.group_multiply_f16(a, w, sums));
  b.store(out, at, b.group_multiply_wait(b.group_multiply_bf16(a, w, half)), 16);
  return std::move(b).finish();
}

TargetModel group_matrix_model() {
  TargetModel model = simt(kir::Format::ptx);
  model.cpu = "sm_90";
  model.async_copy = model.matrix = model.group_matrix = true;
  model.group_memory = 49152;
  model.large_group_memory = 232448;
  return model;
}

TEST(Ptx, HasMatricesInWorkgroupMemory) {
  const TargetModel model = group_matrix_model();
  const std::string text = llvm_text(group_product(model, 1), model);
  for (const char* instruction :
       {".target sm_90a", "fence.proxy.async.shared::cta", "wgmma.fence.sync.aligned",
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16",
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", ", a, b, adds, 1, 1, 0, 1;",
        "wgmma.commit_group.sync.aligned", "wgmma.wait_group.sync.aligned 0"})
    EXPECT_THAT(text, HasSubstr(instruction));
  EXPECT_THAT(text, Not(HasSubstr(".extern .shared")));
  EXPECT_THAT(llvm_text(group_product(model, 4), model), HasSubstr(".extern .shared .align 1024"));
}

TEST(Ptx, MatricesInWorkgroupMemoryAssemble) {
  if (!has_ptxas()) GTEST_SKIP() << "ptxas is not installed: PTX is checked as text only";
  const TargetModel model = group_matrix_model();
  for (uint32_t copies : {1u, 4u}) {
    const Assembled a = assemble(llvm_text(group_product(model, copies), model), "sm_90a");
    EXPECT_TRUE(a.ok) << a.said;
    EXPECT_THAT(a.said, Not(HasSubstr("serialized")));
  }
}

}  // namespace
}  // namespace primset::emit
