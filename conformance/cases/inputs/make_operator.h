// From the text of an operator's case to its arguments.
#ifndef PRIMSET_CONFORMANCE_CASES_INPUTS_MAKE_OPERATOR_H_
#define PRIMSET_CONFORMANCE_CASES_INPUTS_MAKE_OPERATOR_H_

#include "conformance/cases/inputs/case_text.h"
#include "specs/bundle/model.h"

namespace primset::conformance {

// Fills test.args, one an argument of the schema. Throws Error{value} for a text that names an
// argument the operator does not have, or leaves one out that has no default.
void make_operator_case(const specs::Overload& overload, const CaseText& text, ValueReader& reader,
                        TestCase& test);

// A schema's default as an argument.
ArgValue default_argument(const specs::Argument& argument);

// Finds arguments that the operator takes, by trying: for operators that no generator and no table
// knows. `variant` picks where the search begins, so that variants differ. Returns the text; throws
// Error{value} when nothing fits.
std::string find_automatic_text(const specs::Bundle& bundle, const specs::Overload& overload,
                                DType dtype, size_t variant);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_INPUTS_MAKE_OPERATOR_H_
