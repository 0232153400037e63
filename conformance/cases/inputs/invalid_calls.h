// Invalid calls: a case with one argument changed for the worse.
#ifndef PRIMSET_CONFORMANCE_CASES_INPUTS_INVALID_CALLS_H_
#define PRIMSET_CONFORMANCE_CASES_INPUTS_INVALID_CALLS_H_

#include <functional>
#include <string>

#include "conformance/cases/inputs/case.h"
#include "specs/bundle/model.h"

namespace primset::conformance {

// Calls `use` with each invalid call made of the case and what was done to it, in words. The
// arguments stay of the kinds that the schema has; whether the call must be refused is not said.
// The tensors' memory does not fit their sizes any more: such a call is to be traced, not run.
void for_each_invalid_call(const specs::Overload& overload, const TestCase& test,
                           const std::function<void(const TestCase&, const std::string&)>& use);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_INPUTS_INVALID_CALLS_H_
