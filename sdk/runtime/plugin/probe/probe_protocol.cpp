#include "sdk/runtime/plugin/probe/probe_protocol.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sdk/base/printable.h"

namespace primset::plugin {
namespace {

using nlohmann::json;

// Texts are printable already, so that dump never meets invalid UTF-8; if one is not, it is
// replaced rather than thrown about.
std::string line_of(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string text_of(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_string()) return {};
  return printable(std::string_view(it->get_ref<const std::string&>()), 64 << 10, Newlines::keep);
}

uint64_t number_of(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number_unsigned() ? it->get<uint64_t>() : 0;
}

ProbedDevice device_of(const json& object) {
  return {static_cast<uint32_t>(number_of(object, "device")),
          text_of(object, "error"),
          {text_of(object, "title"), text_of(object, "version"),
           static_cast<uint32_t>(number_of(object, "kernel_format")),
           number_of(object, "memory_bytes"), number_of(object, "dtypes")}};
}

}  // namespace

std::string step_line(std::string_view step) {
  return line_of({{"step", step}});
}

std::string log_line(uint32_t level, std::string_view text) {
  return line_of({{"log", text}, {"level", level}});
}

std::string device_line(uint32_t index, const DeviceDescription& d) {
  return line_of({{"device", index},
                  {"title", d.title},
                  {"version", d.plugin_version},
                  {"kernel_format", d.kernel_format},
                  {"memory_bytes", d.memory_bytes},
                  {"dtypes", d.dtypes}});
}

std::string device_error_line(uint32_t index, std::string_view error) {
  return line_of({{"device", index}, {"error", error}});
}

std::string error_line(std::string_view error) {
  return line_of({{"error", error}});
}

std::string done_line() {
  return line_of({{"done", true}});
}

void read_probe_line(std::string_view line, const LogSink& log, ProbeAnswer& answer) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) return;
  if (object.contains("step")) {
    answer.step = text_of(object, "step");
  } else if (object.contains("log")) {
    const auto level = std::min<uint64_t>(number_of(object, "level"), PRIMSET_LOG_ERROR);
    if (log) log(static_cast<uint32_t>(level), text_of(object, "log"));
  } else if (object.contains("device")) {
    const bool known =
        object["device"].is_number_unsigned() && object["device"].get<uint64_t>() < kMaxDevices;
    if (known && answer.devices.size() < kMaxDevices) answer.devices.push_back(device_of(object));
  } else if (object.contains("error")) {
    answer.error = text_of(object, "error");
  } else if (object.contains("done")) {
    answer.done = true;
  }
}

}  // namespace primset::plugin
