// What an API's results are called, and the PRIMSET_* codes that they become at the ABI boundary.
#ifndef PRIMSET_BACKENDS_COMMON_RESULTS_H_
#define PRIMSET_BACKENDS_COMMON_RESULTS_H_

#include <primset/plugin.h>

#include <cstdint>
#include <span>
#include <string>

namespace primset_backend {

struct KnownResult {
  int64_t value;
  const char* name;
  uint32_t code = PRIMSET_INTERNAL;
};

// A table of an API's results. What is not in it is PRIMSET_INTERNAL.
class Results {
 public:
  constexpr explicit Results(std::span<const KnownResult> known) : known_(known) {}

  uint32_t code(int64_t result) const;
  // "CL_OUT_OF_RESOURCES (-5)", "ZE_RESULT_ERROR_DEVICE_LOST (0x70000001)"
  std::string name(int64_t result) const;
  // Throws BackendError: "clFinish: CL_OUT_OF_RESOURCES (-5)".
  [[noreturn]] void fail(int64_t result, const char* function) const;
  // The same of a function that makes a module. `more` is what the compiler said.
  [[noreturn]] void refuse_module(int64_t result, const char* function,
                                  const std::string& more = {}) const;

 private:
  const KnownResult* find(int64_t result) const;

  std::span<const KnownResult> known_;
};

// Whatever the driver's reason, the module is what was refused, unless the machine has too little
// or the device is gone: `code` is that of the reason. Throws BackendError.
[[noreturn]] void refuse_module(uint32_t code, const std::string& text);

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_RESULTS_H_
