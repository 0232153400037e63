// dtypes.yaml: what an element type is.
#ifndef PRIMSET_CODEGEN_SPECGEN_PARSE_DTYPE_READER_H_
#define PRIMSET_CODEGEN_SPECGEN_PARSE_DTYPE_READER_H_

#include <string>

#include "codegen/specgen/read/diagnostics.h"
#include "codegen/specgen/read/yaml.h"
#include "primset/float_format.h"
#include "specs/bundle/model.h"

namespace primset::specs {

// All that dtypes.yaml states of a dtype. The bundle holds `entry`; the rest is compiled in.
struct DTypeDefinition {
  DTypeEntry entry;
  std::string aten_name;
  std::string cpp_name;
  std::string parts;        // a complex dtype's real one, by name; else empty
  uint8_t dlpack_code = 0;  // DLDataTypeCode
  FloatFormat format;       // of a floating dtype
};

// Reads one item of `dtypes:`. A complex dtype's parts are a floating one of `known`.
DTypeDefinition read_dtype(const YamlNode& node, const Bundle& known, Diagnostics& diagnostics);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_PARSE_DTYPE_READER_H_
