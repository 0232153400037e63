#include <fmt/format.h>
#include <primset/device.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "sdk/base/printable.h"
#include "sdk/cli/command.h"
#include "sdk/cli/output.h"
#include "sdk/cli/terminal.h"
#include "sdk/runtime/device/device_state.h"

namespace primset::cli {
namespace {

std::string memory_text(uint64_t bytes) {
  return bytes == 0 ? "-" : fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1u << 30));
}

std::string joined(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, " "));
}

int print_json(const std::vector<DeviceInfo>& list) {
  auto out = nlohmann::json::array();
  for (const DeviceInfo& d : list) {
    out.push_back({{"name", d.name},
                   {"title", d.title},
                   {"plugin", d.plugin_file},
                   {"version", d.plugin_version},
                   {"kernel_format", d.kernel_format},
                   {"memory_bytes", d.memory_bytes},
                   {"dtypes", d.dtypes},
                   {"error", d.error}});
  }
  fmt::print("{}\n", json_text(out, 2));
  return kOk;
}

// For scripts: the devices that can be used, one a line.
int print_names(const std::vector<DeviceInfo>& list) {
  bool any = false;
  for (const DeviceInfo& d : list) {
    if (d.error.empty()) fmt::print("{}\n", d.name);
    any |= d.error.empty();
  }
  return any ? kOk : kNegative;
}

void print_skipped() {
  for (const plugin::SkippedFolder& folder : runtime::plugin_registry().skipped())
    fmt::print("{} {}\n",
               styled(Style::warning, printable(folder.path.string()) + ": not searched:"),
               folder.reason);
}

int print_table(const std::vector<DeviceInfo>& list) {
  Table table({"DEVICE", "NAME", "KERNELS", "MEMORY", "DTYPES"});
  for (const DeviceInfo& d : list) {
    if (d.error.empty())
      table.add({d.name, printable(d.title), d.kernel_format, memory_text(d.memory_bytes),
                 joined(d.dtypes)});
  }
  fmt::print("{}", table.text());
  for (const DeviceInfo& d : list) {
    if (!d.error.empty())
      fmt::print("{} {}\n", styled(Style::bad, d.name + ":"), printable(d.error));
  }
  print_skipped();
  if (!list.empty()) return kOk;
  fmt::print("No plugins found. Searched:\n");
  for (const plugin::SearchEntry& entry : runtime::plugin_registry().path())
    fmt::print("  {}\n", printable(entry.path.string()));
  return kNegative;
}

const Command kDevicesCommand(
    "devices", "List the devices of all plugins found",
    "Example:\n"
    "  primset devices\n"
    "  PRIMSET_PLUGIN_PATH=build/lib primset devices --json\n"
    "A plugin that cannot be used is listed with the reason, as is a folder that others may "
    "write.\n"
    "Exit code 1: no plugin was found.",
    [](CLI::App& app) {
      auto json = std::make_shared<bool>(false), names = std::make_shared<bool>(false);
      auto* as_json = app.add_flag("--json", *json, "An array with one object a device");
      app.add_flag("--names", *names, "One name a line, of those that can be used")
          ->excludes(as_json);
      return [json, names] {
        const std::vector<DeviceInfo> list = devices();
        return *json ? print_json(list) : *names ? print_names(list) : print_table(list);
      };
    });

}  // namespace
}  // namespace primset::cli
