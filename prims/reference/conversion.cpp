#include <algorithm>

#include "prims/reference/array.h"
#include "prims/reference/elementwise.h"
#include "prims/reference/operation.h"

namespace primset::prims::reference {
namespace {

using Operands = std::span<const Element>;

Element convert_element(const ElementOp& op, Operands x) {
  return convert(x[0], op.from, op.to);
}

Element make_complex(const ElementOp& op, Operands x) {
  if (any_undecided(x)) return undecided_element();
  Element z = x[0];
  z.im = x[1].re;
  z.error = std::hypot(x[0].error, x[1].error);
  return z;
}

Element real_part(const ElementOp& op, Operands z) {
  if (z[0].undecided) return z[0];
  return real_element(z[0].re, z[0].error);
}

Element imaginary_part(const ElementOp& op, Operands z) {
  if (z[0].undecided) return z[0];
  return real_element(z[0].im, z[0].error);
}

// The bits of an inexact number could be anything nearby; only splitting a complex number into its
// parts, or joining them, keeps their bounds.
void mark_inexact(const Array& x, size_t from_count, Array& out, size_t to_count) {
  bool parts = is_complex(x.dtype) && real_type(x.dtype) == out.dtype;
  bool joins = is_complex(out.dtype) && real_type(out.dtype) == x.dtype;
  for (size_t i = 0; i < x.data.size(); ++i) {
    if (x.data[i].error == 0 && !x.data[i].undecided) continue;
    size_t first = i / from_count * to_count;
    for (size_t j = first; j < first + to_count; ++j) {
      if ((parts || joins || x.dtype == out.dtype) && !x.data[i].undecided) {
        out.data[j].error = std::hypot(out.data[j].error, x.data[i].error);
      } else {
        out.data[j] = undecided_element();
      }
    }
  }
}

std::vector<Array> bitcast(NodeRun& run) {
  const Array& x = run.x(0);
  Array out = run.result(0);
  out = from_bytes(out.dtype, out.shape, to_bytes(x));
  size_t from = std::max<size_t>(1, byte_size(out.dtype) / byte_size(x.dtype));
  size_t to = std::max<size_t>(1, byte_size(x.dtype) / byte_size(out.dtype));
  mark_inexact(x, from, out, to);
  return {std::move(out)};
}

// In a scalar region there are no dims, so only dtypes of one width.
Element bitcast_element(const ElementOp& op, Operands x) {
  if (x[0].undecided || (x[0].error > 0 && op.from != op.to)) return undecided_element();
  Array one{op.from, {}, {x[0]}};
  return from_bytes(op.to, {}, to_bytes(one)).data[0];
}

}  // namespace

void add_conversion(ElementTable& t) {
  t.set(Prim::convert, convert_element);
  t.set(Prim::complex, make_complex);
  t.set(Prim::real, real_part);
  t.set(Prim::imag, imaginary_part);
  t.set(Prim::bitcast, bitcast_element);
}

void add_conversion_operations(OperationTable& t) {
  t.set(Prim::bitcast, bitcast);
}

}  // namespace primset::prims::reference
