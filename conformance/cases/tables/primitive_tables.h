// The cases of primitives, as data.
#ifndef PRIMSET_CONFORMANCE_CASES_TABLES_PRIMITIVE_TABLES_H_
#define PRIMSET_CONFORMANCE_CASES_TABLES_PRIMITIVE_TABLES_H_

#include <span>
#include <string_view>

#include "conformance/cases/tables/recipe.h"

namespace primset::conformance {

// `primitives` is a glob on "category/name". The text is a case text over operands and attributes,
// or a whole graph, in which $T stands for the dtype of the case.
struct PrimitiveRow {
  std::string_view primitives;
  std::string_view name;
  CaseTier tier;
  std::string_view text;
};

// Every row whose glob matches applies.
std::span<const PrimitiveRow> elementwise_rows();  // shapes; `?` is replaced by each operand
std::span<const PrimitiveRow> shape_rows();
std::span<const PrimitiveRow> reduction_rows();
std::span<const PrimitiveRow> indexing_rows();
std::span<const PrimitiveRow> contraction_rows();
std::span<const PrimitiveRow> network_primitive_rows();
std::span<const PrimitiveRow> fft_primitive_rows();
std::span<const PrimitiveRow> region_rows();
std::span<const PrimitiveRow> random_rows();
std::span<const PrimitiveRow> spatial_rows();
std::span<const PrimitiveRow> spectra_rows();
std::span<const PrimitiveRow> sparse_primitive_rows();

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_TABLES_PRIMITIVE_TABLES_H_
