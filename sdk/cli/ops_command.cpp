#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "sdk/cli/command.h"
#include "sdk/cli/output.h"
#include "sdk/cli/terminal.h"
#include "sdk/runtime/call/operator_info.h"

namespace primset::cli {
namespace {

struct OpsOptions {
  bool json = false, implemented = false, declared = false, count = false, names = false;
  bool families = false, internal = false;
  std::string family, match;
};

std::vector<std::string> dtype_names(DTypeSet set) {
  std::vector<std::string> out;
  for (int code = 0; code < kDTypeCodes; ++code) {
    if (set.contains(static_cast<DType>(code))) out.emplace_back(name(static_cast<DType>(code)));
  }
  return out;
}

bool implemented(const specs::Overload& o) {
  return o.status == specs::Status::implemented;
}

bool wanted(const specs::Overload& o, const OpsOptions& options) {
  if (o.internal != options.internal) return false;
  if (!options.family.empty() && o.family != options.family) return false;
  if (!options.match.empty() && o.qualified.find(options.match) == std::string::npos) return false;
  return !(options.implemented && !implemented(o)) && !(options.declared && implemented(o));
}

std::string_view kind_name(specs::OverloadKind kind) {
  switch (kind) {
    case specs::OverloadKind::functional:
      return "functional";
    case specs::OverloadKind::inplace:
      return "inplace";
    case specs::OverloadKind::out:
      return "out";
    case specs::OverloadKind::mutable_op:
      return "mutable";
  }
  return "";
}

nlohmann::json describe(const specs::Bundle& bundle, const specs::Overload& o) {
  return {{"name", o.qualified},
          {"schema", o.schema},
          {"family", o.family},
          {"kind", kind_name(o.kind)},
          {"status", implemented(o) ? "implemented" : "declared"},
          {"reason", o.status_reason},
          {"base", o.base == specs::kNoIndex ? "" : bundle.overloads[o.base].qualified},
          {"tags", o.tags},
          {"dtypes", dtype_names(bundle.dtypes_of(o))}};
}

std::set<std::string_view> families_of(const specs::Bundle& bundle) {
  std::set<std::string_view> families;
  for (const specs::Overload& o : bundle.overloads) {
    if (!o.internal) families.insert(o.family);
  }
  return families;
}

int ops_command(const OpsOptions& options) {
  const specs::Bundle& bundle = runtime::OperatorRegistry::instance().bundle();
  const auto families = families_of(bundle);
  if (options.families) {
    fmt::print("{}\n", fmt::join(families, "\n"));
    return kOk;
  }
  if (!options.family.empty() && !families.contains(options.family)) {
    fmt::print(stderr, "primset ops: --family: there is no '{}'; expected one of {}\n",
               options.family, fmt::join(families, ", "));
    return kUsage;
  }
  auto json = nlohmann::json::array();
  Table table({"OPERATOR", "FAMILY", "STATUS", "DTYPES"});
  size_t shown = 0, done = 0;
  for (const specs::Overload& o : bundle.overloads) {
    if (!wanted(o, options)) continue;
    ++shown;
    done += implemented(o);
    if (options.names) {
      fmt::print("{}\n", o.qualified);
    } else if (options.json) {
      json.push_back(describe(bundle, o));
    } else if (!options.count) {
      table.add({o.qualified, o.family, implemented(o) ? "implemented" : "declared",
                 fmt::format("{}", fmt::join(dtype_names(bundle.dtypes_of(o)), " "))});
    }
  }
  if (options.names) return shown == 0 ? kNegative : kOk;
  if (options.json)
    fmt::print("{}\n", json_text(json, 1));
  else if (!options.count)
    fmt::print("{}", table.text());
  if (!options.json) fmt::print("{} overloads, {} implemented\n", shown, done);
  return shown == 0 ? kNegative : kOk;
}

const Command kOpsCommand(
    "ops", "List the operators",
    "Example:\n"
    "  primset ops --family reduction --implemented\n"
    "  primset ops --match softmax --json\n"
    "Each overload of ATen is listed with its status: `declared` has a schema only. Exit code 1: "
    "no\n"
    "operator matches.",
    [](CLI::App& app) {
      auto o = std::make_shared<OpsOptions>();
      app.add_flag("--json", o->json,
                   "An array: name, schema, family, kind, status, reason, base, tags, dtypes");
      app.add_option("--family", o->family, "Only this family (a file in specs/ops)");
      app.add_option("match,--match", o->match, "Only names that contain this text");
      auto* yes = app.add_flag("--implemented", o->implemented, "Only those that can be called");
      app.add_flag("--declared", o->declared, "Only those that cannot")->excludes(yes);
      app.add_flag("--names", o->names, "One name a line");
      app.add_flag("--families", o->families, "Only the families' names, one a line");
      app.add_flag("--count", o->count, "Only the numbers");
      app.add_flag(
          "--internal", o->internal,
          "Only those that are none of ATen's: what operators on sparse tensors are made of");
      return [o] { return ops_command(*o); };
    });

}  // namespace
}  // namespace primset::cli
