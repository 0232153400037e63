// The builder's operations on values and memory: operand checks, then emit().
#include <algorithm>
#include <bit>
#include <string>

#include "codegen/kernel/ir/builder.h"
#include "primset/error.h"

namespace primset::kir {

void Builder::require(bool ok, Op op, std::initializer_list<Value> operands,
                      const char* wants) const {
  if (ok) return;
  std::string message =
      "kernel builder: " + std::string(info(op).text) + " wants " + wants + "; got ";
  const char* separator = "";
  for (Value v : operands) {
    message += separator + to_string(type(v));
    separator = ", ";
  }
  throw Error(ErrorCode::internal, message);
}

void Builder::match_lanes(Value& v, uint16_t lanes) {
  if (type(v).lanes == 1 && lanes > 1) v = splat(v, lanes);
}

void Builder::match_lanes(Value& a, Value& b) {
  match_lanes(a, type(b).lanes);
  match_lanes(b, type(a).lanes);
}

// --- arithmetic ----------------------------------------------------------------------------------

Value Builder::int_binary(Op op, Value a, Value b) {
  match_lanes(a, b);
  const bool logic = op == Op::And || op == Op::Or || op == Op::Xor;
  const Scalar s = type(a).scalar;
  require(type(a) == type(b) && is_int(s) && (logic || s != Scalar::i1), op, {a, b},
          "two integers of one type");
  return emit(op, type(a), {a, b});
}

Value Builder::add(Value a, Value b) {
  return int_binary(Op::Add, a, b);
}
Value Builder::sub(Value a, Value b) {
  return int_binary(Op::Sub, a, b);
}
Value Builder::mul(Value a, Value b) {
  return int_binary(Op::Mul, a, b);
}
Value Builder::mul_hi_s(Value a, Value b) {
  return int_binary(Op::MulHiS, a, b);
}
Value Builder::mul_hi_u(Value a, Value b) {
  return int_binary(Op::MulHiU, a, b);
}
Value Builder::sdiv(Value a, Value b) {
  return int_binary(Op::SDiv, a, b);
}
Value Builder::udiv(Value a, Value b) {
  return int_binary(Op::UDiv, a, b);
}
Value Builder::srem(Value a, Value b) {
  return int_binary(Op::SRem, a, b);
}
Value Builder::urem(Value a, Value b) {
  return int_binary(Op::URem, a, b);
}
Value Builder::and_(Value a, Value b) {
  return int_binary(Op::And, a, b);
}
Value Builder::or_(Value a, Value b) {
  return int_binary(Op::Or, a, b);
}
Value Builder::xor_(Value a, Value b) {
  return int_binary(Op::Xor, a, b);
}
Value Builder::not_(Value a) {
  return xor_(a, constant_bits(type(a), ~uint64_t{0}));
}
Value Builder::shl(Value a, Value n) {
  return int_binary(Op::Shl, a, n);
}
Value Builder::lshr(Value a, Value n) {
  return int_binary(Op::LShr, a, n);
}
Value Builder::ashr(Value a, Value n) {
  return int_binary(Op::AShr, a, n);
}

Value Builder::popcount(Value a) {
  require(type(a).scalar == Scalar::i32, Op::PopCount, {a}, "i32");
  return emit(Op::PopCount, type(a), {a});
}

Value Builder::float_unary(Op op, Value a) {
  const Scalar s = type(a).scalar;
  require(s == Scalar::f32 || s == Scalar::f64, op, {a}, "f32 or f64");
  return emit(op, type(a), {a});
}

Value Builder::float_binary(Op op, Value a, Value b) {
  match_lanes(a, b);
  const Scalar s = type(a).scalar;
  require(type(a) == type(b) && (s == Scalar::f32 || s == Scalar::f64), op, {a, b},
          "two operands of one type, f32 or f64");
  return emit(op, type(a), {a, b});
}

Value Builder::fadd(Value a, Value b) {
  return float_binary(Op::FAdd, a, b);
}
Value Builder::fsub(Value a, Value b) {
  return float_binary(Op::FSub, a, b);
}
Value Builder::fmul(Value a, Value b) {
  return float_binary(Op::FMul, a, b);
}
Value Builder::fdiv(Value a, Value b) {
  return float_binary(Op::FDiv, a, b);
}
Value Builder::fneg(Value a) {
  return float_unary(Op::FNeg, a);
}
Value Builder::fabs(Value a) {
  return float_unary(Op::FAbs, a);
}
Value Builder::fsqrt(Value a) {
  return float_unary(Op::FSqrt, a);
}
Value Builder::ffloor(Value a) {
  return float_unary(Op::FFloor, a);
}
Value Builder::fceil(Value a) {
  return float_unary(Op::FCeil, a);
}
Value Builder::ftrunc(Value a) {
  return float_unary(Op::FTrunc, a);
}
Value Builder::frint(Value a) {
  return float_unary(Op::FRint, a);
}

Value Builder::fast_unary(Op op, Value a) {
  require(type(a).scalar == Scalar::f32, op, {a}, "f32");
  return emit(op, type(a), {a});
}

Value Builder::fexp2(Value a) {
  return fast_unary(Op::FExp2, a);
}
Value Builder::freciprocal(Value a) {
  return fast_unary(Op::FReciprocal, a);
}
Value Builder::frsqrt(Value a) {
  return fast_unary(Op::FRsqrt, a);
}
Value Builder::round_bf16(Value a) {
  require(type(a).scalar == Scalar::f32, Op::RoundBf16, {a}, "f32");
  return emit(Op::RoundBf16, type(a).with_scalar(Scalar::i16), {a});
}

Value Builder::fma(Value a, Value b, Value c) {
  const uint16_t lanes = std::max({type(a).lanes, type(b).lanes, type(c).lanes});
  match_lanes(a, lanes);
  match_lanes(b, lanes);
  match_lanes(c, lanes);
  const Scalar s = type(a).scalar;
  require(target_.fused_fma, Op::Fma, {a, b, c}, "a target whose fma rounds once");
  require(type(a) == type(b) && type(a) == type(c) && (s == Scalar::f32 || s == Scalar::f64),
          Op::Fma, {a, b, c}, "three operands of one type, f32 or f64");
  return emit(Op::Fma, type(a), {a, b, c});
}

// --- comparisons and choice ----------------------------------------------------------------------

Value Builder::compare(Op op, Value a, Value b, bool floating) {
  match_lanes(a, b);
  const Scalar s = type(a).scalar;
  const bool fits = floating ? s == Scalar::f32 || s == Scalar::f64 : is_int(s);
  require(type(a) == type(b) && fits, op, {a, b}, "two operands of one type of its kind");
  // Truth values have no comparison of their own in every target; logic does it.
  if (s == Scalar::i1) {
    require(op == Op::IEq || op == Op::INe, op, {a, b}, "integers; i1 has no order");
    return op == Op::INe ? xor_(a, b) : not_(xor_(a, b));
  }
  return emit(op, type(a).with_scalar(Scalar::i1), {a, b});
}

Value Builder::ieq(Value a, Value b) {
  return compare(Op::IEq, a, b, false);
}
Value Builder::ine(Value a, Value b) {
  return compare(Op::INe, a, b, false);
}
Value Builder::slt(Value a, Value b) {
  return compare(Op::SLt, a, b, false);
}
Value Builder::sle(Value a, Value b) {
  return compare(Op::SLe, a, b, false);
}
Value Builder::ult(Value a, Value b) {
  return compare(Op::ULt, a, b, false);
}
Value Builder::ule(Value a, Value b) {
  return compare(Op::ULe, a, b, false);
}
Value Builder::feq(Value a, Value b) {
  return compare(Op::FEq, a, b, true);
}
Value Builder::fne(Value a, Value b) {
  return compare(Op::FNe, a, b, true);
}
Value Builder::flt(Value a, Value b) {
  return compare(Op::FLt, a, b, true);
}
Value Builder::fle(Value a, Value b) {
  return compare(Op::FLe, a, b, true);
}

Value Builder::select(Value c, Value a, Value b) {
  match_lanes(a, b);
  match_lanes(a, type(c).lanes);
  match_lanes(b, type(c).lanes);
  const Type t = type(a);
  require(t == type(b) && type(c).scalar == Scalar::i1 &&
              (type(c).lanes == 1 || type(c).lanes == t.lanes),
          Op::Select, {c, a, b}, "an i1 of one or as many lanes, and two values of one type");
  return emit(Op::Select, t, {c, a, b});
}

// --- conversions ---------------------------------------------------------------------------------

Value Builder::convert(Op op, Value a, Scalar to, bool ok, const char* wants) {
  require(ok, op, {a}, wants);
  return type(a).scalar == to ? a : emit(op, type(a).with_scalar(to), {a});
}

Value Builder::trunc(Value a, Scalar to) {
  const Scalar from = type(a).scalar;
  return convert(Op::Trunc, a, to, is_int(from) && is_int(to) && width(to) <= width(from),
                 "an integer at least as wide as its result");
}
Value Builder::zext(Value a, Scalar to) {
  const Scalar from = type(a).scalar;
  return convert(Op::ZExt, a, to, is_int(from) && is_int(to) && width(to) >= width(from),
                 "an integer no wider than its result");
}
Value Builder::sext(Value a, Scalar to) {
  const Scalar from = type(a).scalar;
  return convert(Op::SExt, a, to, is_int(from) && is_int(to) && width(to) >= width(from),
                 "an integer no wider than its result");
}
Value Builder::int_resize(Value a, Scalar to, bool sign) {
  if (width(to) <= width(type(a).scalar)) return trunc(a, to);
  return sign ? sext(a, to) : zext(a, to);
}

// A truth value converts as 1 (or -1 when signed): a choice of constants, so that no emitter needs
// a conversion from i1.
Value Builder::sitofp(Value a, Scalar to) {
  const Type t = type(a).with_scalar(to);
  if (type(a).scalar == Scalar::i1) return select(a, constant(t, -1), constant(t, 0));
  return convert(Op::SIToFP, a, to, is_int(type(a).scalar) && is_float(to),
                 "an integer and a floating result");
}
Value Builder::uitofp(Value a, Scalar to) {
  const Type t = type(a).with_scalar(to);
  if (type(a).scalar == Scalar::i1) return select(a, constant(t, 1), constant(t, 0));
  return convert(Op::UIToFP, a, to, is_int(type(a).scalar) && is_float(to),
                 "an integer and a floating result");
}
Value Builder::fptosi(Value a, Scalar to) {
  return convert(Op::FPToSI, a, to, is_float(type(a).scalar) && is_int(to) && to != Scalar::i1,
                 "a floating operand and an integer result");
}
Value Builder::fptoui(Value a, Scalar to) {
  return convert(Op::FPToUI, a, to, is_float(type(a).scalar) && is_int(to) && to != Scalar::i1,
                 "a floating operand and an integer result");
}
Value Builder::fpext(Value a, Scalar to) {
  const Scalar from = type(a).scalar;
  return convert(Op::FPExt, a, to, is_float(from) && is_float(to) && width(to) >= width(from),
                 "a floating operand no wider than its result");
}
Value Builder::fptrunc(Value a, Scalar to) {
  const Scalar from = type(a).scalar;
  return convert(Op::FPTrunc, a, to, is_float(from) && is_float(to) && width(to) <= width(from),
                 "a floating operand at least as wide as its result");
}
Value Builder::bitcast(Value a, Scalar to) {
  const Scalar from = type(a).scalar;
  return convert(Op::Bitcast, a, to,
                 width(from) == width(to) && !type(a).is_pointer() && to != Scalar::none,
                 "a result of the same width");
}

// --- vectors -------------------------------------------------------------------------------------

Value Builder::splat(Value scalar, uint16_t lanes) {
  if (lanes == 1) return scalar;
  const Type t = type(scalar);
  require(t.lanes == 1 && !t.is_pointer() && std::has_single_bit(lanes) && lanes <= 64, Op::Splat,
          {scalar}, "a scalar, and a power of two of lanes up to 128");
  return emit(Op::Splat, Type{t.scalar, lanes}, {scalar});
}

Value Builder::active_lane_mask(Value n, uint16_t lanes) {
  const Type t = type(n);
  require(t.lanes == 1 && is_int(t.scalar) && t.scalar != Scalar::i1, Op::ActiveLaneMask, {n},
          "an integer");
  if (lanes == 1) return slt(constant(t, 0), n);
  return emit(Op::ActiveLaneMask, Type{Scalar::i1, lanes}, {n});
}

Value Builder::extract(Value v, uint32_t lane) {
  require(lane < type(v).lanes, Op::Extract, {v}, "a lane that exists");
  if (type(v).lanes == 1) return v;
  Imm imm;
  imm.index = lane;
  return emit(Op::Extract, type(v).element(), {v}, imm);
}

Value Builder::insert(Value v, Value scalar, uint32_t lane) {
  require(type(scalar) == type(v).element() && lane < type(v).lanes, Op::Insert, {v, scalar},
          "a vector, its element and a lane that exists");
  if (type(v).lanes == 1) return scalar;
  Imm imm;
  imm.index = lane;
  return emit(Op::Insert, type(v), {v, scalar}, imm);
}

Value Builder::shuffle(Value a, Value b, std::vector<uint16_t> lanes) {
  const uint32_t sources = 2u * type(a).lanes;
  const bool in_range =
      std::all_of(lanes.begin(), lanes.end(), [&](uint16_t lane) { return lane < sources; });
  require(type(a) == type(b) && type(a).lanes > 1 && in_range && lanes.size() > 1 &&
              lanes.size() <= 64 && std::has_single_bit(lanes.size()),
          Op::Shuffle, {a, b}, "two vectors of one type and a power of two of lanes in range");
  const Type t{type(a).scalar, static_cast<uint16_t>(lanes.size())};
  Imm imm;
  imm.lanes = std::move(lanes);
  return emit(Op::Shuffle, t, {a, b}, std::move(imm));
}

Value Builder::any(Value mask) {
  require(type(mask).scalar == Scalar::i1, Op::Any, {mask}, "a mask");
  return type(mask).lanes == 1 ? mask : emit(Op::Any, kI1, {mask});
}

Value Builder::all(Value mask) {
  require(type(mask).scalar == Scalar::i1, Op::All, {mask}, "a mask");
  return type(mask).lanes == 1 ? mask : emit(Op::All, kI1, {mask});
}

// --- memory --------------------------------------------------------------------------------------

void Builder::check_address(Op op, Value p, Value index, uint16_t index_lanes) const {
  const Type t = type(index);
  require(type(p).is_pointer() && (t.scalar == Scalar::i32 || t.scalar == Scalar::i64) &&
              t.lanes == index_lanes,
          op, {p, index}, "a pointer and an i32 or i64 index");
}

namespace {

Imm aligned(uint32_t align) {
  Imm imm;
  imm.align = align;
  return imm;
}

}  // namespace

Value Builder::ptr_add(Value p, Value byte_offset) {
  require(type(p) == kGlobalPointer && type(byte_offset) == kI64, Op::PtrAdd, {p, byte_offset},
          "a pointer to global memory and an i64");
  return known_bits(byte_offset) == 0u ? p : emit(Op::PtrAdd, type(p), {p, byte_offset});
}

Value Builder::int_to_ptr(Value address) {
  require(type(address) == kI64, Op::IntToPtr, {address}, "an i64 address");
  return emit(Op::IntToPtr, kGlobalPointer, {address});
}

Value Builder::ptr_to_int(Value p) {
  require(type(p) == kGlobalPointer, Op::PtrToInt, {p}, "a pointer to global memory");
  return emit(Op::PtrToInt, kI64, {p});
}

Value Builder::address_low_word(Value p) {
  if (target().i64) return trunc(ptr_to_int(p), Scalar::i32);
  require(type(p) == kGlobalPointer, Op::PtrToInt, {p}, "a pointer to global memory");
  return emit(Op::PtrToInt, kI32, {p});
}

Value Builder::load(Type t, Value p, Value index, uint32_t align) {
  check_address(Op::Load, p, index, 1);
  return emit(Op::Load, t, {p, index}, aligned(align));
}

void Builder::store(Value p, Value index, Value v, uint32_t align) {
  check_address(Op::Store, p, index, 1);
  effect(Op::Store, {p, index, v}, aligned(align));
}

Value Builder::masked_load(Type t, Value p, Value index, Value mask, Value passthru,
                           uint32_t align) {
  check_address(Op::MaskedLoad, p, index, 1);
  match_lanes(mask, t.lanes);
  match_lanes(passthru, t.lanes);
  require(type(mask) == t.with_scalar(Scalar::i1) && type(passthru) == t, Op::MaskedLoad,
          {mask, passthru}, "a mask and a passthru with the lanes of the result");
  if (const auto known = known_bits(mask)) return *known != 0 ? load(t, p, index, align) : passthru;
  return emit(Op::MaskedLoad, t, {p, index, mask, passthru}, aligned(align));
}

void Builder::masked_store(Value p, Value index, Value v, Value mask, uint32_t align) {
  check_address(Op::MaskedStore, p, index, 1);
  match_lanes(v, mask);
  require(type(mask) == type(v).with_scalar(Scalar::i1), Op::MaskedStore, {v, mask},
          "a mask with the lanes of the value");
  if (const auto known = known_bits(mask)) {
    if (*known != 0) store(p, index, v, align);
    return;
  }
  effect(Op::MaskedStore, {p, index, v, mask}, aligned(align));
}

void Builder::prefetch(Scalar elem, Value p, Value index, uint32_t ahead, bool to_write) {
  const Op op = to_write ? Op::PrefetchWrite : Op::Prefetch;
  check_address(op, p, index, 1);
  Imm imm;
  imm.elem = elem;
  imm.count = ahead;
  effect(op, {p, index}, std::move(imm));
}

Value Builder::gather(Type t, Value p, Value indices, Value mask, Value passthru, uint32_t align) {
  match_lanes(indices, t.lanes);
  check_address(Op::Gather, p, indices, t.lanes);
  match_lanes(mask, t.lanes);
  match_lanes(passthru, t.lanes);
  require(type(mask) == t.with_scalar(Scalar::i1) && type(passthru) == t, Op::Gather,
          {mask, passthru}, "a mask and a passthru with the lanes of the result");
  if (known_bits(mask) == 0u) return passthru;
  return emit(Op::Gather, t, {p, indices, mask, passthru}, aligned(align));
}

void Builder::scatter(Value p, Value indices, Value v, Value mask, uint32_t align) {
  match_lanes(v, indices);
  match_lanes(mask, type(indices).lanes);
  check_address(Op::Scatter, p, indices, type(v).lanes);
  require(type(mask) == type(v).with_scalar(Scalar::i1), Op::Scatter, {v, mask},
          "a mask with the lanes of the value");
  if (known_bits(mask) == 0u) return;
  effect(Op::Scatter, {p, indices, v, mask}, aligned(align));
}

Value Builder::atomic_rmw(Rmw rmw, Value p, Value index, Value v, uint32_t align) {
  check_address(Op::AtomicRmw, p, index, 1);
  Imm imm = aligned(align);
  imm.rmw = rmw;
  return emit(Op::AtomicRmw, type(v), {p, index, v}, imm);
}

Value Builder::atomic_cas(Value p, Value index, Value expected, Value desired, uint32_t align) {
  check_address(Op::AtomicCas, p, index, 1);
  require(type(expected) == type(desired), Op::AtomicCas, {expected, desired},
          "expected and desired of one type");
  return emit(Op::AtomicCas, type(expected), {p, index, expected, desired}, aligned(align));
}

Value Builder::group_alloc(Scalar elem, uint32_t count) {
  Imm imm;
  imm.elem = elem;
  imm.count = count;
  return at_entry(Op::GroupAlloc, Type::pointer(AddressSpace::group), std::move(imm));
}

Value Builder::private_alloc(Scalar elem, uint32_t count) {
  Imm imm;
  imm.elem = elem;
  imm.count = count;
  return at_entry(Op::PrivateAlloc, Type::pointer(AddressSpace::priv), std::move(imm));
}

// --- asynchronous copies and matrices ------------------------------------------------------------

void Builder::copy_async(Scalar elem, uint32_t count, Value to, Value to_index, Value from,
                         Value from_index, Value keep) {
  check_address(Op::CopyAsync, to, to_index, 1);
  check_address(Op::CopyAsync, from, from_index, 1);
  require(type(to).is_pointer_to(AddressSpace::group) && type(from) == kGlobalPointer &&
              type(keep) == kI1,
          Op::CopyAsync, {to, from, keep}, "pointers to group and global memory, and an i1");
  Imm imm;
  imm.elem = elem;
  imm.count = count;
  effect(Op::CopyAsync, {to, to_index, from, from_index, keep}, std::move(imm));
}

void Builder::copy_commit() {
  effect(Op::CopyCommit, {});
}

void Builder::copy_wait(uint32_t running) {
  Imm imm;
  imm.index = running;
  effect(Op::CopyWait, {}, std::move(imm));
}

Value Builder::cooperative_load(Type matrix, Value p, Value index, uint32_t distance,
                                bool by_columns) {
  check_address(Op::CooperativeLoad, p, index, 1);
  Imm imm;
  imm.index = by_columns ? 1 : 0;
  imm.count = distance;
  return emit(Op::CooperativeLoad, matrix, {p, index}, std::move(imm));
}

Value Builder::cooperative_multiply(Value left, Value right, Value sums) {
  require(type(left).is_matrix() && type(right).is_matrix() && type(sums) == kAccumulator,
          Op::CooperativeMultiply, {left, right, sums}, "cooperative matrices, the last of sums");
  return emit(Op::CooperativeMultiply, type(sums), {left, right, sums});
}

Value Builder::cooperative_scale(Value sums, Value factors) {
  require(type(sums) == kAccumulator && type(factors) == kAccumulator, Op::CooperativeScale,
          {sums, factors}, "sums and factors");
  return emit(Op::CooperativeScale, type(sums), {sums, factors});
}

void Builder::cooperative_store(Value p, Value index, Value sums, uint32_t distance) {
  check_address(Op::CooperativeStore, p, index, 1);
  require(type(sums) == kAccumulator, Op::CooperativeStore, {sums}, "sums");
  Imm imm;
  imm.count = distance;
  effect(Op::CooperativeStore, {p, index, sums}, std::move(imm));
}

Value Builder::matrix_load(Value p, Value index, bool transposed) {
  check_address(Op::MatrixLoad, p, index, 1);
  Imm imm;
  imm.index = transposed ? 1 : 0;
  return emit(Op::MatrixLoad, Type{Scalar::i32, 4}, {p, index}, std::move(imm));
}

Value Builder::matrix_multiply(Op op, Value a, Value b, Value c) {
  require(type(a) == Type{Scalar::i32, 4} && type(b) == Type{Scalar::i32, 2} &&
              type(c) == Type{Scalar::f32, 4},
          op, {a, b, c}, "vec<i32, 4>, vec<i32, 2> and vec<f32, 4>");
  return emit(op, type(c), {a, b, c});
}

Value Builder::matrix_multiply_f16(Value a, Value b, Value c) {
  return matrix_multiply(Op::MatrixMultiplyF16, a, b, c);
}
Value Builder::matrix_multiply_bf16(Value a, Value b, Value c) {
  return matrix_multiply(Op::MatrixMultiplyBf16, a, b, c);
}

Value Builder::group_multiply(Op op, const GroupTile& a, const GroupTile& b, Value sums) {
  check_address(op, a.memory, a.index, 1);
  check_address(op, b.memory, b.index, 1);
  require(type(sums).scalar == Scalar::f32, op, {sums}, "sums in f32");
  Imm imm;
  imm.index = (a.by_terms ? 1u : 0u) | (b.by_terms ? 2u : 0u);
  return emit(op, type(sums), {a.memory, a.index, b.memory, b.index, sums}, std::move(imm));
}

Value Builder::group_multiply_f16(const GroupTile& a, const GroupTile& b, Value sums) {
  return group_multiply(Op::GroupMultiplyF16, a, b, sums);
}
Value Builder::group_multiply_bf16(const GroupTile& a, const GroupTile& b, Value sums) {
  return group_multiply(Op::GroupMultiplyBf16, a, b, sums);
}
Value Builder::group_multiply_wait(Value sums, uint32_t going_on) {
  Imm imm;
  imm.index = going_on;
  return emit(Op::GroupMultiplyWait, type(sums), {sums}, std::move(imm));
}

}  // namespace primset::kir
