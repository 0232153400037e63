// Whether a case's arguments are what its operator's schema or its primitive graph takes. Cases
// that the catalogue makes are; one that was read from a file need not be.
#ifndef PRIMSET_CONFORMANCE_CASES_INPUTS_CHECK_CASE_H_
#define PRIMSET_CONFORMANCE_CASES_INPUTS_CHECK_CASE_H_

#include "conformance/cases/inputs/case.h"
#include "specs/bundle/model.h"

namespace primset::conformance {

// Throws Error{corrupt} that says which argument it is, what was found and what was expected.
void check_case(const specs::Bundle& bundle, const TestCase& test);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_INPUTS_CHECK_CASE_H_
