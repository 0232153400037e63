// Each rule of verifier.cpp has a case here that breaks it, and expects its message.
#include "codegen/kernel/verifier/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/kernel/ir/text.h"
#include "primset/error.h"

namespace primset::kir {
namespace {

using testing::HasSubstr;

TargetModel cpu() {
  return {};
}
TargetModel gpu() {
  TargetModel t;
  t.format = Format::ptx;
  t.simt = true;
  t.min_subgroup = t.max_subgroup = 32;
  return t;
}

// A kernel with two pointers (p written, q invariant), an i64 and an f32, and the given body.
Kernel with_body(const std::string& body) {
  return parse(
      "kernel @k(p: ptr<global> read write, q: ptr<global> read invariant, n: i64, x: f32) "
      "group_size(1, 1, 1) {\n"
      "%p = param[0] : ptr<global>  %q = param[1] : ptr<global>\n"
      "%n = param[2] : i64  %x = param[3] : f32\n"
      "%i = const 1 : i32  %c = const true : i1  %h = const 0x3c00 : f16\n"
      "%v = const 1.0 : vec<f32, 4>  %m = const true : vec<i1, 4>  %d = const 1.0 : f64\n" +
      body + "\n}");
}

std::string verdict(const Kernel& kernel, const TargetModel& target) {
  const auto violations = verify(kernel, target);
  return violations.empty() ? "sound" : violations[0].message;
}
TargetModel cpu_with_f16() {
  TargetModel t;
  t.f16 = true;
  return t;
}
std::string on_cpu(const std::string& body) {
  return verdict(with_body(body), cpu_with_f16());
}
std::string on_gpu(const std::string& body) {
  TargetModel t = gpu();
  t.f16 = true;
  return verdict(with_body(body), t);
}

std::string on_ballots(const std::string& body) {
  TargetModel t = gpu();
  t.f16 = t.subgroup_ballot = true;
  return verdict(with_body(body), t);
}

TEST(VerifierTest, AcceptsASoundKernel) {
  EXPECT_EQ(on_cpu("%s = for %n, %n, %n, %v : vec<f32, 4> do (%k: i64, %a: vec<f32, 4>) {"
                   "  %l = load %p, %k align 4 : vec<f32, 4>  %r = fadd %a, %l : vec<f32, 4>"
                   "  yield %r } store %p, %n, %s align 4"),
            "sound");
}

TEST(VerifierTest, K1Header) {
  EXPECT_THAT(verdict(parse("kernel @\"a b\"() group_size(1, 1, 1) {}"), cpu()),
              HasSubstr("K1: 'a b' is no C identifier"));
  EXPECT_THAT(verdict(parse("kernel @k() group_size(2, 1, 1) {}"), cpu()),
              HasSubstr("K1: a group of 2 threads; the target allows 1 to 1"));
  EXPECT_THAT(verdict(parse("kernel @k() group_size(1024, 2, 1) {}"), gpu()),
              HasSubstr("K1: a group of 2048 threads; the target allows 1 to 1024"));
  EXPECT_THAT(verdict(parse("kernel @k() group_size(8, 0, 1) {}"), gpu()),
              HasSubstr("K1: a group of 0"));
  Kernel empty;
  empty.name = "k";
  EXPECT_EQ(verdict(empty, cpu()), "K6: the kernel has no body");
}

TEST(VerifierTest, K2Parameters) {
  EXPECT_THAT(
      verdict(parse("kernel @k(n: i32, p: ptr<global> read) group_size(1, 1, 1) {}"), cpu()),
      HasSubstr("K2: pointer parameter 'p' stands after a scalar"));
  EXPECT_THAT(verdict(parse("kernel @k(n: i8) group_size(1, 1, 1) {}"), cpu()),
              HasSubstr("K2: parameter 'n' has type i8"));
  TargetModel small = cpu();
  small.param_bytes = 8;
  EXPECT_THAT(verdict(with_body(""), small),
              HasSubstr("K2: the parameters take 32 bytes of at most 8"));
}

TEST(VerifierTest, K3Lanes) {
  EXPECT_THAT(on_cpu("%a = const 1 : vec<i32, 3>"),
              HasSubstr("K3: no value can have type vec<i32, 3>"));
  EXPECT_THAT(on_cpu("%a = const 1 : vec<i32, 256>"), HasSubstr("K3: "));
  EXPECT_THAT(on_cpu("%a = const 0x0 : vec<ptr<global>, 2>"), HasSubstr("K3: "));
}

TEST(VerifierTest, K3Kinds) {
  EXPECT_THAT(on_cpu("%a = const 0x0 : bf16"), HasSubstr("K3: no value can have type bf16"));
  EXPECT_THAT(on_cpu("%a = const 0 : matrix<i8, a>"), HasSubstr("K3: "));
  EXPECT_THAT(on_cpu("%a = const 0x0 : matrix<f16, accumulator>"), HasSubstr("K3: "));
  Kernel mixed = with_body("%a = add %i, %i : i32");
  mixed.types[mixed.insts.back().results[0].id].kind = Type::Kind::pointer;
  EXPECT_THAT(verdict(mixed, cpu_with_f16()), HasSubstr("K3: "));
}

TEST(VerifierTest, K4Scopes) {
  EXPECT_EQ(
      on_cpu("if %c then { %a = add %i, %i : i32 yield } else { %b = add %a, %i : i32 yield }"),
      "K4: an operand is not defined before this use; %11 = add %10, %4 : i32; in block 2");
  Kernel twice = with_body("%a = add %i, %i : i32  %b = add %i, %i : i32");
  twice.insts.back().results = twice.insts[twice.insts.size() - 2].results;
  EXPECT_THAT(verdict(twice, cpu_with_f16()), HasSubstr("K4: a value is defined twice"));
  Kernel wild = with_body("%a = add %i, %i : i32");
  wild.insts.back().operands[1] = Value{};
  EXPECT_THAT(verdict(wild, cpu_with_f16()), HasSubstr("add %4, %invalid : i32"));
}

TEST(VerifierTest, K5Counts) {
  EXPECT_THAT(on_cpu("%a = add %i : i32"), HasSubstr("K5: add with a wrong number of operands"));
  EXPECT_THAT(on_cpu("add %i, %i"), HasSubstr("K5: "));
  EXPECT_THAT(on_cpu("for %n, %n do (%k: i64) { yield }"), HasSubstr("K5: "));
}

TEST(VerifierTest, K6Regions) {
  EXPECT_THAT(on_cpu("yield"), HasSubstr("K6: yield ends a region and stands nowhere else"));
  EXPECT_THAT(on_cpu("if %c then { } else { yield }"),
              HasSubstr("K6: block 1 does not end in yield"));
  EXPECT_THAT(on_cpu("if %c then { yield }"), HasSubstr("K6: if with a wrong number of regions"));
  Kernel shared = with_body("if %c then { yield } else { yield }");
  for (Inst& inst : shared.insts) {
    if (inst.op == Op::If) inst.regions[1] = inst.regions[0];
  }
  EXPECT_THAT(verdict(shared, cpu_with_f16()),
              HasSubstr("K6: a region does not exist or belongs to two"));
}

TEST(VerifierTest, K7Carried) {
  EXPECT_THAT(on_cpu("%r = if %c : i32 then { yield %i } else { yield %x }"),
              HasSubstr("K7: an arm of if yields other types than its results"));
  EXPECT_THAT(on_cpu("%r = for %n, %n, %n, %x : f32 do (%k: i32, %a: f32) { yield %a }"),
              HasSubstr("K7: a region takes other types than are carried"));
  EXPECT_THAT(on_cpu("%r = for %n, %n, %n, %x : f32 do (%k: i64, %a: f32) { yield %i }"),
              HasSubstr("K7: the body yields other types than are carried"));
  EXPECT_THAT(on_cpu("%r = while %x : i32 cond (%a: i32) { yield %c } do (%b: i32) { yield %b }"),
              HasSubstr("K7: the results are not of the types carried in"));
  EXPECT_THAT(on_cpu("%g = private_alloc[f32 x 1] : ptr<private>"
                     "%r = if %c : ptr<private> then { yield %g } else { yield %g }"),
              HasSubstr("K7: only pointers to global memory leave a region"));
}

TEST(VerifierTest, K8Conditions) {
  EXPECT_THAT(on_cpu("if %i then { yield } else { yield }"),
              HasSubstr("K8: if wants an i1 scalar"));
  EXPECT_THAT(on_cpu("for %n, %i, %n do (%k: i64) { yield }"), HasSubstr("K8: for wants bounds"));
  EXPECT_THAT(on_cpu("while cond { yield %i } do { yield }"),
              HasSubstr("K8: the condition of while"));
}

TEST(VerifierTest, K9Integers) {
  EXPECT_THAT(on_cpu("%a = add %x, %x : f32"),
              HasSubstr("K9: add wants integer operands; %10 = add"));
  EXPECT_THAT(on_cpu("%a = add %i, %n : i32"), HasSubstr("K9: add wants operands of one type"));
  EXPECT_THAT(on_cpu("%a = add %c, %c : i1"), HasSubstr("K9: add does not compute with i1"));
  EXPECT_THAT(on_cpu("%a = mul %i, %i : i64"), HasSubstr("K9: mul has the type of its operands"));
  EXPECT_EQ(on_cpu("%a = xor %c, %c : i1"), "sound");
}

TEST(VerifierTest, K10Floats) {
  EXPECT_EQ(on_cpu("%a = fadd %i, %i : i32"),
            "K10: fadd wants floating operands; %10 = fadd %4, %4 : i32; in the body");
  EXPECT_THAT(on_cpu("%a = fmul %x, %d : f32"), HasSubstr("K10: fmul wants operands of one type"));
  EXPECT_THAT(on_cpu("%a = fsqrt %x : f64"), HasSubstr("K10: fsqrt has the type of its operands"));
}

TEST(VerifierTest, K11Halves) {
  EXPECT_THAT(on_cpu("%a = fadd %h, %h : f16"), HasSubstr("K11: fadd does not compute in f16"));
  EXPECT_THAT(on_cpu("%a = flt %h, %h : i1"), HasSubstr("K11: flt does not compare f16"));
  EXPECT_THAT(on_cpu("%a = fptrunc %d : f16"),
              HasSubstr("K11: fptrunc converts f16 to and from f32"));
  EXPECT_EQ(on_cpu("%a = fpext %h : f32 %b = bitcast %h : i16"), "sound");
}

TEST(VerifierTest, K12Gates) {
  EXPECT_THAT(verdict(with_body(""), cpu()),
              HasSubstr("K12: const uses f16, which the target lacks"));
  TargetModel t = cpu();
  t.f16 = true;
  t.f64 = false;
  EXPECT_THAT(verdict(with_body(""), t), HasSubstr("K12: const uses f64, which the target lacks"));
  t.f64 = true;
  t.i64 = false;
  EXPECT_THAT(verdict(with_body(""), t), HasSubstr("K12: param uses i64, which the target lacks"));
  t.i64 = true;
  t.atomic_i64 = false;
  EXPECT_THAT(verdict(with_body("%a = atomic_rmw[add] %p, %i, %n align 8 : i64"), t),
              HasSubstr("K12: atomic_rmw needs 64-bit atomics"));
}

TEST(VerifierTest, K13Fma) {
  TargetModel t = cpu();
  t.f16 = true;
  t.fused_fma = false;
  EXPECT_THAT(verdict(with_body("%a = fma %x, %x, %x : f32"), t),
              HasSubstr("K13: fma is not rounded once on this target"));
}

TEST(VerifierTest, K14Comparisons) {
  EXPECT_THAT(on_cpu("%a = slt %x, %x : i1"), HasSubstr("K14: slt wants integers wider than i1"));
  EXPECT_THAT(on_cpu("%a = ieq %c, %c : i1"), HasSubstr("K14: ieq wants integers wider than i1"));
  EXPECT_THAT(on_cpu("%a = flt %i, %i : i1"), HasSubstr("K14: flt wants floating operands"));
  EXPECT_THAT(on_cpu("%a = flt %v, %v : i1"), HasSubstr("K14: flt gives an i1 for each lane"));
}

TEST(VerifierTest, K15Select) {
  EXPECT_THAT(on_cpu("%a = select %i, %x, %x : f32"),
              HasSubstr("K15: select wants an i1 condition"));
  EXPECT_THAT(on_cpu("%a = select %m, %x, %x : f32"),
              HasSubstr("K15: select wants an i1 condition"));
  EXPECT_THAT(on_cpu("%a = select %c, %x, %i : f32"),
              HasSubstr("K15: select chooses between values"));
  EXPECT_THAT(on_cpu("%g = private_alloc[f32 x 1] : ptr<private>"
                     "%a = select %c, %g, %g : ptr<private>"),
              HasSubstr("K15: select chooses no pointers"));
  EXPECT_EQ(on_cpu("%a = select %c, %v, %v : vec<f32, 4> %b = select %c, %p, %q : ptr<global>"),
            "sound");
}

TEST(VerifierTest, K16Conversions) {
  for (const char* bad :
       {"trunc %i : i64", "zext %n : i32", "sitofp %c : f32", "fptosi %x : i1", "fpext %d : f32",
        "fptrunc %x : f64", "bitcast %x : i64", "bitcast %n : ptr<global>", "zext %x : f64"}) {
    EXPECT_THAT(on_cpu(std::string("%a = ") + bad), HasSubstr("K16: ")) << bad;
  }
  EXPECT_THAT(on_cpu("%a = fptosi %v : i32"), HasSubstr("K16: fptosi keeps the number of lanes"));
}

TEST(VerifierTest, K17Vectors) {
  EXPECT_THAT(on_cpu("%a = splat %x : vec<i32, 4>"), HasSubstr("K17: splat makes a vector"));
  EXPECT_THAT(on_cpu("%a = active_lane_mask %x : vec<i1, 4>"),
              HasSubstr("K17: active_lane_mask makes an i1 vector of an integer"));
  EXPECT_THAT(on_cpu("%a = extract[4] %v : f32"),
              HasSubstr("K17: extract names a lane out of range"));
  EXPECT_THAT(on_cpu("%a = insert[4] %v, %x : vec<f32, 4>"),
              HasSubstr("K17: insert names a lane out"));
  EXPECT_THAT(on_cpu("%a = insert[0] %v, %i : vec<f32, 4>"),
              HasSubstr("K17: insert puts an element"));
  EXPECT_THAT(on_cpu("%a = shuffle[0, 8] %v, %v : vec<f32, 2>"),
              HasSubstr("K17: shuffle names a lane out"));
  EXPECT_THAT(on_cpu("%a = shuffle[0, 1] %v, %v : vec<f32, 4>"),
              HasSubstr("K17: shuffle has a lane for"));
  EXPECT_THAT(on_cpu("%a = any %v : i1"), HasSubstr("K17: any makes an i1 of an i1 vector"));
  EXPECT_THAT(on_cpu("%a = lane_iota : vec<f32, 4>"),
              HasSubstr("K17: lane_iota makes an integer vector"));
}

TEST(VerifierTest, K18Addresses) {
  EXPECT_THAT(on_cpu("%a = load %n, %i align 4 : i32"), HasSubstr("K18: load wants a pointer"));
  EXPECT_THAT(on_cpu("%a = load %p, %x align 4 : i32"),
              HasSubstr("K18: load wants an i32 or i64 index"));
  EXPECT_THAT(on_cpu("%a = gather %p, %i, %m, %v align 4 : vec<f32, 4>"),
              HasSubstr("K18: gather wants an i32 or i64 index for each lane"));
  EXPECT_THAT(on_cpu("%a = ptr_add %p, %i : ptr<global>"), HasSubstr("K18: ptr_add counts in i64"));
  EXPECT_THAT(on_cpu("%a = int_to_ptr %n : i64"), HasSubstr("K18: int_to_ptr makes a pointer"));
  EXPECT_THAT(on_cpu("%a = ptr_to_int %p : i32"), HasSubstr("K18: ptr_to_int makes an i64"));
  EXPECT_THAT(on_cpu("%a = ptr_to_int %n : i64"), HasSubstr("K18: ptr_to_int wants a pointer"));
}

TEST(VerifierTest, K19Memory) {
  EXPECT_THAT(on_cpu("store %p, %i, %c align 1"),
              HasSubstr("K19: store accesses numbers of 8 bits"));
  EXPECT_THAT(on_cpu("%a = load %p, %i align 8 : ptr<global>"), HasSubstr("K19: "));
  EXPECT_THAT(on_cpu("masked_store %p, %i, %v, %c align 4"),
              HasSubstr("K19: masked_store wants a mask"));
  EXPECT_THAT(on_cpu("%a = masked_load %p, %i, %m, %x align 4 : vec<f32, 4>"),
              HasSubstr("K19: masked_load wants a passthru"));
  EXPECT_THAT(on_cpu("%a = private_alloc[i1 x 4] : ptr<private>"),
              HasSubstr("K19: private_alloc holds"));
}

TEST(VerifierTest, K20Alignment) {
  EXPECT_THAT(on_cpu("store %p, %i, %x align 0"), HasSubstr("K20: store wants an alignment"));
  EXPECT_THAT(on_cpu("store %p, %i, %x align 12"), HasSubstr("K20: store wants an alignment"));
  EXPECT_THAT(on_cpu("%a = atomic_rmw[add] %p, %i, %i align 2 : i32"),
              HasSubstr("K20: atomic_rmw wants an alignment of at least its element's size"));
}

TEST(VerifierTest, K21ElementTypes) {
  EXPECT_THAT(on_cpu("%g = private_alloc[f32 x 4] : ptr<private> store %g, %i, %i align 4"),
              HasSubstr("K21: store accesses workgroup or private memory as another type"));
  EXPECT_EQ(on_cpu("%g = group_alloc[f32 x 4] : ptr<group> store %g, %i, %v align 4"), "sound");
}

TEST(VerifierTest, K22Allocs) {
  EXPECT_THAT(on_cpu("if %c then { %g = group_alloc[f32 x 4] : ptr<group> yield } else { yield }"),
              HasSubstr("K22: an alloc stands at the top level only"));
  EXPECT_THAT(on_cpu("%g = group_alloc[f32 x 0] : ptr<group>"),
              HasSubstr("K22: group_alloc holds"));
  EXPECT_THAT(on_cpu("%g = group_alloc[f32 x 9000] : ptr<group>"),
              HasSubstr("K22: 36000 bytes of workgroup memory; the target has 32768"));
  EXPECT_THAT(on_cpu("%g = private_alloc[f64 x 50000] : ptr<private>"),
              HasSubstr("K22: 400000 bytes"));
}

TEST(VerifierTest, K23Atomics) {
  EXPECT_THAT(on_cpu("%a = atomic_rmw[add] %p, %i, %x align 4 : f32"),
              HasSubstr("K23: atomic_rmw works on"));
  EXPECT_THAT(on_cpu("%a = atomic_rmw[fadd] %p, %i, %i align 4 : i32"), HasSubstr("K23: "));
  EXPECT_THAT(on_cpu("%a = atomic_cas %p, %i, %x, %x align 4 : f32"), HasSubstr("K23: "));
  EXPECT_EQ(on_cpu("%b = trunc %i : i8 %a = atomic_cas %p, %i, %b, %b align 1 : i8"), "sound");
  EXPECT_THAT(on_cpu("%b = trunc %i : i8 %a = atomic_rmw[add] %p, %i, %b align 1 : i8"),
              HasSubstr("K23: "));
  EXPECT_THAT(on_cpu("%a = atomic_cas %p, %i, %i, %n align 4 : i32"),
              HasSubstr("K23: atomic_cas wants"));
  EXPECT_THAT(on_cpu("%g = private_alloc[i32 x 4] : ptr<private>"
                     "%a = atomic_rmw[add] %g, %i, %i align 4 : i32"),
              HasSubstr("K23: atomic_rmw does not work on private memory"));
}

TEST(VerifierTest, K24SimtOnly) {
  EXPECT_THAT(on_cpu("barrier"), HasSubstr("K24: barrier exists on SIMT targets only"));
  EXPECT_THAT(on_cpu("%a = subgroup_size : i32"), HasSubstr("K24: subgroup_size exists on SIMT"));
  EXPECT_THAT(on_gpu("%a = subgroup_shuffle_xor[32] %x : f32"),
              HasSubstr("K24: subgroup_shuffle_xor has a"));
  EXPECT_THAT(on_gpu("%a = subgroup_shuffle_xor[1] %v : vec<f32, 4>"), HasSubstr("K24: "));
}

TEST(VerifierTest, K24Ballots) {
  const std::string ballot = "%l = slt %i, %i : i1 %a = subgroup_ballot[0] %l : i32";
  EXPECT_THAT(on_gpu(ballot), HasSubstr("K24: subgroup_ballot is none of the target's operations"));
  EXPECT_THAT(on_gpu("%a = subgroup_shuffle %x, %i : f32"),
              HasSubstr("K24: subgroup_shuffle is none of the target's operations"));
  EXPECT_EQ(on_ballots(ballot + " %b = subgroup_shuffle %x, %i : f32 %e = popcount %a : i32"),
            "sound");
  EXPECT_THAT(on_ballots("%l = slt %i, %i : i1 %a = subgroup_ballot[1] %l : i32"),
              HasSubstr("K24: subgroup_ballot names a word that has lanes"));
  EXPECT_THAT(on_ballots("%a = subgroup_ballot[0] %i : i32"), HasSubstr("wants an i1 scalar"));
  EXPECT_THAT(on_ballots("%a = subgroup_shuffle %x, %n : f32"), HasSubstr("wants an i32 lane"));
  EXPECT_THAT(on_ballots("%t = local_id[0] : i32 %tc = slt %t, %i : i1 "
                         "if %tc then { %a = subgroup_ballot[0] %tc : i32 yield } else { yield }"),
              HasSubstr("K25: subgroup_ballot is not reached"));
  EXPECT_THAT(on_cpu("%a = popcount %n : i64"), HasSubstr("K9: popcount works on i32"));
}

TEST(VerifierTest, K24RoundsToBf16) {
  EXPECT_THAT(on_gpu("%a = round_bf16 %x : i16"),
              HasSubstr("K24: round_bf16 is none of the target's operations"));
  TargetModel t = gpu();
  t.f16 = t.rounds_bf16 = true;
  EXPECT_EQ(verdict(with_body("%a = round_bf16 %v : vec<i16, 4>"), t), "sound");
  EXPECT_THAT(verdict(with_body("%a = round_bf16 %x : f32"), t),
              HasSubstr("K10: round_bf16 gives i16"));
}

TEST(VerifierTest, K24PowersOfTwo) {
  EXPECT_THAT(on_gpu("%a = fexp2 %x : f32"),
              HasSubstr("K24: fexp2 is none of the target's operations"));
  TargetModel t = gpu();
  t.f16 = t.fast_exp2 = true;
  EXPECT_EQ(verdict(with_body("%a = fexp2 %v : vec<f32, 4> %r = freciprocal %a : vec<f32, 4> "
                              "%s = frsqrt %r : vec<f32, 4>"),
                    t),
            "sound");
  EXPECT_THAT(verdict(with_body("%a = fexp2 %i : i32"), t), HasSubstr("K10: fexp2 works on f32"));
}

TEST(VerifierTest, K25Divergence) {
  const std::string thread = "%t = local_id[0] : i32 %tc = slt %t, %i : i1 ";
  const char* message = "K25: barrier is not reached by all threads together; barrier; in block";
  EXPECT_THAT(on_gpu(thread + "if %tc then { barrier yield } else { yield }"), HasSubstr(message));
  EXPECT_THAT(on_gpu(thread + "for %i, %t, %i do (%k: i32) { barrier yield }"), HasSubstr(message));
  EXPECT_THAT(on_gpu(thread + "while cond { yield %tc } do { barrier yield }"), HasSubstr(message));
  // Divergence that comes round a loop.
  EXPECT_THAT(on_gpu(thread + "%r = for %i, %i, %i, %i : i32 do (%k: i32, %a: i32) {"
                              "  %s = slt %a, %i : i1 if %s then { barrier yield } else { yield }"
                              "  yield %t }"),
              HasSubstr(message));
  // A loop that threads leave at different times makes its results divergent.
  EXPECT_THAT(on_gpu(thread + "%r = for %i, %t, %i, %i : i32 do (%k: i32, %a: i32) { yield %k }"
                              "%s = slt %r, %i : i1 if %s then { barrier yield } else { yield }"),
              HasSubstr(message));
  EXPECT_THAT(
      on_gpu(thread + "if %tc then { %a = subgroup_shuffle_xor[1] %x : f32 yield } else { yield }"),
      HasSubstr("K25: subgroup_shuffle_xor is not reached"));
  EXPECT_EQ(
      on_gpu("%g = group_id[0] : i32 %l = load %q, %g align 4 : i32 %s = slt %l, %i : i1 "
             "if %s then { for %i, %l, %i do (%k: i32) { barrier yield } yield } else { yield }"),
      "sound");
}

TEST(VerifierTest, K25Matrices) {
  TargetModel t = gpu();
  t.f16 = t.matrix = true;
  EXPECT_THAT(verdict(with_body("%g = group_alloc[i16 x 256] : ptr<group> %t = local_id[0] : i32"
                                "%y = slt %t, %i : i1 if %y then {"
                                "  %l = matrix_load[0] %g, %i : vec<i32, 4> yield"
                                "} else { yield }"),
                      t),
              HasSubstr("K25: matrix_load is not reached by all threads together"));
}

TEST(VerifierTest, K26Constants) {
  EXPECT_THAT(on_cpu("%a = const 0x100 : i8"), HasSubstr("K26: const has more bits than its type"));
  EXPECT_THAT(on_cpu("%a = const 0x2 : i1"), HasSubstr("K26: "));
  EXPECT_THAT(on_cpu("%a = const 0x0 : ptr<global>"), HasSubstr("K26: const is no pointer"));
}

TEST(VerifierTest, K27Ids) {
  EXPECT_THAT(on_cpu("%a = group_id[3] : i32"), HasSubstr("K27: group_id has dimension 0 to 2"));
  EXPECT_THAT(on_cpu("%a = local_id[0] : i64"),
              HasSubstr("K27: local_id has dimension 0 to 2 and type i32"));
  EXPECT_THAT(on_cpu("%a = param[4] : i64"), HasSubstr("K27: param names no parameter"));
  EXPECT_THAT(on_cpu("%a = param[2] : i32"),
              HasSubstr("K27: param has another type than declared"));
}

TEST(VerifierTest, K28ParameterUse) {
  EXPECT_THAT(on_cpu("%a = ptr_add %q, %n : ptr<global> store %a, %i, %x align 4"),
              HasSubstr("K28: store writes a parameter that is not marked written"));
  EXPECT_THAT(
      verdict(
          parse("kernel @k(p: ptr<global> write) group_size(1, 1, 1) {"
                "%p = param[0] : ptr<global> %i = const 0 : i32 %a = load %p, %i align 4 : i32}"),
          cpu()),
      HasSubstr("K28: load reads a parameter that is not marked read"));
  EXPECT_THAT(
      verdict(parse("kernel @k(p: ptr<global> write invariant) group_size(1, 1, 1) {}"), cpu()),
      HasSubstr("K28: parameter 'p' is invariant and written"));
}

TEST(VerifierTest, K29AsyncCopies) {
  const auto verdict_of = [](const std::string& body, bool exists = true) {
    TargetModel t = gpu();
    t.f16 = true;
    t.async_copy = exists;
    return verdict(with_body("%g = group_alloc[f32 x 64] : ptr<group>" + body), t);
  };
  const char* good = "copy_async[f32 x 4] %g, %i, %q, %n, %c copy_commit copy_wait[1]";
  EXPECT_EQ(verdict_of(good), "sound");
  EXPECT_THAT(verdict_of(good, false), HasSubstr("K29: copy_async is none of the target's"));
  EXPECT_THAT(verdict_of("copy_async[f32 x 3] %g, %i, %q, %n, %c"),
              HasSubstr("K29: copy_async copies 4, 8 or 16 bytes"));
  EXPECT_THAT(verdict_of("copy_async[i16 x 8] %g, %i, %q, %n, %c"),
              HasSubstr("K29: copy_async wants workgroup memory of its element"));
  EXPECT_THAT(verdict_of("copy_async[f32 x 4] %q, %i, %q, %n, %c"), HasSubstr("K29: "));
  EXPECT_THAT(verdict_of("copy_async[f32 x 4] %g, %i, %g, %n, %c"),
              HasSubstr("K29: copy_async wants a pointer to global memory"));
  EXPECT_THAT(verdict_of("copy_async[f32 x 4] %g, %i, %q, %n, %i"),
              HasSubstr("K29: copy_async wants an i1"));
  EXPECT_THAT(verdict_of("copy_async[f32 x 4] %g, %x, %q, %n, %c"), HasSubstr("K18: "));
}

TEST(VerifierTest, K30Matrices) {
  const auto verdict_of = [](const std::string& body, bool exists = true) {
    TargetModel t = gpu();
    t.f16 = true;
    t.matrix = exists;
    return verdict(
        with_body(
            "%g = group_alloc[i16 x 256] : ptr<group> %f = group_alloc[f32 x 64] : ptr<group>"
            "%a = const 0 : vec<i32, 4> %b = const 0 : vec<i32, 2> %w = const 0 : vec<i32, 8>" +
            body),
        t);
  };
  const char* good =
      "%l = matrix_load[0] %g, %i : vec<i32, 4> %r = matrix_multiply_bf16 %l, %b, %v : vec<f32, 4>";
  EXPECT_EQ(verdict_of(good), "sound");
  EXPECT_THAT(verdict_of(good, false), HasSubstr("K30: matrix_load is none of the target's"));
  EXPECT_THAT(verdict_of("%l = matrix_load[2] %g, %i : vec<i32, 4>"),
              HasSubstr("K30: matrix_load is transposed or not"));
  EXPECT_THAT(verdict_of("%l = matrix_load[0] %f, %i : vec<i32, 4>"),
              HasSubstr("K30: matrix_load wants workgroup memory of 16-bit elements"));
  EXPECT_THAT(verdict_of("%l = matrix_load[0] %q, %i : vec<i32, 4>"), HasSubstr("K30: "));
  EXPECT_THAT(verdict_of("%l = matrix_load[0] %g, %i : vec<i32, 2>"),
              HasSubstr("K30: matrix_load gives vec<i32, 4>"));
  EXPECT_THAT(verdict_of("%r = matrix_multiply_f16 %b, %b, %v : vec<f32, 4>"),
              HasSubstr("K30: matrix_multiply_f16 wants"));
  EXPECT_THAT(verdict_of("%r = matrix_multiply_f16 %a, %b, %w : vec<f32, 4>"), HasSubstr("K30: "));
}

TEST(VerifierTest, K31MatricesInWorkgroupMemory) {
  const auto verdict_of = [](const std::string& body, bool exists = true, bool four = true) {
    TargetModel t = gpu();
    t.f16 = t.matrix = true;
    t.group_matrix = exists;
    t.min_subgroup = t.max_subgroup = 32;
    Kernel kernel = with_body(
        "%g = group_alloc[i16 x 4096] : ptr<group> %f = group_alloc[f32 x 64] : ptr<group>"
        "%s = const 0 : vec<f32, 4> %w = const 0 : vec<f32, 2>" +
        body);
    if (four) kernel.group_size[0] = 128;
    return verdict(kernel, t);
  };
  const char* good =
      "%r = group_multiply_bf16[3] %g, %i, %g, %i, %s : vec<f32, 4>"
      "%y = group_multiply_wait[0] %r : vec<f32, 4>";
  EXPECT_EQ(verdict_of(good), "sound");
  EXPECT_THAT(verdict_of(good, false),
              HasSubstr("K31: group_multiply_bf16 is none of the target's"));
  EXPECT_THAT(verdict_of(good, true, false),
              HasSubstr("K31: group_multiply_bf16 is done by four whole subgroups"));
  EXPECT_THAT(verdict_of("%r = group_multiply_f16[4] %g, %i, %g, %i, %s : vec<f32, 4>"),
              HasSubstr("K31: group_multiply_f16 has operands by rows or by terms"));
  EXPECT_THAT(verdict_of("%r = group_multiply_f16[0] %g, %i, %f, %i, %s : vec<f32, 4>"),
              HasSubstr("K31: group_multiply_f16 wants workgroup memory of 16-bit elements"));
  EXPECT_THAT(verdict_of("%r = group_multiply_f16[0] %g, %i, %g, %i, %w : vec<f32, 2>"),
              HasSubstr("K31: group_multiply_f16 gives 4 or more sums"));
  EXPECT_THAT(verdict_of("%y = group_multiply_wait[0] %s : vec<f32, 4>"),
              HasSubstr("K31: group_multiply_wait waits for what group_multiply gives"));
  EXPECT_THAT(verdict_of("%r = group_multiply_f16[0] %g, %i, %g, %i, %s : vec<f32, 4>"
                         "%y = fadd %r, %r : vec<f32, 4>"),
              HasSubstr("K31: fadd takes what group_multiply has only begun"));
  EXPECT_THAT(verdict_of("%r = group_multiply_f16[0] %g, %i, %g, %i, %s : vec<f32, 4>"
                         "%z = group_multiply_wait[1] %r : vec<f32, 4>"
                         "%y = fadd %z, %z : vec<f32, 4>"),
              HasSubstr("K31: fadd takes what group_multiply has only begun"));
}

// What goes round a loop may be begun in it, and behind it.
TEST(VerifierTest, K31ProductsGoOnRoundLoops) {
  const auto verdict_of = [](const std::string& in_loop, const std::string& behind) {
    TargetModel t = gpu();
    t.f16 = t.matrix = t.group_matrix = true;
    t.min_subgroup = t.max_subgroup = 32;
    Kernel kernel = with_body(
        "%g = group_alloc[i16 x 4096] : ptr<group> %s = const 0 : vec<f32, 4> %one = const 1 : i32 "
        "%r = for %i, %i, %one, %s : vec<f32, 4> do (%at: i32, %now: vec<f32, 4>) { " +
        in_loop + " yield %then } " + behind);
    kernel.group_size[0] = 128;
    return verdict(kernel, t);
  };
  const std::string product =
      "%next = group_multiply_f16[0] %g, %i, %g, %i, %now : vec<f32, 4> "
      "%then = group_multiply_wait[1] %next : vec<f32, 4> ";
  const std::string wait = "%y = group_multiply_wait[0] %r : vec<f32, 4>";
  EXPECT_EQ(verdict_of(product, wait), "sound");
  EXPECT_THAT(verdict_of("%sum = fadd %now, %now : vec<f32, 4> " + product, wait),
              HasSubstr("K31: fadd takes what group_multiply has only begun"));
  EXPECT_THAT(verdict_of(product, "%y = fadd %r, %r : vec<f32, 4>"),
              HasSubstr("K31: fadd takes what group_multiply has only begun"));
}

TEST(VerifierTest, ThrowsAllViolations) {
  try {
    verify_or_throw(with_body("%a = add %x, %x : f32 %b = fadd %i, %i : i32"), gpu());
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::internal);
    EXPECT_THAT(e.what(), HasSubstr("kernel 'k' breaks rules of kernel IR:\n  K12: "));
    EXPECT_THAT(e.what(), HasSubstr("\n  K9: "));
    EXPECT_THAT(e.what(), HasSubstr("\n  K10: "));
  }
}

}  // namespace
}  // namespace primset::kir
