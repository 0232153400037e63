// The group of operators that a subject of cases belongs to.
#ifndef PRIMSET_CONFORMANCE_CASES_IDS_FAMILY_H_
#define PRIMSET_CONFORMANCE_CASES_IDS_FAMILY_H_

#include <string>
#include <string_view>

#include "specs/bundle/model.h"

namespace primset::conformance {

// "pointwise_binary" of "add.Tensor", "prim/shape" of "prim/pad"; "unknown" where there is no such
// operator.
std::string family_of(const specs::Bundle& bundle, std::string_view subject);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_IDS_FAMILY_H_
