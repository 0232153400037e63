// Folding in the builder. Integers fold freely. Of the floating operations only those that touch
// nothing but bits (fneg, fabs) or are exact or correctly rounded everywhere (conversions and
// comparisons of numbers) fold: x + 0 would lose the sign of -0, x * 1 would quiet a NaN, and a
// target may flush denormals.
#include <bit>
#include <cmath>
#include <string>

#include "codegen/kernel/ir/builder.h"

namespace primset::kir {
namespace {

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

int64_t sign_extend(uint64_t v, int width) {
  return static_cast<int64_t>(v << (64 - width)) >> (64 - width);
}

// a op b modulo 2^width; empty where the operation is not defined.
std::optional<uint64_t> evaluate(Op op, int width, uint64_t a, uint64_t b) {
  const int64_t sa = sign_extend(a, width), sb = sign_extend(b, width);
  const auto w = static_cast<uint64_t>(width);
  switch (op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::MulHiS:
      return static_cast<uint64_t>((int128{sa} * sb) >> width);
    case Op::MulHiU:
      return static_cast<uint64_t>((uint128{a} * b) >> width);
    case Op::UDiv:
      return b == 0 ? std::nullopt : std::optional(a / b);
    case Op::URem:
      return b == 0 ? std::nullopt : std::optional(a % b);
    case Op::SDiv:
    case Op::SRem:
      if (b == 0 || sb == -1) return std::nullopt;
      return static_cast<uint64_t>(op == Op::SDiv ? sa / sb : sa % sb);
    case Op::And:
      return a & b;
    case Op::Or:
      return a | b;
    case Op::Xor:
      return a ^ b;
    case Op::Shl:
      return b < w ? std::optional(a << b) : std::nullopt;
    case Op::LShr:
      return b < w ? std::optional(a >> b) : std::nullopt;
    case Op::AShr:
      return b < w ? std::optional(static_cast<uint64_t>(sa >> b)) : std::nullopt;
    default:
      return std::nullopt;
  }
}

bool evaluate_compare(Op op, int width, uint64_t a, uint64_t b) {
  const int64_t sa = sign_extend(a, width), sb = sign_extend(b, width);
  switch (op) {
    case Op::IEq:
      return a == b;
    case Op::INe:
      return a != b;
    case Op::SLt:
      return sa < sb;
    case Op::SLe:
      return sa <= sb;
    case Op::ULt:
      return a < b;
    default:
      return a <= b;
  }
}

// Exact, NaN included: comparing rounds nothing.
std::optional<bool> evaluate_float_compare(Op op, Scalar s, uint64_t a, uint64_t b) {
  if (s != Scalar::f32 && s != Scalar::f64) return std::nullopt;
  const auto number = [s](uint64_t bits) {
    return s == Scalar::f64 ? std::bit_cast<double>(bits)
                            : double{std::bit_cast<float>(static_cast<uint32_t>(bits))};
  };
  const double x = number(a), y = number(b);
  switch (op) {
    case Op::FEq:
      return x == y;
    case Op::FNe:
      return x != y;
    case Op::FLt:
      return x < y;
    default:
      return x <= y;
  }
}

template <typename T>
uint64_t bits_of(T v) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<uint32_t>(v);
  } else {
    return std::bit_cast<uint64_t>(v);
  }
}

}  // namespace

std::optional<Value> Builder::fold(Op op, Type result, std::span<const Value> operands,
                                   const Imm& imm) {
  switch (info(op).group) {
    case Group::IntBinary:
      return fold_int(op, result, operands[0], operands[1]);
    case Group::Compare:
      return fold_compare(op, result, operands[0], operands[1]);
    case Group::Choice:
      return fold_select(result, operands[0], operands[1], operands[2]);
    case Group::FloatUnary:
      return fold_float_unary(op, result, operands[0]);
    case Group::Convert:
      return fold_convert(op, result, operands[0]);
    case Group::Vector:
      return fold_vector(op, result, operands, imm);
    default:
      return std::nullopt;
  }
}

