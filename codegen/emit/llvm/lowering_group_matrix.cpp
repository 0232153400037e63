// Products of matrices in workgroup memory: wgmma of sm_90a. LLVM has no intrinsics for it, so that
// it is written as text (PTX ISA, "Asynchronous warpgroup level matrix instructions").
#include <fmt/format.h>

#include "codegen/emit/llvm/lowering.h"
#include "llvm/IR/InlineAsm.h"

namespace primset::emit {

using kir::Op;

namespace {

constexpr uint32_t kLineBytes = 128, kTerms = 64;
// One instruction takes so many terms.
constexpr uint32_t kTermsAtOnce = 16;

// The fields of a tile's descriptor. Lengths are in units of 16 bytes.
constexpr uint64_t units(uint64_t bytes) {
  return bytes >> 4;
}
constexpr uint64_t kSwizzled = uint64_t{1} << 62;  // chunks of 16 bytes, over lines of 128
constexpr uint64_t kNextEight = units(8 * kLineBytes) << 32;  // from eight lines to the next eight
// A tile by terms is cut into blocks of 64 rows.
constexpr uint64_t kNextBlock = units(uint64_t{kTerms} * kLineBytes) << 16;

// From the terms of one instruction to those of the next.
uint64_t step(bool by_terms) {
  return units(by_terms ? kTermsAtOnce * kLineBytes : kTermsAtOnce * 2);
}

std::string listed(uint32_t count) {
  std::string text;
  for (uint32_t i = 0; i < count; ++i) text += fmt::format("{}${}", i == 0 ? "" : ", ", i);
  return text;
}

// Outputs, each of which begins as an input.
std::string in_place(uint32_t count) {
  std::string text;
  for (uint32_t i = 0; i < count; ++i) text += "=f,";
  for (uint32_t i = 0; i < count; ++i) text += fmt::format("{},", i);
  return text;
}

}  // namespace

llvm::Value* Lowering::ptx_statement(const char* text) {
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), false);
  return b_.CreateCall(type, llvm::InlineAsm::get(type, text, "~{memory}", true));
}

llvm::Value* Lowering::tile_descriptor(const kir::Inst& inst, size_t operand_index, bool by_terms) {
  llvm::Value* at =
      b_.CreateGEP(b_.getInt16Ty(), operand(inst, operand_index), operand(inst, operand_index + 1));
  llvm::Value* address = b_.CreateAnd(b_.CreatePtrToInt(at, b_.getInt64Ty()), 0x3ffff);
  const uint64_t lengths = kNextEight | (by_terms ? kNextBlock : uint64_t{1} << 16);
  return b_.CreateOr(b_.CreateLShr(address, 4), b_.getInt64(lengths | kSwizzled));
}

// One statement of inline assembly for all steps along k: the sums stay in the same registers, and
// no instruction of LLVM's may come between the products. They are committed as one group, which
// group_multiply_wait waits for.
llvm::Value* Lowering::group_multiply(const kir::Inst& inst) {
  const uint32_t count = result_type(inst).lanes;
  const bool a_by_terms = (inst.imm.index & 1) != 0, b_by_terms = (inst.imm.index & 2) != 0;
  const char* element = inst.op == Op::GroupMultiplyF16 ? "f16" : "bf16";
  std::string text =
      "{ .reg .pred adds; .reg .b32 one; .reg .b64 a, b; mov.b32 one, 1; setp.ne.b32 adds, one, 0;"
      " wgmma.fence.sync.aligned;";
  for (uint32_t k = 0; k < kTerms / kTermsAtOnce; ++k) {
    text += fmt::format(
        " add.s64 a, ${}, {}; add.s64 b, ${}, {};"
        " wgmma.mma_async.sync.aligned.m64n{}k{}.f32.{}.{} {{{}}}, a, b, adds, 1, 1, {:d}, {:d};",
        2 * count, k * step(a_by_terms), 2 * count + 1, k * step(b_by_terms), 2 * count,
        kTermsAtOnce, element, element, listed(count), a_by_terms, b_by_terms);
  }
  text += " wgmma.commit_group.sync.aligned; }";

  Values in;
  for (uint32_t i = 0; i < count; ++i) in.push_back(b_.CreateExtractElement(operand(inst, 4), i));
  in.push_back(tile_descriptor(inst, 0, a_by_terms));
  in.push_back(tile_descriptor(inst, 2, b_by_terms));
  std::vector<llvm::Type*> in_types;
  for (llvm::Value* v : in) in_types.push_back(v->getType());
  auto* sums = llvm::StructType::get(context_, std::vector<llvm::Type*>(count, b_.getFloatTy()));
  auto* function = llvm::FunctionType::get(sums, in_types, false);
  auto* code = llvm::InlineAsm::get(function, text, in_place(count) + "l,l,~{memory}", true);
  llvm::CallInst* made = b_.CreateCall(function, code, in);
  made->setConvergent();
  llvm::Value* out = llvm::PoisonValue::get(type(result_type(inst)));
  for (uint32_t i = 0; i < count; ++i)
    out = b_.CreateInsertElement(out, b_.CreateExtractValue(made, i), i);
  return out;
}

// The sums pass through a statement behind the wait, so that nothing reads them before it. Those
// that are not there yet do not: a copy would read them.
llvm::Value* Lowering::group_multiply_wait(const kir::Inst& inst) {
  ptx_statement(fmt::format("wgmma.wait_group.sync.aligned {};", inst.imm.index).c_str());
  if (inst.imm.index > 0) return operand(inst, 0);
  const uint32_t count = result_type(inst).lanes;
  Values in;
  for (uint32_t i = 0; i < count; ++i) in.push_back(b_.CreateExtractElement(operand(inst, 0), i));
  auto* sums = llvm::StructType::get(context_, std::vector<llvm::Type*>(count, b_.getFloatTy()));
  auto* function =
      llvm::FunctionType::get(sums, std::vector<llvm::Type*>(count, b_.getFloatTy()), false);
  auto* nothing = llvm::InlineAsm::get(function, "", in_place(count) + "~{memory}", true);
  llvm::Value* passed = b_.CreateCall(function, nothing, in);
  llvm::Value* out = llvm::PoisonValue::get(type(result_type(inst)));
  for (uint32_t i = 0; i < count; ++i)
    out = b_.CreateInsertElement(out, b_.CreateExtractValue(passed, i), i);
  return out;
}

}  // namespace primset::emit
