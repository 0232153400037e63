// What primset-probe tells the process that started it: JSON objects, one a line.
//
//   {"step": "calling device_count"}               what is done next
//   {"log": "text", "level": 2}                    a line that the plugin logged
//   {"device": 0, "title": "Acme", ...}            a device that can be used
//   {"device": 1, "error": "why"}                  one that cannot
//   {"error": "why"}                               the plugin cannot be used
//   {"done": true}                                 nothing follows: what was said is all of it
//
// The lines come from a process in which the plugin's code runs, so they are read as text of a
// stranger: what has another form is skipped, and text is made printable.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_PROBE_PROBE_PROTOCOL_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_PROBE_PROBE_PROTOCOL_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/runtime/plugin/device_entry.h"
#include "sdk/runtime/plugin/library.h"

namespace primset::plugin {

// The probe's exit code when it cannot write: its descriptor was closed.
inline constexpr int kNobodyListens = 113;

// --- written by the probe ------------------------------------------------------------------------

std::string step_line(std::string_view step);
std::string log_line(uint32_t level, std::string_view text);
std::string device_line(uint32_t index, const DeviceDescription& description);
std::string device_error_line(uint32_t index, std::string_view error);
std::string error_line(std::string_view error);
std::string done_line();

// --- read by its parent --------------------------------------------------------------------------

struct ProbedDevice {
  uint32_t index = 0;
  std::string error;
  DeviceDescription description;  // where there is no error
};
struct ProbeAnswer {
  std::string step;   // the last one
  std::string error;  // of the whole plugin
  std::vector<ProbedDevice> devices;
  bool done = false;
};

// Takes one line. Log lines go to `log`, which may be empty.
void read_probe_line(std::string_view line, const LogSink& log, ProbeAnswer& answer);

}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_PROBE_PROBE_PROTOCOL_H_
