// One primitive: what PrimGraph nodes, back ends and the reference interpreter agree on.
#ifndef PRIMSET_SPECS_BUNDLE_PRIMITIVE_H_
#define PRIMSET_SPECS_BUNDLE_PRIMITIVE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "primset/dtype.h"
#include "specs/bundle/operator.h"
#include "specs/bundle/prim_traits.h"

namespace primset::specs {

struct Operand {
  std::string name;
  bool variadic = false;  // any number of values, one or more
  bool optional = false;
  DTypeSet dtypes;

  friend bool operator==(const Operand&, const Operand&) = default;
};

enum class AttributeType : uint8_t {
  dtype,
  integer,
  ints,    // a list of integers
  size,    // one symbolic integer
  sizes,   // a list of symbolic integers: shapes, starts, limits
  scalar,  // a number, possibly only known at launch
  string,
  boolean,
};

struct Attribute {
  std::string name;
  AttributeType type = AttributeType::integer;
  DefaultValue default_value;  // absent: must be given

  friend bool operator==(const Attribute&, const Attribute&) = default;
};

struct PrimResult {
  std::string name;
  bool variadic = false;
  // Where its dtype comes from: an operand's or a dtype attribute's name, a dtype's name, or
  // real(x) / complex(x) of an operand.
  std::string dtype;

  friend bool operator==(const PrimResult&, const PrimResult&) = default;
};

// One stated behaviour at an edge; conformance cases are labelled with the label.
struct EdgeRule {
  std::string label;
  std::string text;

  friend bool operator==(const EdgeRule&, const EdgeRule&) = default;
};

struct Primitive {
  std::string name;
  std::string category;
  Tier tier = Tier::core;
  std::vector<Operand> operands;
  std::vector<Attribute> attributes;
  std::vector<PrimResult> results;
  uint32_t regions = 0;
  std::string meaning;
  std::vector<EdgeRule> edges;
  std::vector<ToleranceRule> tolerance;
  // The compute dtype: "opmath" (f32 for halves), "same", or a dtype's name.
  std::string compute;
  std::vector<uint32_t> donates;  // operands whose memory the result may take over
  bool discontinuous = false;     // a tiny change of an input may change the result much
  PrimTraits traits;
  // Indices of the primitives that a mistake may put in its place.
  std::vector<uint32_t> siblings;
  Implementation decomposition;  // formula or function; derived primitives only
  uint32_t file = 0;
  uint32_t line = 0;
  uint32_t column = 0;

  friend bool operator==(const Primitive&, const Primitive&) = default;
};

}  // namespace primset::specs

#endif  // PRIMSET_SPECS_BUNDLE_PRIMITIVE_H_
