// Types of kernel IR's values: numbers and vectors of them, pointers, matrices of a subgroup.
#ifndef PRIMSET_CODEGEN_KERNEL_IR_TYPE_H_
#define PRIMSET_CODEGEN_KERNEL_IR_TYPE_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace primset::kir {

// The type of one element. Integers carry no sign: operations do.
enum class Scalar : uint8_t {
  i1,  // a truth value; never in memory: store bools as i8
  i8,
  i16,
  i32,
  i64,
  f16,  // loads, stores and conversions only, and only where TargetModel::f16; arithmetic is f32,
        // f64
  f32,
  f64,
  bf16,  // an element of matrices only
  none,  // of a pointer: it is no number
};

constexpr bool is_int(Scalar s) {
  return s <= Scalar::i64;
}
constexpr bool is_float(Scalar s) {
  return s >= Scalar::f16 && s <= Scalar::f64;
}
// May numbers in memory be of this type?
constexpr bool is_storable(Scalar s) {
  return s > Scalar::i1 && s <= Scalar::f64;
}
// Width in bits; i1 is 1.
constexpr int width(Scalar s) {
  constexpr int kWidths[] = {1, 8, 16, 32, 64, 16, 32, 64, 16, 0};
  return kWidths[static_cast<int>(s)];
}
constexpr int bytes(Scalar s) {
  return (width(s) + 7) / 8;
}
// Ones in that many of the lowest bits.
constexpr uint64_t low_bits(int width) {
  return width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}
std::string_view name(Scalar s);

enum class AddressSpace : uint8_t { global, group, priv };  // group: the workgroup's
std::string_view name(AddressSpace s);

// What a cooperative matrix (ops.def) is for in a * b + accumulator.
enum class MatrixUse : uint8_t { a, b, accumulator };
std::string_view name(MatrixUse u);

struct Type {
  enum class Kind : uint8_t { number, pointer, matrix };

  Scalar scalar = Scalar::i32;  // of a number, or of a matrix's elements
  uint16_t lanes = 1;           // 1: a scalar; else a power of two up to 128
  Kind kind = Kind::number;
  AddressSpace space = AddressSpace::global;  // of a pointer
  MatrixUse use = MatrixUse::a;               // of a matrix, 16 x 16 elements held by a subgroup

  static constexpr Type pointer(AddressSpace space) {
    return {Scalar::none, 1, Kind::pointer, space};
  }
  static constexpr Type matrix(Scalar element, MatrixUse use) {
    return {element, 1, Kind::matrix, AddressSpace::global, use};
  }
  constexpr bool is_pointer() const { return kind == Kind::pointer; }
  constexpr bool is_pointer_to(AddressSpace s) const { return is_pointer() && space == s; }
  constexpr bool is_matrix() const { return kind == Kind::matrix; }
  constexpr bool is_vector() const { return lanes > 1; }
  constexpr Type with_scalar(Scalar s) const { return {s, lanes}; }
  constexpr Type element() const { return with_lanes(1); }
  constexpr Type with_lanes(uint16_t n) const { return {scalar, n, kind, space, use}; }
  friend constexpr auto operator<=>(const Type&, const Type&) = default;
};
inline constexpr Type kI1{Scalar::i1}, kI8{Scalar::i8}, kI16{Scalar::i16}, kI32{Scalar::i32},
    kI64{Scalar::i64}, kF32{Scalar::f32}, kF64{Scalar::f64};
inline constexpr Type kGlobalPointer = Type::pointer(AddressSpace::global);
// The sums of cooperative matrix products.
inline constexpr Type kAccumulator = Type::matrix(Scalar::f32, MatrixUse::accumulator);

// Width in bits of a number, of each lane of a vector, or of a pointer's address.
constexpr int width(Type t) {
  return t.is_pointer() ? 64 : width(t.scalar);
}
constexpr int bytes(Type t) {
  return (width(t) + 7) / 8;
}

// "f32", "vec<f32, 16>", "ptr<global>", "matrix<f16, a>"
std::string to_string(Type t);

// What name() spells so; false when there is none.
bool parse_scalar(std::string_view text, Scalar& scalar);
bool parse_address_space(std::string_view text, AddressSpace& space);
bool parse_matrix_use(std::string_view text, MatrixUse& use);

}  // namespace primset::kir

#endif  // PRIMSET_CODEGEN_KERNEL_IR_TYPE_H_
