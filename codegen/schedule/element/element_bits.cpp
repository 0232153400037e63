// bitcast between dtypes of different widths: a wide element is several narrow ones along an
// additional last dim, the lowest bits first. A complex element is its two parts.
#include "codegen/schedule/element/element.h"
#include "codegen/schedule/element/scalar_lowering.h"
#include "codegen/schedule/element/view_placement.h"

namespace primset::schedule {

using kir::Value;

namespace {

uint32_t part_bits(DType t) {
  return static_cast<uint32_t>(bits(real_type(t)));
}

constexpr kir::Scalar integer_of(uint32_t width) {
  return width == 8    ? kir::Scalar::i8
         : width == 16 ? kir::Scalar::i16
         : width == 32 ? kir::Scalar::i32
                       : kir::Scalar::i64;
}

// The bits of an element's parts, as integers.
void append_bits(kir::Builder& b, const ElementValue& e, DType t, kir::Builder::Values& out) {
  for (Value part : {e.re, e.im}) {
    if (!part.valid()) continue;
    out.push_back(b.bitcast(to_memory(b, part, real_type(t)), integer_of(part_bits(t))));
  }
}

Value from_bits(kir::Builder& b, Value v, DType t) {
  const DType part = real_type(t);
  return from_memory(b, b.bitcast(v, memory_scalar(part)), part);
}

// Several narrow integers as one, the first one lowest.
Value joined(kir::Builder& b, const kir::Builder::Values& parts, size_t first, uint32_t from,
             uint32_t to) {
  const kir::Scalar wide = integer_of(to);
  Value sum;
  for (uint32_t i = 0; i < to / from; ++i) {
    Value part = b.int_resize(parts[first + i], wide, false);
    Value moved = b.shl(part, b.constant(kir::Type{wide}, int64_t{i} * from));
    sum = sum.valid() ? b.or_(sum, moved) : moved;
  }
  return sum;
}

// The `which`-th group of `to` bits among the parts; `which` is known at run time only.
Value part_of(kir::Builder& b, const kir::Builder::Values& parts, Value which, uint32_t from,
              uint32_t to) {
  const kir::Scalar wide = integer_of(from);
  const kir::Type index{b.type(which).scalar};
  const uint32_t runs = from / to;
  Value whole = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    Value first = b.constant(index, static_cast<int64_t>(i * runs));
    whole = b.select(b.slt(which, first), whole, parts[i]);
  }
  Value run = b.and_(which, b.constant(index, runs - 1));
  Value shift = b.mul(b.int_resize(run, wide, false), b.constant(kir::Type{wide}, to));
  return b.int_resize(b.lshr(whole, shift), integer_of(to), false);
}

}  // namespace

// Do the dtypes differ in width, so that elements are split or joined?
bool ElementEmitter::regroups_bits(const Node& n) const {
  if (n.prim != prims::Prim::bitcast) return false;
  const DType from = values_.graph.type(n.operands[0]).dtype;
  const DType to = values_.graph.type(n.results[0]).dtype;
  return bits(from) != bits(to) || is_complex(from) != is_complex(to);
}

// Where the narrow elements stand of which a wide one in a CPU's memory consists: they are loaded
// as they are. nullopt: it is not in memory, or a GPU's, whose buffers have elements of one type.
std::optional<Placement> ElementEmitter::parts_in_memory(const Node& n) const {
  const Placement* whole = values_.placement(n.operands[0]);
  const DType from = values_.graph.type(n.operands[0]).dtype;
  const DType to = values_.graph.type(n.results[0]).dtype;
  if (whole == nullptr || frame_.target().simt || byte_size(from) <= byte_size(to))
    return std::nullopt;
  const auto parts = static_cast<int64_t>(byte_size(from) / byte_size(to));
  Placement out{whole->buffer, whole->strides, whole->offset * parts};
  for (SymInt& stride : out.strides) stride *= parts;
  out.strides.emplace_back(1);
  return out;
}

ElementValue ElementEmitter::regrouped(const Node& n, const Indices& at) {
  kir::Builder& b = frame_.builder();
  const DType from = values_.graph.type(n.operands[0]).dtype;
  const DType to = values_.graph.type(n.results[0]).dtype;
  if (const auto parts = parts_in_memory(n)) {
    const bool strict =
        may_be_empty(values_.graph.type(n.operands[0]).shape) || values_.overwritten(n.operands[0]);
    return frame_.load(parts->buffer, to, element_address(*parts, at, arithmetic_), strict);
  }
  const uint32_t have = part_bits(from), want = part_bits(to), count = is_complex(to) ? 2 : 1;
  kir::Builder::Values parts, out;
  Value which;  // of a wide element's narrow ones; invalid when all are taken
  if (bits(from) < bits(to)) {
    for (int64_t i = 0; i < static_cast<int64_t>(bits(to) / bits(from)); ++i) {
      Indices source = at;
      source.push_back(affine_index(Affine{SymInt(i), {}, {}, {}}));
      append_bits(b, emit(n.operands[0], source), from, parts);
    }
  } else if (bits(from) == bits(to)) {
    append_bits(b, emit(n.operands[0], at), from, parts);
  } else {
    append_bits(b, emit(n.operands[0], Indices(at.begin(), at.end() - 1)), from, parts);
    which = value(at.back());
  }
  for (uint32_t c = 0; c < count; ++c) {
    if (have <= want && !which.valid()) {
      out.push_back(joined(b, parts, c * (want / have), have, want));
      continue;
    }
    const kir::Type index = which.valid() ? kir::Type{b.type(which).scalar} : frame_.index_type();
    Value run = b.constant(index, c);
    if (which.valid()) run = b.add(b.mul(which, b.constant(index, count)), run);
    out.push_back(part_of(b, parts, run, have, want));
  }
  return {from_bits(b, out[0], to), count > 1 ? from_bits(b, out[1], to) : Value{}};
}

}  // namespace primset::schedule
