#include "codegen/emit/spirv/testing/elementwise_cases.h"

#include "codegen/kernel/ir/builder.h"

namespace primset::emit::testing {

using kir::Builder;
using kir::Group;
using kir::Op;
using kir::Scalar;
using kir::Type;
using kir::Value;

namespace {

constexpr Scalar kInts[] = {Scalar::i8, Scalar::i16, Scalar::i32, Scalar::i64};
constexpr Scalar kFloats[] = {Scalar::f32, Scalar::f64};

std::vector<Op> ops_of(Group group) {
  std::vector<Op> ops;
#define PRIMSET_KIR_OP(id, text, operands, results, in_group) \
  if (Group::in_group == group) ops.push_back(Op::id);
#include "codegen/kernel/ir/ops.def"
#undef PRIMSET_KIR_OP
  return ops;
}

Value apply(Builder& b, const ElementwiseCase& c, std::span<const Value> x) {
  switch (c.op) {
    case Op::Add:
      return b.add(x[0], x[1]);
    case Op::Sub:
      return b.sub(x[0], x[1]);
    case Op::Mul:
      return b.mul(x[0], x[1]);
    case Op::MulHiS:
      return b.mul_hi_s(x[0], x[1]);
    case Op::MulHiU:
      return b.mul_hi_u(x[0], x[1]);
    case Op::SDiv:
      return b.sdiv(x[0], x[1]);
    case Op::UDiv:
      return b.udiv(x[0], x[1]);
    case Op::SRem:
      return b.srem(x[0], x[1]);
    case Op::URem:
      return b.urem(x[0], x[1]);
    case Op::And:
      return b.and_(x[0], x[1]);
    case Op::Or:
      return b.or_(x[0], x[1]);
    case Op::Xor:
      return b.xor_(x[0], x[1]);
    case Op::Shl:
      return b.shl(x[0], x[1]);
    case Op::LShr:
      return b.lshr(x[0], x[1]);
    case Op::AShr:
      return b.ashr(x[0], x[1]);
    case Op::FAdd:
      return b.fadd(x[0], x[1]);
    case Op::FSub:
      return b.fsub(x[0], x[1]);
    case Op::FMul:
      return b.fmul(x[0], x[1]);
    case Op::FDiv:
      return b.fdiv(x[0], x[1]);
    case Op::FNeg:
      return b.fneg(x[0]);
    case Op::FAbs:
      return b.fabs(x[0]);
    case Op::FSqrt:
      return b.fsqrt(x[0]);
    case Op::FFloor:
      return b.ffloor(x[0]);
    case Op::FCeil:
      return b.fceil(x[0]);
    case Op::FTrunc:
      return b.ftrunc(x[0]);
    case Op::FRint:
      return b.frint(x[0]);
    case Op::Fma:
      return b.fma(x[0], x[1], x[2]);
    case Op::FExp2:
      return b.fexp2(x[0]);
    case Op::FReciprocal:
      return b.freciprocal(x[0]);
    case Op::FRsqrt:
      return b.frsqrt(x[0]);
    case Op::IEq:
      return b.ieq(x[0], x[1]);
    case Op::INe:
      return b.ine(x[0], x[1]);
    case Op::SLt:
      return b.slt(x[0], x[1]);
    case Op::SLe:
      return b.sle(x[0], x[1]);
    case Op::ULt:
      return b.ult(x[0], x[1]);
    case Op::ULe:
      return b.ule(x[0], x[1]);
    case Op::FEq:
      return b.feq(x[0], x[1]);
    case Op::FNe:
      return b.fne(x[0], x[1]);
    case Op::FLt:
      return b.flt(x[0], x[1]);
    case Op::FLe:
      return b.fle(x[0], x[1]);
    case Op::Select:
      return b.select(x[0], x[1], x[2]);
    case Op::Trunc:
      return b.trunc(x[0], c.result);
    case Op::ZExt:
      return b.zext(x[0], c.result);
    case Op::SExt:
      return b.sext(x[0], c.result);
    case Op::SIToFP:
      return b.sitofp(x[0], c.result);
    case Op::UIToFP:
      return b.uitofp(x[0], c.result);
    case Op::FPToSI:
      return b.fptosi(x[0], c.result);
    case Op::FPToUI:
      return b.fptoui(x[0], c.result);
    case Op::FPExt:
      return b.fpext(x[0], c.result);
    case Op::FPTrunc:
      return b.fptrunc(x[0], c.result);
    default:
      return b.bitcast(x[0], c.result);
  }
}

}  // namespace

Scalar in_memory(Scalar s) {
  return s == Scalar::i1 ? Scalar::i8 : s;
}

std::string name_of(const ElementwiseCase& c) {
  std::string text(kir::info(c.op).text);
  for (Scalar s : c.operands) text += " " + std::string(kir::name(s));
  return text + " -> " + std::string(kir::name(c.result));
}

std::vector<ElementwiseCase> int_binary_cases() {
  std::vector<ElementwiseCase> cases;
  for (Op op : ops_of(Group::IntBinary)) {
    for (Scalar s : kInts) cases.push_back({op, {s, s}, s});
  }
  for (Op op : {Op::And, Op::Or, Op::Xor}) {
    cases.push_back({op, {Scalar::i1, Scalar::i1}, Scalar::i1});
  }
  return cases;
}

std::vector<ElementwiseCase> float_cases() {
  std::vector<ElementwiseCase> cases;
  for (Group group : {Group::FloatUnary, Group::FloatBinary}) {
    for (Op op : ops_of(group)) {
      for (Scalar s : kFloats) {
        cases.push_back(
            {op, std::vector<Scalar>(static_cast<size_t>(kir::info(op).operands), s), s});
      }
    }
  }
  return cases;
}

std::vector<ElementwiseCase> fma_cases() {
  std::vector<ElementwiseCase> cases;
  for (Scalar s : kFloats) cases.push_back({Op::Fma, {s, s, s}, s});
  return cases;
}

std::vector<ElementwiseCase> fast_float_cases() {
  std::vector<ElementwiseCase> cases;
  for (Op op : {Op::FExp2, Op::FReciprocal, Op::FRsqrt})
    cases.push_back({op, {Scalar::f32}, Scalar::f32});
  return cases;
}

std::vector<ElementwiseCase> compare_cases() {
  std::vector<ElementwiseCase> cases;
  for (Op op : ops_of(Group::Compare)) {
    if (op == Op::FEq || op == Op::FNe || op == Op::FLt || op == Op::FLe) {
      for (Scalar s : kFloats) cases.push_back({op, {s, s}, Scalar::i1});
    } else {
      for (Scalar s : kInts) cases.push_back({op, {s, s}, Scalar::i1});
    }
  }
  return cases;
}

std::vector<ElementwiseCase> select_cases() {
  std::vector<ElementwiseCase> cases;
  for (Scalar s :
       {Scalar::i1, Scalar::i8, Scalar::i16, Scalar::i32, Scalar::i64, Scalar::f32, Scalar::f64}) {
    cases.push_back({Op::Select, {Scalar::i1, s, s}, s});
  }
  return cases;
}

std::vector<ElementwiseCase> int_conversion_cases() {
  std::vector<ElementwiseCase> cases;
  for (Scalar from : kInts) {
    cases.push_back({Op::Trunc, {from}, Scalar::i1});
    cases.push_back({Op::ZExt, {Scalar::i1}, from});
    cases.push_back({Op::SExt, {Scalar::i1}, from});
    for (Scalar to : kInts) {
      if (kir::width(to) < kir::width(from)) cases.push_back({Op::Trunc, {from}, to});
      if (kir::width(to) <= kir::width(from)) continue;
      cases.push_back({Op::ZExt, {from}, to});
      cases.push_back({Op::SExt, {from}, to});
    }
  }
  return cases;
}

std::vector<ElementwiseCase> float_conversion_cases() {
  std::vector<ElementwiseCase> cases;
  for (Scalar f : kFloats) {
    for (Scalar i : kInts) {
      cases.push_back({Op::SIToFP, {i}, f});
      cases.push_back({Op::UIToFP, {i}, f});
      cases.push_back({Op::FPToSI, {f}, i});
      cases.push_back({Op::FPToUI, {f}, i});
    }
    cases.push_back({Op::FPExt, {Scalar::f16}, Scalar::f32});
    cases.push_back({Op::FPTrunc, {Scalar::f32}, Scalar::f16});
  }
  cases.push_back({Op::FPExt, {Scalar::f32}, Scalar::f64});
  cases.push_back({Op::FPTrunc, {Scalar::f64}, Scalar::f32});
  cases.push_back({Op::Bitcast, {Scalar::f32}, Scalar::i32});
  cases.push_back({Op::Bitcast, {Scalar::i32}, Scalar::f32});
  cases.push_back({Op::Bitcast, {Scalar::f64}, Scalar::i64});
  cases.push_back({Op::Bitcast, {Scalar::i64}, Scalar::f64});
  cases.push_back({Op::Bitcast, {Scalar::f16}, Scalar::i16});
  cases.push_back({Op::Bitcast, {Scalar::i16}, Scalar::f16});
  return cases;
}

kir::Kernel elementwise_kernel(const kir::TargetModel& target,
                               std::span<const ElementwiseCase> cases, uint16_t lanes) {
  Builder b("elementwise", target);
  b.set_group_size(kElementwiseThreads);
  std::vector<std::vector<Value>> pointers;
  for (size_t i = 0; i < cases.size(); ++i) {
    auto& p = pointers.emplace_back();
    for (size_t j = 0; j < cases[i].operands.size(); ++j) {
      p.push_back(b.pointer_param("x" + std::to_string(i) + "_" + std::to_string(j), true, false));
    }
    p.push_back(b.pointer_param("out" + std::to_string(i), false, true));
  }
  const Value thread = b.add(b.mul(b.group_id(0), b.i32(kElementwiseThreads)), b.local_id(0));
  const Value index = b.mul(thread, b.i32(lanes));
  for (size_t i = 0; i < cases.size(); ++i) {
    std::vector<Value> x;
    for (size_t j = 0; j < cases[i].operands.size(); ++j) {
      const Scalar s = in_memory(cases[i].operands[j]);
      const auto align = static_cast<uint32_t>(kir::bytes(s) * lanes);
      const Value v = b.load(Type{s, lanes}, pointers[i][j], index, align);
      x.push_back(cases[i].operands[j] == Scalar::i1 ? b.trunc(v, Scalar::i1) : v);
    }
    Value y = apply(b, cases[i], x);
    if (cases[i].result == Scalar::i1) y = b.zext(y, Scalar::i8);
    const auto align = static_cast<uint32_t>(kir::bytes(in_memory(cases[i].result)) * lanes);
    b.store(pointers[i].back(), index, y, align);
  }
  return std::move(b).finish();
}

}  // namespace primset::emit::testing
