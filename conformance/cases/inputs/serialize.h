// A case as one JSON document that needs no generator to be run again: arguments with all their
// bytes, the graph as text, and what was expected, for people.
#ifndef PRIMSET_CONFORMANCE_CASES_INPUTS_SERIALIZE_H_
#define PRIMSET_CONFORMANCE_CASES_INPUTS_SERIALIZE_H_

#include <string>
#include <string_view>

#include "conformance/cases/inputs/case.h"

namespace primset::conformance {

struct SavedCase {
  TestCase test;
  uint64_t seed = 0;
  std::string device;
  // For people: what the case computes, what was expected, what was seen.
  std::string graph, expected, verdict;
};

std::string to_json(const SavedCase& saved);       // for a file of its own
std::string to_json_line(const SavedCase& saved);  // for a file of many
inline constexpr int kSavedCaseVersion = 1;

// Nothing in the text is trusted: what is no case that can be run is an Error{corrupt} that says
// where in the document it stands ("args[1].tensor.strides"), what was found and what was expected.
// Whether the case fits its operator or primitive is for check_case (check_case.h) to say.
SavedCase saved_case_from_json(std::string_view text);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_INPUTS_SERIALIZE_H_
