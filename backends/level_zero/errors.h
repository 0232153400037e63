// Inside this back end an error of Level Zero is an exception; at the ABI boundary it becomes a
// status.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_ERRORS_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_ERRORS_H_

#include <level_zero/ze_api.h>
#include <primset/plugin.h>

#include <string>

#include "backends/common/status.h"

namespace primset_level_zero {

using primset_backend::BackendError;
using primset_backend::guarded;

// The PRIMSET_* code that a result becomes.
uint32_t status_code(ze_result_t result);

// "ZE_RESULT_ERROR_DEVICE_LOST (0x70000001)"
std::string result_name(ze_result_t result);

// Throws BackendError: "zeMemAllocDevice: ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY (0x70000003)".
[[noreturn]] void fail(ze_result_t result, const char* function);

inline void check(ze_result_t result, const char* function) {
  if (result != ZE_RESULT_SUCCESS) [[unlikely]]
    fail(result, function);
}

}  // namespace primset_level_zero

// Calls a function of the table by name and throws for anything but success.
#define PRIMSET_ZE(ze, function, ...) \
  ::primset_level_zero::check((ze).function(__VA_ARGS__), #function)

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_ERRORS_H_
