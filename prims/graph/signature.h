// The signatures of the primitives as specs/prims states them: operands, attributes and results.
//
// Every attribute is given in a node, in the signature's order. An optional operand that is absent
// is kNoValue in its place.
#ifndef PRIMSET_PRIMS_GRAPH_SIGNATURE_H_
#define PRIMSET_PRIMS_GRAPH_SIGNATURE_H_

#include <string_view>
#include <vector>

#include "prims/graph/graph.h"

namespace primset::prims {

struct OperandInfo {
  std::string_view name;
  bool variadic;
  bool optional;
  DTypeSet dtypes;
};

enum class AttributeType : uint8_t { dtype, integer, ints, size, sizes, scalar, string, boolean };

struct AttributeInfo {
  std::string_view name;
  AttributeType type;
};

struct ResultInfo {
  std::string_view name;
  bool variadic;
  // An operand's or a dtype attribute's name, a dtype's name, real(x) or complex(x) of an operand.
  std::string_view dtype;
};

struct Signature {
  std::vector<OperandInfo> operands;
  std::vector<AttributeInfo> attributes;
  std::vector<ResultInfo> results;
  std::vector<int> donates;  // operands whose memory the result may take over
};

const Signature& signature(Prim p);

// Does the attribute's value have the type? A scalar may also be a symbolic integer.
bool has_type(const Attr& attr, AttributeType type);

// Integers where sizes are meant become sizes, and the names are the table's.
void normalize_attrs(Prim p, std::vector<Attr>& attrs);

}  // namespace primset::prims

#endif  // PRIMSET_PRIMS_GRAPH_SIGNATURE_H_
