// Stage 2, parse: a primitive's signature.
//
//   (x, indices...:index, bias?; dims:ints, in_bounds:bool=false) -> (values, positions:i64)
//
// Operands, then attributes behind the ';', then results. `...` marks any number of values, '?' one
// that may be absent. An operand's ':' names its dtypes (else the entry's `dtypes`), an attribute's
// its type, a result's where its dtype comes from (else the first operand). There are no spaces
// around ':', so that YAML needs no quotes.
#ifndef PRIMSET_CODEGEN_SPECGEN_PARSE_SIGNATURE_H_
#define PRIMSET_CODEGEN_SPECGEN_PARSE_SIGNATURE_H_

#include <string>
#include <vector>

#include "codegen/specgen/read/diagnostics.h"
#include "codegen/specgen/read/yaml.h"
#include "specs/bundle/primitive.h"

namespace primset::specs {

struct OperandText {
  Operand operand;     // its dtypes not yet filled in
  std::string dtypes;  // empty: the entry's
  Position position;
  Position dtypes_position;
};

struct Signature {
  std::vector<OperandText> operands;
  std::vector<Attribute> attributes;
  std::vector<PrimResult> results;
  std::vector<Position> result_positions;
};

// Reports the first mistake and returns what came before it.
Signature parse_signature(const YamlNode& scalar, Diagnostics& diagnostics);

std::string_view spelling(AttributeType type);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_PARSE_SIGNATURE_H_
