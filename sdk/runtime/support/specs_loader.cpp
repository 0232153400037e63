// load_specs(): operators from a bundle or from YAML, at run time.
#include <fmt/format.h>

#include <memory>

#include "codegen/specgen/compile.h"
#include "primset/error.h"
#include "primset/invoke.h"
#include "sdk/runtime/call/operator_info.h"
#include "specs/bundle/reader.h"

namespace primset {

void load_specs(const std::string& path) {
  const bool yaml = path.ends_with(".yaml") || path.ends_with(".yml");
  if (!yaml) {
    runtime::set_bundle(std::make_unique<specs::Bundle>(specs::load_bundle(path)));
    return;
  }
  specs::Diagnostics diagnostics;
  specs::Bundle merged = specs::merge(specs::embedded_bundle(), {path}, diagnostics);
  if (!diagnostics.ok()) throw Error(ErrorCode::value, diagnostics.text());
  runtime::set_bundle(std::make_unique<specs::Bundle>(std::move(merged)));
}

}  // namespace primset
