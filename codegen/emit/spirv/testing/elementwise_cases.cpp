#include "codegen/emit/spirv/testing/elementwise_cases.h"

#include <utility>

#include "codegen/kernel/ir/builder.h"
#include "primset/error.h"

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

// The builder's function of each operation, by what it takes.
using Unary = Value (Builder::*)(Value);
using Binary = Value (Builder::*)(Value, Value);
using Ternary = Value (Builder::*)(Value, Value, Value);
using Conversion = Value (Builder::*)(Value, Scalar);

constexpr std::pair<Op, Unary> kUnary[] = {{Op::FNeg, &Builder::fneg},
                                           {Op::FAbs, &Builder::fabs},
                                           {Op::FSqrt, &Builder::fsqrt},
                                           {Op::FFloor, &Builder::ffloor},
                                           {Op::FCeil, &Builder::fceil},
                                           {Op::FTrunc, &Builder::ftrunc},
                                           {Op::FRint, &Builder::frint},
                                           {Op::FExp2, &Builder::fexp2},
                                           {Op::FReciprocal, &Builder::freciprocal},
                                           {Op::FRsqrt, &Builder::frsqrt}};
constexpr std::pair<Op, Binary> kBinary[] = {
    {Op::Add, &Builder::add},         {Op::Sub, &Builder::sub},         {Op::Mul, &Builder::mul},
    {Op::MulHiS, &Builder::mul_hi_s}, {Op::MulHiU, &Builder::mul_hi_u}, {Op::SDiv, &Builder::sdiv},
    {Op::UDiv, &Builder::udiv},       {Op::SRem, &Builder::srem},       {Op::URem, &Builder::urem},
    {Op::And, &Builder::and_},        {Op::Or, &Builder::or_},          {Op::Xor, &Builder::xor_},
    {Op::Shl, &Builder::shl},         {Op::LShr, &Builder::lshr},       {Op::AShr, &Builder::ashr},
    {Op::FAdd, &Builder::fadd},       {Op::FSub, &Builder::fsub},       {Op::FMul, &Builder::fmul},
    {Op::FDiv, &Builder::fdiv},       {Op::IEq, &Builder::ieq},         {Op::INe, &Builder::ine},
    {Op::SLt, &Builder::slt},         {Op::SLe, &Builder::sle},         {Op::ULt, &Builder::ult},
    {Op::ULe, &Builder::ule},         {Op::FEq, &Builder::feq},         {Op::FNe, &Builder::fne},
    {Op::FLt, &Builder::flt},         {Op::FLe, &Builder::fle}};
constexpr std::pair<Op, Ternary> kTernary[] = {{Op::Fma, &Builder::fma},
                                               {Op::Select, &Builder::select}};
constexpr std::pair<Op, Conversion> kConversions[] = {
    {Op::Trunc, &Builder::trunc},     {Op::ZExt, &Builder::zext},
    {Op::SExt, &Builder::sext},       {Op::SIToFP, &Builder::sitofp},
    {Op::UIToFP, &Builder::uitofp},   {Op::FPToSI, &Builder::fptosi},
    {Op::FPToUI, &Builder::fptoui},   {Op::FPExt, &Builder::fpext},
    {Op::FPTrunc, &Builder::fptrunc}, {Op::Bitcast, &Builder::bitcast}};

// The function of an operation; null when the table has none.
template <typename F, size_t N>
F find_function(const std::pair<Op, F> (&table)[N], Op op) {
  for (const auto& [listed, function] : table) {
    if (listed == op) return function;
  }
  return nullptr;
}

Value apply(Builder& b, const ElementwiseCase& c, std::span<const Value> x) {
  if (const Unary f = find_function(kUnary, c.op)) return (b.*f)(x[0]);
  if (const Binary f = find_function(kBinary, c.op)) return (b.*f)(x[0], x[1]);
  if (const Ternary f = find_function(kTernary, c.op)) return (b.*f)(x[0], x[1], x[2]);
  if (const Conversion f = find_function(kConversions, c.op)) return (b.*f)(x[0], c.result);
  throw Error(ErrorCode::internal, "no builder function for " + std::string(kir::info(c.op).text));
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
