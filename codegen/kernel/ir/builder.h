// Builds kernel IR. Every method checks types (Error{internal}: a mistake of the caller), folds
// constants and the identities x+0, x*1, x*0, x&0, select(const, ..), reuses equal pure values in
// scope (CSE), and returns the value. Folding never changes a floating-point result, not even the
// sign of a zero or a NaN. finish() removes dead instructions.
//
// A binary operation accepts a scalar and a vector: the scalar is splat. Structured control flow
// takes callables that build the region's body:
//
//   Value sum = b.for_loop(lo, hi, step, {zero}, [&](Value i, std::span<const Value> carried) {
//     return Builder::Values{b.fadd(carried[0], b.load(kF32, p, i, 4))};
//   })[0];
//
// A branch on a constant, and a loop with a known trip count of 0 or 1, emit no control flow.
#ifndef PRIMSET_CODEGEN_KERNEL_IR_BUILDER_H_
#define PRIMSET_CODEGEN_KERNEL_IR_BUILDER_H_

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/kernel/ir/ir.h"
#include "codegen/kernel/ir/target_model.h"

namespace primset::kir {

class Builder {
 public:
  using Values = std::vector<Value>;
  using BodyFn = std::function<Values(std::span<const Value> args)>;

  Builder(std::string kernel_name, const TargetModel& target);

  const TargetModel& target() const { return target_; }
  Type type(Value v) const { return kernel_.types[v.id]; }
  // The finished kernel; the builder must not be used afterwards.
  Kernel finish() &&;
  Kernel& kernel() { return kernel_; }

  // Parameters may be added at any time; finish() orders pointers before scalars.
  Value pointer_param(std::string name, bool read, bool written, bool invariant = false);
  void evict_last(Value pointer_param);     // Param::evict_last
  void set_invariant(Value pointer_param);  // Param::invariant
  Value scalar_param(std::string name, Type type);
  void set_group_size(uint32_t x, uint32_t y = 1, uint32_t z = 1);
  void set_min_groups_per_multiprocessor(uint32_t count) {
    kernel_.min_groups_per_multiprocessor = count;
  }

  // Leaves.
  Value constant_bits(Type t, uint64_t bits);
  Value constant(Type t, int64_t v);   // integers, or a whole number in a float type
  Value constant_f(Type t, double v);  // f32 (rounded from double) or f64
  Value i1(bool v) { return constant_bits(kI1, v); }
  Value i32(int64_t v) { return constant(kI32, v); }
  Value i64(int64_t v) { return constant(kI64, v); }
  Value group_id(int dim), group_count(int dim), local_id(int dim);
  Value lane_iota(Type integer_vector);

  // The constant an SSA value is known to be (each lane, for a vector).
  std::optional<uint64_t> known_bits(Value v) const;
  std::optional<int64_t> known_int(Value v) const;  // sign-extended

  // The instruction that makes v if it is an `op`, else null.
  const Inst* made_by(Value v, Op op) const;

  // Arithmetic. Integers:
  Value add(Value a, Value b), sub(Value a, Value b), mul(Value a, Value b);
  Value mul_hi_s(Value a, Value b), mul_hi_u(Value a, Value b);
  Value sdiv(Value a, Value b), udiv(Value a, Value b), srem(Value a, Value b),
      urem(Value a, Value b);
  Value and_(Value a, Value b), or_(Value a, Value b), xor_(Value a, Value b), not_(Value a);
  Value shl(Value a, Value n), lshr(Value a, Value n), ashr(Value a, Value n);
  Value popcount(Value a);
  // Floating point:
  Value fadd(Value a, Value b), fsub(Value a, Value b), fmul(Value a, Value b),
      fdiv(Value a, Value b);
  Value fneg(Value a), fabs(Value a), fsqrt(Value a);
  Value ffloor(Value a), fceil(Value a), ftrunc(Value a), frint(Value a);
  Value fma(Value a, Value b, Value c);                         // only where target().fused_fma
  Value fexp2(Value a), freciprocal(Value a), frsqrt(Value a);  // only where target().fast_exp2
  Value round_bf16(Value a);                                    // only where target().rounds_bf16

