// What a test asks of the driver, from the environment; README.md has the list.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_SETTINGS_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_SETTINGS_H_

#include <level_zero/ze_api.h>

#include <string>

namespace primset_cpu_driver {

enum class Order { given, reverse, shuffle };
enum class Peers { all, up, none };

struct Settings {
  Order order = Order::given;  // of commands that no barrier or event parts
  bool strict = false;         // misuse that drivers need not see is refused
  bool fp64 = true;            // the devices compute in f64
  bool barriers = true;        // barriers are kept
  bool trace = false;          // every module and launch on standard error
  uint32_t devices = 1;
  Peers peers = Peers::all;  // whose memory a device reaches: up: that of later ones
  std::string modules;       // the folder that keeps every module's SPIR-V; empty: none does
};

const Settings& settings();

// Says on standard error what was wrong with a call, and gives the result back.
[[gnu::format(printf, 2, 3)]] ze_result_t refuse(ze_result_t result, const char* format, ...);
// Says on standard error what happens, where ZE_TEST_TRACE asks for it.
[[gnu::format(printf, 1, 2)]] void trace(const char* format, ...);

}  // namespace primset_cpu_driver

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_SETTINGS_H_
