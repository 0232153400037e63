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
// One by its name in the API's header.
#define PRIMSET_KNOWN_RESULT(name, code) {name, #name, code}

// A table of those of an API's results that drivers give to programs without an error of their own.
// What is not in it is PRIMSET_INTERNAL.
class Results {
 public:
  constexpr explicit Results(std::span<const KnownResult> known) : known_(known) {}

  uint32_t code(int64_t result) const;
  // "CL_OUT_OF_RESOURCES (-5)", "ZE_RESULT_ERROR_DEVICE_LOST (0x70000001)"; "result (-9999)" for
  // one that the table lacks.
  std::string name(int64_t result) const;
  // Throws BackendError for anything but 0.
  void check(int64_t result, const char* function) const {
    if (result != 0) [[unlikely]]
      fail(result, function);
  }
  // Throws BackendError: "clFinish: CL_OUT_OF_RESOURCES (-5)", and `more` behind it.
  [[noreturn]] void fail(int64_t result, const char* function, const std::string& more = {}) const;
  // The same of a function that makes a module.
  [[noreturn]] void refuse_module(int64_t result, const char* function) const;

 private:
  const KnownResult* find(int64_t result) const;

  std::span<const KnownResult> known_;
};

// Whatever the driver's reason, the module is what was refused, unless the machine has too little
// or the device is gone: `code` is that of the reason. Throws BackendError.
[[noreturn]] void refuse_module(uint32_t code, const std::string& text);

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_RESULTS_H_