  // Comparisons and choice.
  Value ieq(Value a, Value b), ine(Value a, Value b);
  Value slt(Value a, Value b), sle(Value a, Value b), ult(Value a, Value b), ule(Value a, Value b);
  Value feq(Value a, Value b), fne(Value a, Value b), flt(Value a, Value b), fle(Value a, Value b);
  Value select(Value c, Value a, Value b);

  // Conversions to a type with the same lanes; the identity when nothing changes.
  Value trunc(Value a, Scalar to), zext(Value a, Scalar to), sext(Value a, Scalar to);
  Value int_resize(Value a, Scalar to, bool sign);  // trunc, zext or sext as the widths say
  Value sitofp(Value a, Scalar to), uitofp(Value a, Scalar to);
  Value fptosi(Value a, Scalar to), fptoui(Value a, Scalar to);
  Value fpext(Value a, Scalar to), fptrunc(Value a, Scalar to);
  Value bitcast(Value a, Scalar to);

  // Vectors.
  Value splat(Value scalar, uint16_t lanes);        // the identity for lanes == 1
  Value active_lane_mask(Value n, uint16_t lanes);  // i1: the lanes whose number is below n, signed
  Value extract(Value v, uint32_t lane);            // the identity for a scalar
  Value insert(Value v, Value scalar, uint32_t lane);
  Value shuffle(Value a, Value b, std::vector<uint16_t> lanes);
  Value any(Value mask), all(Value mask);  // the identity for a scalar

  // Memory; index is i32 or i64 and counts elements of t.scalar.
  Value ptr_add(Value p, Value byte_offset), int_to_ptr(Value address), ptr_to_int(Value p);
  // The lowest 32 bits of an address, with or without 64-bit integers: what tells its alignment.
  Value address_low_word(Value p);
  Value load(Type t, Value p, Value index, uint32_t align);
  void store(Value p, Value index, Value v, uint32_t align);
  Value masked_load(Type t, Value p, Value index, Value mask, Value passthru, uint32_t align);
  void masked_store(Value p, Value index, Value v, Value mask, uint32_t align);
  // A hint: the element `ahead` after p[index] will be accessed soon. The address may be invalid.
  void prefetch(Scalar elem, Value p, Value index, uint32_t ahead, bool to_write);
  Value gather(Type t, Value p, Value indices, Value mask, Value passthru, uint32_t align);
  void scatter(Value p, Value indices, Value v, Value mask, uint32_t align);
  Value atomic_rmw(Rmw op, Value p, Value index, Value v, uint32_t align);
  Value atomic_cas(Value p, Value index, Value expected, Value desired, uint32_t align);
  Value group_alloc(Scalar elem, uint32_t count), private_alloc(Scalar elem, uint32_t count);

  // Asynchronous copies; see ops.def. `keep`: i1, false for zeros.
  void copy_async(Scalar elem, uint32_t count, Value to, Value to_index, Value from,
                  Value from_index, Value keep);
  void copy_commit(), copy_wait(uint32_t running);

  // Cooperative matrices; see ops.def. `matrix` is the result's type; lines are `distance` vectors
  // apart.
  Value cooperative_load(Type matrix, Value p, Value index, uint32_t distance, bool by_columns);
  Value cooperative_multiply(Value left, Value right, Value sums);
  Value cooperative_scale(Value sums, Value factors);
  void cooperative_store(Value p, Value index, Value sums, uint32_t distance);

  // Matrices held by a subgroup; see ops.def. a: vec<i32, 4>, b: vec<i32, 2>, c: vec<f32, 4>.
  Value matrix_load(Value p, Value index, bool transposed);
  Value matrix_multiply_f16(Value a, Value b, Value c),
      matrix_multiply_bf16(Value a, Value b, Value c);
  // Those in workgroup memory; see ops.def. Sums are begun, then waited for.
  struct GroupTile {
    Value memory, index;
    bool by_terms;
  };
  Value group_multiply_f16(const GroupTile& a, const GroupTile& b, Value sums),
      group_multiply_bf16(const GroupTile& a, const GroupTile& b, Value sums);
  // Waits until at most the last `going_on` products are in flight; 0: all sums are complete.
  Value group_multiply_wait(Value sums, uint32_t going_on = 0);

