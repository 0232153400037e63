// libFuzzer: arbitrary text as the lines of a probe, in whose process a stranger's plugin runs. All
// text that is taken is printable, and the devices are no more than a machine can have.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sdk/base/printable.h"
#include "sdk/runtime/plugin/probe/probe_protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace primset::plugin;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  ProbeAnswer answer;
  const LogSink log = [](uint32_t, std::string_view line) {
    if (primset::printable_lines(line) != line) std::abort();
  };
  while (!text.empty()) {
    const size_t end = text.find('\n');
    read_probe_line(text.substr(0, end), log, answer);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (answer.devices.size() > kMaxDevices) std::abort();
  for (const ProbedDevice& device : answer.devices) {
    if (primset::printable_lines(device.description.title) != device.description.title)
      std::abort();
  }
  return 0;
}
