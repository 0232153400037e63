// The same case with other sizes: every size but 0 and 1 changes, equal ones to equal ones, so that
// the call has the same key and should take the same plan.
#ifndef PRIMSET_CONFORMANCE_CASES_INPUTS_RESIZE_H_
#define PRIMSET_CONFORMANCE_CASES_INPUTS_RESIZE_H_

#include <optional>
#include <string>
#include <vector>

#include "conformance/cases/inputs/case.h"
#include "specs/bundle/model.h"

namespace primset::conformance {

// Ways to change the sizes in a case's text, the mildest first: sizes of tensors alone, then with
// them the lists of sizes, then the numbers too that the operator takes at run time.
std::vector<std::string> resized_texts(const specs::Overload& overload, const std::string& text);

// The first of them that the operator takes, as a case under the same id; nothing when it takes
// none, or when nothing changes.
std::optional<TestCase> make_resized_case(const specs::Bundle& bundle, const CaseId& id,
                                          uint64_t seed);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_INPUTS_RESIZE_H_