  // The workgroup.
  void barrier();
  Value subgroup_size(), subgroup_lane(), subgroup_shuffle_xor(Value v, uint32_t mask);
  Value subgroup_shuffle(Value v, Value lane), subgroup_ballot(Value condition, uint32_t word);

  // Control flow. Regions return the values they yield.
  Values if_else(Value cond, const std::function<Values()>& then_body,
                 const std::function<Values()>& else_body);
  void if_then(Value cond, const std::function<void()>& body);
  // iv runs from lo while iv < hi (signed) by step > 0; iv has lo's type.
  Values for_loop(Value lo, Value hi, Value step, Values carried,
                  const std::function<Values(Value iv, std::span<const Value> carried)>& body);
  Values while_loop(Values carried, const std::function<Value(std::span<const Value>)>& cond,
                    const std::function<Values(std::span<const Value>)>& body);

  // The block that instructions are added to now.
  BlockId block() const { return current_; }

  // Copies an instruction of another kernel with operands of this one. Not for parameters and
  // control flow.
  Values repeat(const Inst& inst, const Kernel& of, std::span<const Value> operands);

 private:
  Value add_param(Param param);
  Value at_entry(Op op, Type result, Imm imm);
  void order_params();
  using RegionFn = std::function<Values(std::span<const Value>)>;

  Value new_value(Type t);
  // Adds an instruction as it is: no folding, no sharing. Results are made from `results`.
  InstId append(Op op, std::span<const Value> operands, std::span<const Type> results, Imm imm = {},
                std::vector<BlockId> regions = {});
  // Folds, else finds an equal pure value in scope, else appends.
  Value emit(Op op, Type result, std::initializer_list<Value> operands, Imm imm = {});
  void effect(Op op, std::initializer_list<Value> operands, Imm imm = {});
  Values values_of(InstId inst) const {
    const auto& results = kernel_.insts[inst].results;
    return {results.begin(), results.end()};
  }
  BlockId region(std::span<const Type> params, const RegionFn& body, Values* yielded);

  // builder_ops.cpp: operand checks shared by a group of operations.
  void require(bool ok, Op op, std::initializer_list<Value> operands, const char* wants) const;
  void match_lanes(Value& a, Value& b);
  void match_lanes(Value& v, uint16_t lanes);
  Value int_binary(Op op, Value a, Value b);
  Value float_unary(Op op, Value a);
  Value fast_unary(Op op, Value a);
  Value float_binary(Op op, Value a, Value b);
  Value compare(Op op, Value a, Value b, bool floating);
  Value convert(Op op, Value a, Scalar to, bool ok, const char* wants);
  Value matrix_multiply(Op op, Value a, Value b, Value c);
  Value group_multiply(Op op, const GroupTile& a, const GroupTile& b, Value sums);
  void check_address(Op op, Value p, Value index, uint16_t index_lanes) const;

  // builder_fold.cpp
  std::optional<Value> fold(Op op, Type result, std::span<const Value> operands, const Imm& imm);
  std::optional<Value> fold_int(Op op, Type t, Value a, Value b);
  std::optional<Value> fold_compare(Op op, Type t, Value a, Value b);
  std::optional<Value> fold_compare_of_widened(Op op, Type t, Value wide, uint64_t constant,
                                               bool constant_first);
  std::optional<Value> fold_select(Type t, Value c, Value a, Value b);
  std::optional<Value> fold_float_unary(Op op, Type t, Value a);
  std::optional<Value> fold_convert(Op op, Type t, Value a);
  std::optional<Value> fold_vector(Op op, Type t, std::span<const Value> operands, const Imm& imm);
  void drop_unused();

  Kernel kernel_;
  TargetModel target_;
  BlockId current_ = 0;
  std::ptrdiff_t entry_insts_ = 0;  // leading instructions of the body made by at_entry
  std::vector<InstId> defs_;        // by Value::id; kNoInst for the parameter of a block
  // Pure instructions made in the current block and the ones around it, by hash.
  std::vector<std::unordered_multimap<size_t, InstId>> scopes_;
};

}  // namespace primset::kir

#endif  // PRIMSET_CODEGEN_KERNEL_IR_BUILDER_H_
