// The elementwise primitives as kernel IR.
#ifndef PRIMSET_CODEGEN_SCHEDULE_ELEMENT_SCALAR_LOWERING_H_
#define PRIMSET_CODEGEN_SCHEDULE_ELEMENT_SCALAR_LOWERING_H_

#include <span>

#include "codegen/kernel/ir/builder.h"
#include "codegen/schedule/element/element_value.h"
#include "prims/graph/graph.h"
#include "primset/scalar.h"

namespace primset::schedule {

// A literal of the dtype, one lane.
ElementValue literal(kir::Builder& b, const Scalar& v, DType dtype);

// ATen's conversion between dtypes (specs/prims/conversion.yaml).
ElementValue lower_convert(kir::Builder& b, const ElementValue& x, DType from, DType to);
// Of an index or another i32 or i64 of a kernel.
ElementValue convert_integer(kir::Builder& b, kir::Value x, DType to);
ElementValue lower_bitcast(kir::Builder& b, const ElementValue& x, DType from, DType to);

// Any core elementwise primitive (prims/graph/traits.h) but convert and bitcast. `from` is the
// dtype of the operands (of the second one for select), `to` the result's. Operands may differ in
// lanes. f16 and bf16 are computed in f32 and rounded once.
ElementValue lower_elementwise(kir::Builder& b, prims::Prim p, DType from, DType to,
                               std::span<const ElementValue> operands);

// Rounds an f32 register to the values of f16 or bf16; other dtypes are unchanged.
kir::Value round_to(kir::Builder& b, kir::Value x, DType dtype);

// Registers to what is stored and back (bool <-> i8, halves <-> i16 bits), one real part.
kir::Value to_memory(kir::Builder& b, kir::Value x, DType dtype);
kir::Value from_memory(kir::Builder& b, kir::Value x, DType dtype);

// How a primitive with a combiner (prims/graph/traits.h) combines two elements, and its identity.
ElementValue lower_combine(kir::Builder& b, prims::Prim p, DType dtype, const ElementValue& x,
                           const ElementValue& y);
Scalar combine_identity(prims::Prim p, DType dtype);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_ELEMENT_SCALAR_LOWERING_H_
