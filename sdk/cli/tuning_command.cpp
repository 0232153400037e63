#include <fmt/format.h>
#include <primset/device.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "sdk/cli/command.h"
#include "sdk/cli/output.h"
#include "sdk/cli/terminal.h"
#include "sdk/runtime/device/device_state.h"

namespace primset::cli {
namespace {

using schedule::Tuning;

struct Row {
  Tuning::Parameter parameter;
  int64_t default_value = 0;
  std::string name() const { return fmt::format("{}.{}", parameter.family, parameter.name); }
};

std::vector<Row> rows_of(const runtime::DeviceState& device) {
  const auto now = device.machine().tuning.parameters();
  const auto defaults = Tuning(device.target()).parameters();
  std::vector<Row> out;
  for (size_t i = 0; i < now.size(); ++i) out.push_back({now[i], defaults[i].value});
  return out;
}

int print_json(const std::vector<Row>& rows) {
  auto out = nlohmann::json::array();
  for (const Row& r : rows) {
    out.push_back({{"name", r.name()},
                   {"value", r.parameter.value},
                   {"default", r.default_value},
                   {"text", r.parameter.text}});
  }
  fmt::print("{}\n", json_text(out, 2));
  return kOk;
}

int print_table(const std::vector<Row>& rows) {
  Table table({"PARAMETER", "VALUE", "DEFAULT", "WHAT IT IS"});
  for (const Row& r : rows) {
    table.add({r.name(), std::to_string(r.parameter.value), std::to_string(r.default_value),
               std::string(r.parameter.text)});
  }
  fmt::print("{}", table.text());
  return kOk;
}

int show(const std::string& name, bool json) {
  const Device chosen = name.empty() ? current_device() : Device(name);
  const runtime::DeviceState& device = runtime::device_state(chosen);
  if (!device.has_kernels()) {
    std::fprintf(stderr, "primset tuning: %s takes no kernels, so there are none to tune\n",
                 chosen.to_string().c_str());
    return kNegative;
  }
  return json ? print_json(rows_of(device)) : print_table(rows_of(device));
}

const Command kTuningCommand(
    "tuning", "Show the parameters of the kernel families on a device",
    "Example:\n"
    "  primset tuning --device cuda:0\n"
    "  PRIMSET_TUNING=reduction.thread_row=64,sort.run=16 primset bench sum --shapes 65536x64\n"
    "The defaults follow from what the device says of itself. PRIMSET_TUNING overrides them for a\n"
    "process; no result changes but the last digits of sums where the text says so. Measure with\n"
    "conformance/benchmarks/measure_tuning.py. -1 stands for automatic: the cost model decides.",
    [](CLI::App& app) {
      auto device = std::make_shared<std::string>();
      auto json = std::make_shared<bool>(false);
      app.add_option("--device", *device, "cpu, vulkan:0, ... (default: the current device)");
      app.add_flag("--json", *json, "An array with one object a parameter");
      return [device, json] { return show(*device, *json); };
    });

}  // namespace
}  // namespace primset::cli
