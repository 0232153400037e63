// host_functions.yaml: the C++ functions that operators name and that run on the host.
#ifndef PRIMSET_CODEGEN_SPECGEN_PARSE_HOST_FUNCTIONS_H_
#define PRIMSET_CODEGEN_SPECGEN_PARSE_HOST_FUNCTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "codegen/specgen/read/diagnostics.h"
#include "codegen/specgen/read/yaml.h"
#include "specs/bundle/model.h"

namespace primset::specs {

// Reads a file with `intrinsics:`, `sparse:`, `checks:` and `written_checks:` into the bundle.
void read_host_functions(const YamlNode& root, Bundle& bundle, Diagnostics& diagnostics);

// The name that `node` says, of one of `known`; empty, with an error, when it is none. `what` they
// are is for messages: "intrinsic".
std::string parse_host_function(const YamlNode& node, std::string_view what,
                                const std::vector<HostFunction>& known, Diagnostics& diagnostics);
// The same of a list of names.
std::vector<std::string> parse_host_functions(const YamlNode& node, std::string_view what,
                                              const std::vector<HostFunction>& known,
                                              Diagnostics& diagnostics);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_PARSE_HOST_FUNCTIONS_H_
