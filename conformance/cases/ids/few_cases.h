// For which operators and dtypes few cases can compute something: few_cases.yaml, which is part of
// the program.
#ifndef PRIMSET_CONFORMANCE_CASES_IDS_FEW_CASES_H_
#define PRIMSET_CONFORMANCE_CASES_IDS_FEW_CASES_H_

#include <map>
#include <string>
#include <utility>

#include "primset/dtype.h"

namespace primset::conformance {

// The reason, by overload and dtype.
using FewCases = std::map<std::pair<std::string, DType>, std::string>;

const FewCases& few_cases();

// Throws Error{value} as "few_cases.yaml:line: what; expected …".
FewCases parse_few_cases(const std::string& yaml);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_IDS_FEW_CASES_H_
