#include "backends/level_zero/cpu_driver/settings.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace primset_cpu_driver {
namespace {

std::string_view setting(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

void say(const char* kind, const char* format, va_list arguments) {
  char line[512];
  std::vsnprintf(line, sizeof(line), format, arguments);
  std::fprintf(stderr, "ze_cpu_driver: %s%s\n", kind, line);
}

}  // namespace

const Settings& settings() {
  static const Settings all = [] {
    Settings s;
    const std::string_view order = setting("ZE_TEST_ORDER");
    if (order == "reverse") s.order = Order::reverse;
    if (order == "shuffle") s.order = Order::shuffle;
    s.strict = setting("ZE_TEST_STRICT") == "1";
    s.fp64 = setting("ZE_TEST_FP64") != "0";
    s.barriers = setting("ZE_TEST_BARRIERS") != "0";
    s.trace = setting("ZE_TEST_TRACE") == "1";
    if (const char* count = std::getenv("ZE_TEST_DEVICES"))
      s.devices = static_cast<uint32_t>(std::strtoul(count, nullptr, 10));
    const std::string_view peers = setting("ZE_TEST_PEERS");
    if (peers == "up") s.peers = Peers::up;
    if (peers == "none") s.peers = Peers::none;
    s.modules = setting("ZE_TEST_MODULES");
    return s;
  }();
  return all;
}

ze_result_t refuse(ze_result_t result, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say("refused: ", format, arguments);
  va_end(arguments);
  return result;
}

void trace(const char* format, ...) {
  if (!settings().trace) return;
  va_list arguments;
  va_start(arguments, format);
  say("", format, arguments);
  va_end(arguments);
}

}  // namespace primset_cpu_driver
