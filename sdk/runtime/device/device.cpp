#include "primset/device.h"

#include <fmt/format.h>

#include <charconv>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "primset/dtype.h"
#include "primset/error.h"
#include "sdk/base/exception_text.h"
#include "sdk/base/printable.h"
#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/device/target.h"
#include "sdk/runtime/support/host_state.h"
#include "sdk/runtime/support/options.h"

namespace primset {
namespace {

// Type names seen so far; their positions are part of Device and never change.
struct Types {
  std::mutex mutex;
  std::deque<std::string> names{"cpu", "meta"};  // a deque: the strings never move
  std::unordered_map<std::string_view, uint16_t> positions{{names[0], 0}, {names[1], 1}};
};
Types& types() {
  static Types* instance = new Types;
  return *instance;
}

bool valid_type(std::string_view type) {
  if (type.empty() || type[0] < 'a' || type[0] > 'z') return false;
  for (char c : type) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
  }
  return true;
}

uint16_t intern(std::string_view type) {
  Types& all = types();
  std::lock_guard lock(all.mutex);
  if (const auto known = all.positions.find(type); known != all.positions.end())
    return known->second;
  // A position has 16 bits. One that began anew would make this device another.
  if (all.names.size() > UINT16_MAX)
    throw Error(ErrorCode::runtime,
                fmt::format("Device '{}': this process has used the names of {} types of devices; "
                            "expected no more than that",
                            type, all.names.size()));
  const auto position = static_cast<uint16_t>(all.names.size());
  all.positions.emplace(all.names.emplace_back(type), position);
  return position;
}

[[noreturn]] void bad_name(std::string_view text) {
  throw Error(ErrorCode::runtime,
              fmt::format("Invalid device string: '{}'; expected a plugin's name and an index, as "
                          "in cpu, vulkan:0",
                          text));
}

thread_local std::optional<Device> guarded_device;

Device pick_accelerator() {
  for (const plugin::DeviceEntry& entry : runtime::plugin_registry().devices()) {
    if (entry.error.empty() && !entry.name.starts_with("cpu:")) return Device(entry.name);
  }
  return Device::cpu();
}

Device default_device() {
  const std::string name = runtime::environment("PRIMSET_DEVICE", "cpu");
  return name == "auto" ? pick_accelerator() : Device(name);
}

void fill(DeviceInfo& out, const plugin::DeviceDescription& d) {
  out.title = d.title;
  out.plugin_version = d.plugin_version;
  out.kernel_format = runtime::format_name(d.kernel_format);
  out.memory_bytes = d.memory_bytes;
  for (int code = 0; code < kDTypeCodes; ++code) {
    if (d.dtypes >> code & 1) out.dtypes.emplace_back(name(static_cast<DType>(code)));
  }
}

// A device of a plugin that is loaded here is opened, to be used as it is.
DeviceInfo info_of(const plugin::DeviceEntry& entry) {
  DeviceInfo out;
  out.name = printable(entry.name);
  out.plugin_file = printable(entry.file.string());
  out.error = printable(entry.error);  // a line of its own
  if (!out.error.empty()) return out;
  try {
    fill(out, entry.description
                  ? *entry.description
                  : plugin::describe(runtime::device_state(Device(entry.name)).plugin()));
  } catch (const std::exception& e) {
    out.error = printable(std::string_view(text_of(e)));
  }
  return out;
}

}  // namespace

Device::Device(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view type = text.substr(0, colon);
  int index = 0;
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), index);
    if (error != std::errc() || end != digits.end() || digits.empty()) bad_name(text);
  }
  if (!valid_type(type) || index < 0 || index > UINT16_MAX) bad_name(text);
  type_ = intern(type);
  index_ = static_cast<uint16_t>(index);
}

Device::Device(std::string_view type, int index)
    : Device(std::string_view(fmt::format("{}:{}", type, index))) {}

std::string_view Device::type() const {
  Types& all = types();
  std::lock_guard lock(all.mutex);
  return all.names[type_];
}

std::string Device::to_string() const {
  if ((is_cpu() || is_meta()) && index_ == 0) return std::string(type());
  return fmt::format("{}:{}", type(), index());
}

std::vector<DeviceInfo> devices() {
  const runtime::DefaultFloatingPoint floating_point;
  const runtime::BlockedSignals signals;  // drivers start threads when they are asked
  std::vector<DeviceInfo> list;
  for (const plugin::DeviceEntry& entry : runtime::plugin_registry().devices())
    list.push_back(info_of(entry));
  return list;
}

Device current_device() {
  if (guarded_device) return *guarded_device;
  static const Device device = default_device();
  return device;
}

DeviceGuard::DeviceGuard(Device device)
    : previous_(guarded_device.value_or(Device())), had_previous_(guarded_device.has_value()) {
  guarded_device = device;
}

DeviceGuard::~DeviceGuard() {
  if (had_previous_)
    guarded_device = previous_;
  else
    guarded_device.reset();
}

}  // namespace primset