std::optional<Value> Builder::fold_int(Op op, Type t, Value a, Value b) {
  const int w = width(t.scalar);
  const auto ka = known_bits(a), kb = known_bits(b);
  if (ka && kb) {
    const auto folded = evaluate(op, w, *ka, *kb);
    return folded ? std::optional(constant_bits(t, *folded)) : std::nullopt;
  }
  if (a == b) {
    if (op == Op::And || op == Op::Or) return a;
    if (op == Op::Sub || op == Op::Xor) return constant_bits(t, 0);
  }
  // emit() has put a commutative operation's constant on the right.
  if (kb == 0u) {
    switch (op) {
      case Op::Add:
      case Op::Sub:
      case Op::Or:
      case Op::Xor:
      case Op::Shl:
      case Op::LShr:
      case Op::AShr:
        return a;
      case Op::Mul:
      case Op::MulHiS:
      case Op::MulHiU:
      case Op::And:
        return constant_bits(t, 0);
      default:
        return std::nullopt;
    }
  }
  if (kb == 1u && w > 1) {
    switch (op) {
      case Op::Mul:
      case Op::SDiv:
      case Op::UDiv:
        return a;
      case Op::SRem:
      case Op::URem:
      case Op::MulHiU:
        return constant_bits(t, 0);
      default:
        break;
    }
  }
  if (kb == low_bits(w)) {
    if (op == Op::And) return a;
    if (op == Op::Or) return b;
    // Twice not: a xor all-ones of a xor all-ones.
    if (const Inst* inner = made_by(a, Op::Xor); op == Op::Xor && inner != nullptr) {
      if (known_bits(inner->operands[1]) == kb) return inner->operands[0];
    }
  }
  return std::nullopt;
}

std::optional<Value> Builder::fold_compare(Op op, Type t, Value a, Value b) {
  const auto ka = known_bits(a), kb = known_bits(b);
  if (is_float(type(a).scalar)) {
    if (!ka || !kb) return std::nullopt;
    const auto known = evaluate_float_compare(op, type(a).scalar, *ka, *kb);
    return known ? std::optional(constant_bits(t, *known)) : std::nullopt;
  }
  if (ka && kb) return constant_bits(t, evaluate_compare(op, width(type(a).scalar), *ka, *kb));
  if (kb) {
    if (const auto narrow = fold_compare_of_widened(op, t, a, *kb, false)) return narrow;
  } else if (ka) {
    if (const auto narrow = fold_compare_of_widened(op, t, b, *ka, true)) return narrow;
  }
  if (a == b) return constant_bits(t, op == Op::IEq || op == Op::SLe || op == Op::ULe);
  if (op == Op::ULt && kb == 0u) return constant_bits(t, 0);
  if (op == Op::ULe && ka == 0u) return constant_bits(t, 1);
  return std::nullopt;
}

// A number that was made wider, against a constant: as it was before. Less work; and Mesa 22.3
// gets the order of a widened i32 and a constant wrong.
std::optional<Value> Builder::fold_compare_of_widened(Op op, Type t, Value wide, uint64_t constant,
                                                      bool constant_first) {
  const Inst* made = made_by(wide, Op::SExt);
  if (made == nullptr || op == Op::ULt || op == Op::ULe) return std::nullopt;
  const Value inner = made->operands[0];
  const Type from = type(inner);
  if (from.scalar == Scalar::i1) return std::nullopt;
  const int64_t c = sign_extend(constant, width(type(wide).scalar));
  const int64_t high = (int64_t{1} << (width(from.scalar) - 1)) - 1;
  if (c < -high - 1 || c > high) {
    if (op == Op::IEq || op == Op::INe) return constant_bits(t, op == Op::INe);
    return constant_bits(t, (c > high) != constant_first);
  }
  const Value k = this->constant(from, c);
  return constant_first ? compare(op, k, inner, false) : compare(op, inner, k, false);
}

