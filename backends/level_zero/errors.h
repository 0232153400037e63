// Inside this back end an error of Level Zero is an exception; at the ABI boundary it becomes a
// status.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_ERRORS_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_ERRORS_H_

#include <level_zero/ze_api.h>

#include "backends/common/results.h"
#include "backends/common/status.h"

namespace primset_level_zero {

using primset_backend::BackendError;

extern const primset_backend::Results kResults;

// Throws BackendError.
inline void check(ze_result_t result, const char* function) {
  if (result != ZE_RESULT_SUCCESS) [[unlikely]]
    kResults.fail(result, function);
}

}  // namespace primset_level_zero

// Calls a function of the table by name and throws for anything but success.
#define PRIMSET_ZE(ze, function, ...) \
  ::primset_level_zero::check((ze).function(__VA_ARGS__), #function)

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_ERRORS_H_
