#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "sdk/cli/command.h"
#include "sdk/cli/output.h"
#include "sdk/cli/reachable.h"
#include "sdk/cli/terminal.h"
#include "sdk/runtime/call/operator_info.h"

namespace primset::cli {
namespace {

struct PrimsOptions {
  bool json = false, unused = false;
  std::string tier, match;
};

std::string signature(const specs::Primitive& p) {
  std::vector<std::string> parts, results;
  for (const auto& o : p.operands)
    parts.push_back(o.name + (o.variadic ? "..." : "") + (o.optional ? "?" : ""));
  for (const auto& a : p.attributes) parts.push_back(a.name + "=");
  for (const auto& r : p.results) results.push_back(r.name + (r.variadic ? "..." : ""));
  return fmt::format("({}) -> ({})", fmt::join(parts, ", "), fmt::join(results, ", "));
}

int prims_command(const PrimsOptions& options) {
  const specs::Bundle& bundle = runtime::OperatorRegistry::instance().bundle();
  std::set<uint32_t> used;
  if (options.unused) used = reachable_primitives(bundle);
  auto json = nlohmann::json::array();
  Table table({"PRIMITIVE", "TIER", "CATEGORY", "SIGNATURE"});
  size_t shown = 0;
  for (const specs::Primitive& p : bundle.primitives) {
    if (options.unused && used.contains(bundle.index_of(p))) continue;
    if (!options.tier.empty() && specs::trait_name(p.tier) != options.tier) continue;
    if (p.name.find(options.match) == std::string::npos) continue;
    ++shown;
    if (options.json)
      json.push_back({{"name", p.name},
                      {"tier", specs::trait_name(p.tier)},
                      {"category", p.category},
                      {"signature", signature(p)},
                      {"meaning", p.meaning},
                      {"decomposition", p.decomposition.kind == specs::ImplKind::formula
                                            ? p.decomposition.formula.text
                                            : p.decomposition.function}});
    else
      table.add({p.name, std::string(specs::trait_name(p.tier)), p.category, signature(p)});
  }
  if (options.json)
    fmt::print("{}\n", json_text(json, 1));
  else
    fmt::print("{}{} primitives\n", table.text(), shown);
  return options.unused && shown != 0 ? kNegative : kOk;
}

const Command kPrimsCommand(
    "prims", "List the primitives",
    "Example:\n"
    "  primset prims --tier core\n"
    "  primset prims --unused\n"
    "With --unused: those that no implemented operator's decomposition reaches, found from the "
    "formulas\n"
    "and by tracing each operator on sample arguments. Exit code 1: there are such.",
    [](CLI::App& app) {
      auto o = std::make_shared<PrimsOptions>();
      app.add_flag("--json", o->json,
                   "An array: name, tier, category, signature, meaning, decomposition");
      app.add_flag("--unused", o->unused, "Only those that nothing uses");
      app.add_option("--tier", o->tier, "core, region or derived")
          ->check(CLI::IsMember({"core", "region", "derived"}));
      app.add_option("match,--match", o->match, "Only names that contain this text");
      return [o] { return prims_command(*o); };
    });

}  // namespace
}  // namespace primset::cli