std::optional<Value> Builder::fold_select(Type t, Value c, Value a, Value b) {
  if (a == b) return a;
  if (const auto known = known_bits(c)) return *known != 0 ? a : b;
  if (t.scalar == Scalar::i1 && t == type(c) && known_bits(a) == 1u && known_bits(b) == 0u)
    return c;
  return std::nullopt;
}

std::optional<Value> Builder::fold_float_unary(Op op, Type t, Value a) {
  if (op != Op::FNeg && op != Op::FAbs) return std::nullopt;
  const uint64_t sign = uint64_t{1} << (width(t.scalar) - 1);
  if (const auto known = known_bits(a)) {
    return constant_bits(t, op == Op::FNeg ? *known ^ sign : *known & ~sign);
  }
  const Inst* negated = made_by(a, Op::FNeg);
  if (op == Op::FNeg && negated != nullptr) return negated->operands[0];
  return std::nullopt;
}

std::optional<Value> Builder::fold_convert(Op op, Type t, Value a) {
  const Type from = type(a);
  // A widening undone, or a bit cast there and back.
  for (Op inner : {Op::ZExt, Op::SExt, Op::Bitcast}) {
    const Inst* made = made_by(a, inner);
    if (made == nullptr || type(made->operands[0]) != t) continue;
    if (op == (inner == Op::Bitcast ? Op::Bitcast : Op::Trunc)) return made->operands[0];
  }
  const auto known = known_bits(a);
  if (!known) return std::nullopt;
  const int64_t as_signed = sign_extend(*known, width(from.scalar));
  switch (op) {
    case Op::Trunc:
    case Op::ZExt:
    case Op::Bitcast:
      return constant_bits(t, *known);
    case Op::SExt:
      return constant_bits(t, static_cast<uint64_t>(as_signed));
    case Op::SIToFP:
      if (t.scalar == Scalar::f32) return constant_bits(t, bits_of(static_cast<float>(as_signed)));
      if (t.scalar == Scalar::f64) return constant_bits(t, bits_of(static_cast<double>(as_signed)));
      return std::nullopt;
    case Op::UIToFP:
      if (t.scalar == Scalar::f32) return constant_bits(t, bits_of(static_cast<float>(*known)));
      if (t.scalar == Scalar::f64) return constant_bits(t, bits_of(static_cast<double>(*known)));
      return std::nullopt;
    case Op::FPExt:
      if (from.scalar == Scalar::f32 && t.scalar == Scalar::f64) {
        const float x = std::bit_cast<float>(static_cast<uint32_t>(*known));
        if (x == 0 || std::isnormal(x)) return constant_bits(t, bits_of(static_cast<double>(x)));
      }
      return std::nullopt;
    case Op::FPTrunc:
      if (from.scalar == Scalar::f64 && t.scalar == Scalar::f32) {
        const auto x = static_cast<float>(std::bit_cast<double>(*known));
        if (*known == 0 || std::isnormal(x)) return constant_bits(t, bits_of(x));
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<Value> Builder::fold_vector(Op op, Type t, std::span<const Value> operands,
                                          const Imm& imm) {
  const Value v = operands[0];
  switch (op) {
    case Op::ActiveLaneMask:
      return std::nullopt;
    case Op::Splat:
    case Op::Any:
    case Op::All:
      if (const auto known = known_bits(v)) return constant_bits(t, *known);
      if (const Inst* splat = made_by(v, Op::Splat); splat != nullptr && op != Op::Splat) {
        return splat->operands[0];
      }
      return std::nullopt;
    case Op::Extract:
      if (const auto known = known_bits(v)) return constant_bits(t, *known);
      if (made_by(v, Op::LaneIota) != nullptr) return constant_bits(t, imm.index);
      if (const Inst* splat = made_by(v, Op::Splat)) return splat->operands[0];
      if (const Inst* insert = made_by(v, Op::Insert)) {
        // Copied: extract() may append and move the instruction.
        const Value vector = insert->operands[0], scalar = insert->operands[1];
        return insert->imm.index == imm.index ? scalar : extract(vector, imm.index);
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace primset::kir
