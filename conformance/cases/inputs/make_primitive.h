// From the text of a primitive's case to a graph of one node and its inputs.
#ifndef PRIMSET_CONFORMANCE_CASES_INPUTS_MAKE_PRIMITIVE_H_
#define PRIMSET_CONFORMANCE_CASES_INPUTS_MAKE_PRIMITIVE_H_

#include <string_view>

#include "conformance/cases/inputs/case_text.h"
#include "specs/bundle/primitive.h"

namespace primset::conformance {

// Fills test.graph and test.inputs. Throws Error{value} for a text that does not fit the primitive.
void make_primitive_case(const specs::Primitive& primitive, const CaseText& text,
                         ValueReader& reader, TestCase& test);

// The same for a text that is a whole graph. Inputs may say how they are filled:
// graph(%0 n: i64[]{3..9}) ...
void make_graph_case(std::string_view text, ValueReader& reader, TestCase& test);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_INPUTS_MAKE_PRIMITIVE_H_
