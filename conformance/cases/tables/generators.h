// Generators of operator cases: one for each way in which operators take their arguments. A spec
// names one under `cases:`; without a name the operator's family decides.
#ifndef PRIMSET_CONFORMANCE_CASES_TABLES_GENERATORS_H_
#define PRIMSET_CONFORMANCE_CASES_TABLES_GENERATORS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/tables/recipe.h"
#include "specs/bundle/model.h"

namespace primset::conformance {

// The texts refer to the arguments of `overload`, a functional one.
using Generator = std::vector<Recipe> (*)(const specs::Overload& overload, DType dtype);

std::vector<Recipe> elementwise_cases(const specs::Overload& overload, DType dtype);
// Of (x, n) that take n steps or until they pass it: of n only small numbers.
std::vector<Recipe> stepwise_cases(const specs::Overload& overload, DType dtype);
std::vector<Recipe> reduction_cases(const specs::Overload& overload, DType dtype);
std::vector<Recipe> scan_cases(const specs::Overload& overload, DType dtype);
std::vector<Recipe> foreach_cases(const specs::Overload& overload, DType dtype);
// Of operators that take a step of an optimizer.
std::vector<Recipe> optimizer_step_cases(const specs::Overload& overload, DType dtype);
std::vector<Recipe> like_cases(const specs::Overload& overload, DType dtype);

// By the name that a spec gives; null when there is no such generator.
Generator find_generator(std::string_view name);
// What a family's operators take where the spec says nothing; null for families without a rule.
Generator family_generator(const specs::Overload& overload);

// Which dtypes of an operator a row is for.
enum class RowDTypes : uint8_t {
  all,
  numbers,  // not bool
  fractional,
  integral,
  real,          // not complex
  real_numbers,  // neither complex nor bool
  products,      // that matrices are multiplied of: neither bool nor 8-bit floats
  narrow,        // whose range ends below 1e39
  promoting,     // those that meet other dtypes: 8-bit floats meet none
};
// A case of single operators, as data.
struct OperatorRow {
  // Globs on the qualified names of functional overloads, separated by spaces; after '=' a name
  // whose twins (twin_of) do not take the row.
  std::string_view op;
  std::string_view name;  // of the case
  CaseTier tier;
  std::string_view text;  // its arguments, as case_text.h has them
  RowDTypes dtypes = RowDTypes::all;
};
std::span<const OperatorRow> arithmetic_rows();   // rounded quotients, sums to sizes
std::span<const OperatorRow> matrix_rows();       // matmul, linalg
std::span<const OperatorRow> equation_rows();     // linear equations, what rests on LU
std::span<const OperatorRow> spectra_op_rows();   // linalg: factorisations by orthogonal matrices
std::span<const OperatorRow> fft_rows();          // Fourier transforms
std::span<const OperatorRow> convolution_rows();  // and attention
std::span<const OperatorRow> indexing_op_rows();  // reading at indices, sort and search
std::span<const OperatorRow> scatter_rows();      // writing at indices
std::span<const OperatorRow> view_rows();
std::span<const OperatorRow> rearrange_rows();
std::span<const OperatorRow> creation_rows();       // and copies
std::span<const OperatorRow> network_rows();        // normalisation, pooling, upsampling, losses
std::span<const OperatorRow> normalization_rows();  // their gradients, kinds of batch norm, dropout
std::span<const OperatorRow> random_op_rows();
std::span<const OperatorRow> host_function_rows();
std::span<const OperatorRow> sparse_rows();       // making sparse tensors, their parts and layouts
std::span<const OperatorRow> sparse_twin_rows();  // computing with them
// Sparse tensors where an operator takes strided ones; beside whatever else it has.
std::span<const OperatorRow> sparse_layout_rows();

// The operator whose rows are this one's, too; null when there is none.
const specs::Overload* twin_of(const specs::Bundle& bundle, const specs::Overload& overload);

// Arguments without a default that a generator does not know, given something plausible:
// " dim=0 p=0.5". Names in `known` are left out.
std::string plausible_arguments(const specs::Overload& overload, DType dtype,
                                std::span<const std::string> known);

// How the text of a case begins that no generator and no table knows: its arguments are found when
// the case is made (find_automatic_text in make_operator.h).
inline constexpr std::string_view kAutomatic = "automatic ";

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_TABLES_GENERATORS_H_
