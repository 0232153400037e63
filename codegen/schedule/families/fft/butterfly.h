// Transforms of a few elements, which are in registers throughout. They serve scalars and vectors,
// each lane of which is a transform of its own.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_BUTTERFLY_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_BUTTERFLY_H_

#include <cstdint>
#include <vector>

#include "codegen/kernel/ir/builder.h"
#include "codegen/schedule/element/element_value.h"

namespace primset::schedule {

using Complexes = std::vector<ElementValue>;

ElementValue complex_product(kir::Builder& b, const ElementValue& x, const ElementValue& y);

// The transform of as many elements as there are, in their order; a product of 2, 3, 5 and 7.
Complexes butterfly(kir::Builder& b, const Complexes& x, bool forward);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_BUTTERFLY_H_
