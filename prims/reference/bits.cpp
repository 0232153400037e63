// Bitwise operations, shifts and the high half of a product.
#include "prims/reference/elementwise.h"
#include "prims/reference/float_format.h"

namespace primset::prims::reference {
namespace {

using Operands = std::span<const Element>;
__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

Element bit_not(const ElementOp& op, Operands x) {
  if (x[0].undecided) return x[0];
  return integer_element(is_bool(op.to) ? !x[0].integer : wrap(~x[0].integer, op.to));
}

// An operand that alone decides the result makes up for an undecided one.
bool is_decided(const Element& x, int64_t value) {
  return !x.undecided && x.integer == value;
}

Element bit_and(const ElementOp& op, Operands x) {
  if (is_decided(x[0], 0) || is_decided(x[1], 0)) return integer_element(0);
  if (any_undecided(x)) return undecided_element();
  return integer_element(x[0].integer & x[1].integer);
}

Element bit_or(const ElementOp& op, Operands x) {
  int64_t all = is_signed_integer(op.to) ? -1 : max_integer(op.to);
  if (is_decided(x[0], all) || is_decided(x[1], all)) return integer_element(all);
  if (any_undecided(x)) return undecided_element();
  return integer_element(x[0].integer | x[1].integer);
}

Element bit_xor(const ElementOp& op, Operands x) {
  if (any_undecided(x)) return undecided_element();
  return integer_element(x[0].integer ^ x[1].integer);
}

bool shifts_out(DType t, int64_t n) {
  return n < 0 || n >= bits(t);
}

Element shift_left(const ElementOp& op, Operands x) {
  if (any_undecided(x)) return undecided_element();
  if (shifts_out(op.to, x[1].integer)) return integer_element(0);
  uint64_t shifted = static_cast<uint64_t>(x[0].integer) << x[1].integer;
  return integer_element(wrap(static_cast<int64_t>(shifted), op.to));
}

Element shift_right(const ElementOp& op, Operands x) {
  if (any_undecided(x)) return undecided_element();
  bool is_signed = is_signed_integer(op.to);
  if (shifts_out(op.to, x[1].integer)) {
    return integer_element(is_signed && x[0].integer < 0 ? -1 : 0);
  }
  if (is_signed) return integer_element(x[0].integer >> x[1].integer);
  return integer_element(static_cast<int64_t>(static_cast<uint64_t>(x[0].integer) >> x[1].integer));
}

Element mul_high(const ElementOp& op, Operands x) {
  if (any_undecided(x)) return undecided_element();
  int width = bits(op.to);
  if (op.to == DType::u64) {
    UnsignedWide product = static_cast<UnsignedWide>(static_cast<uint64_t>(x[0].integer)) *
                           static_cast<uint64_t>(x[1].integer);
    return integer_element(static_cast<int64_t>(product >> 64));
  }
  Wide product = static_cast<Wide>(x[0].integer) * x[1].integer;
  return integer_element(wrap(static_cast<int64_t>(product >> width), op.to));
}

}  // namespace

void add_bits(ElementTable& t) {
  t.set(Prim::bit_not, bit_not);
  t.set(Prim::bit_and, bit_and);
  t.set(Prim::bit_or, bit_or);
  t.set(Prim::bit_xor, bit_xor);
  t.set(Prim::shift_left, shift_left);
  t.set(Prim::shift_right, shift_right);
  t.set(Prim::mul_high, mul_high);
}

}  // namespace primset::prims::reference
