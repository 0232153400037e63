#include "codegen/schedule/families/gather_scatter/atomic_update.h"

#include <optional>

#include "codegen/schedule/element/scalar_lowering.h"

namespace primset::schedule {

using kir::Builder;
using kir::Scalar;
using kir::Value;
using prims::Prim;

namespace {

// The instruction that combines elements in memory, if there is one.
std::optional<kir::Rmw> instruction(Prim p, DType dtype) {
  const bool adds = p == Prim::scatter_add;
  if (dtype == DType::f32 || dtype == DType::f64)
    return adds ? std::optional(kir::Rmw::fadd) : std::nullopt;
  if (dtype != DType::i32 && dtype != DType::i64) return std::nullopt;
  if (adds) return kir::Rmw::add;
  if (p == Prim::scatter_min) return kir::Rmw::min_s;
  if (p == Prim::scatter_max) return kir::Rmw::max_s;
  return std::nullopt;
}

// The integer that has an element's bits in memory.
Scalar word_of(DType dtype) {
  switch (kir::bytes(memory_scalar(dtype))) {
    case 1:
      return Scalar::i8;
    case 2:
      return Scalar::i16;
    case 4:
      return Scalar::i32;
    default:
      return Scalar::i64;
  }
}

// The word that an element becomes when `update` is combined into it.
Value combined(Builder& b, Prim p, DType dtype, Value word, const ElementValue& update) {
  const Value old = from_memory(b, b.bitcast(word, memory_scalar(dtype)), dtype);
  const ElementValue in[] = {{old, {}}, update};
  const ElementValue out = lower_elementwise(b, combining(p), dtype, dtype, in);
  return b.bitcast(to_memory(b, out.re, dtype), word_of(dtype));
}

// What is there at first is read by an exchange of nothing for nothing, as reads beside atomic
// updates would race. An update that changes nothing is not written.
void compare_and_exchange(Builder& b, Prim p, DType dtype, Value pointer, Value index,
                          const ElementValue& update) {
  const Scalar word = word_of(dtype);
  const auto align = static_cast<uint32_t>(kir::bytes(word));
  const Value nothing = b.constant(kir::Type{word}, 0);
  const Value first = b.atomic_cas(pointer, index, nothing, nothing, align);
  b.while_loop(
      {first, combined(b, p, dtype, first, update), b.i1(false)},
      [&](std::span<const Value> c) {
        return b.and_(b.ieq(b.zext(c[2], Scalar::i32), b.i32(0)), b.ine(c[0], c[1]));
      },
      [&](std::span<const Value> c) {
        const Value seen = b.atomic_cas(pointer, index, c[0], c[1], align);
        return Builder::Values{seen, combined(b, p, dtype, seen, update), b.ieq(seen, c[0])};
      });
}

}  // namespace

Prim combining(Prim scatter) {
  switch (scatter) {
    case Prim::scatter_add:
      return Prim::add;
    case Prim::scatter_mul:
      return Prim::mul;
    case Prim::scatter_min:
      return Prim::min;
    default:
      return Prim::max;
  }
}

bool has_atomic_update(const kir::TargetModel& target, Prim scatter, DType dtype) {
  if (is_complex(dtype) && scatter != Prim::scatter_add) return false;
  return kir::bytes(memory_scalar(real_type(dtype))) < 8 || (target.i64 && target.atomic_i64);
}

void atomic_update(Frame& f, Prim scatter, DType dtype, BufferId target, const Affine& address,
                   const ElementValue& update) {
  Builder& b = f.builder();
  const DType real = real_type(dtype);
  const Value pointer = f.buffer(target, true, true);
  const auto one = [&](Value index, Value part) {
    const auto rmw = instruction(scatter, real);
    if (!rmw) return compare_and_exchange(b, scatter, real, pointer, index, {part, {}});
    b.atomic_rmw(*rmw, pointer, index, part,
                 static_cast<uint32_t>(kir::bytes(memory_scalar(real))));
  };
  if (!is_complex(dtype)) return one(f.materialize(address), update.re);
  const Value first = f.materialize(f.scale(address, SymInt(2)));
  one(first, update.re);
  one(b.add(first, f.index_constant(1)), update.im);
}

}  // namespace primset::schedule
