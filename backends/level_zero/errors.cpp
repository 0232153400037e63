#include "backends/level_zero/errors.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace primset_level_zero {
namespace {

struct Known {
  ze_result_t result;
  const char* name;
  uint32_t code;
};
#define PRIMSET_ZE_RESULT(name, code) {ZE_RESULT_##name, "ZE_RESULT_" #name, code}
// What is not here is PRIMSET_INTERNAL.
constexpr Known kKnown[] = {
    PRIMSET_ZE_RESULT(ERROR_DEVICE_LOST, PRIMSET_DEVICE_LOST),
    PRIMSET_ZE_RESULT(ERROR_DEVICE_REQUIRES_RESET, PRIMSET_DEVICE_LOST),
    PRIMSET_ZE_RESULT(ERROR_OUT_OF_HOST_MEMORY, PRIMSET_OUT_OF_MEMORY),
    PRIMSET_ZE_RESULT(ERROR_OUT_OF_DEVICE_MEMORY, PRIMSET_OUT_OF_MEMORY),
    PRIMSET_ZE_RESULT(ERROR_UNSUPPORTED_SIZE, PRIMSET_OUT_OF_MEMORY),
    PRIMSET_ZE_RESULT(ERROR_MODULE_BUILD_FAILURE, PRIMSET_LOAD_FAILED),
    PRIMSET_ZE_RESULT(ERROR_MODULE_LINK_FAILURE, PRIMSET_LOAD_FAILED),
    PRIMSET_ZE_RESULT(ERROR_INVALID_NATIVE_BINARY, PRIMSET_LOAD_FAILED),
    PRIMSET_ZE_RESULT(ERROR_INVALID_KERNEL_NAME, PRIMSET_LOAD_FAILED),
    PRIMSET_ZE_RESULT(ERROR_INVALID_GROUP_SIZE_DIMENSION, PRIMSET_LOAD_FAILED),
    PRIMSET_ZE_RESULT(ERROR_INVALID_MODULE_UNLINKED, PRIMSET_LOAD_FAILED),
    PRIMSET_ZE_RESULT(ERROR_UNINITIALIZED, PRIMSET_UNSUPPORTED),
    PRIMSET_ZE_RESULT(ERROR_UNSUPPORTED_VERSION, PRIMSET_UNSUPPORTED),
    PRIMSET_ZE_RESULT(ERROR_UNSUPPORTED_FEATURE, PRIMSET_UNSUPPORTED),
    PRIMSET_ZE_RESULT(ERROR_DEVICE_IN_LOW_POWER_STATE, PRIMSET_INTERNAL),
    PRIMSET_ZE_RESULT(ERROR_HANDLE_OBJECT_IN_USE, PRIMSET_INTERNAL),
    PRIMSET_ZE_RESULT(ERROR_INVALID_ARGUMENT, PRIMSET_INTERNAL),
    PRIMSET_ZE_RESULT(ERROR_INVALID_NULL_HANDLE, PRIMSET_INTERNAL),
    PRIMSET_ZE_RESULT(ERROR_INVALID_NULL_POINTER, PRIMSET_INTERNAL),
    PRIMSET_ZE_RESULT(ERROR_INVALID_SIZE, PRIMSET_INTERNAL),
    PRIMSET_ZE_RESULT(ERROR_INVALID_SYNCHRONIZATION_OBJECT, PRIMSET_INTERNAL),
    PRIMSET_ZE_RESULT(ERROR_INVALID_KERNEL_ARGUMENT_INDEX, PRIMSET_INTERNAL),
    PRIMSET_ZE_RESULT(ERROR_INVALID_KERNEL_ARGUMENT_SIZE, PRIMSET_INTERNAL),
    PRIMSET_ZE_RESULT(ERROR_UNKNOWN, PRIMSET_INTERNAL),
};
#undef PRIMSET_ZE_RESULT

const Known* find(ze_result_t result) {
  const auto at = std::ranges::find(kKnown, result, &Known::result);
  return at == std::end(kKnown) ? nullptr : at;
}

}  // namespace

uint32_t status_code(ze_result_t result) {
  const Known* known = find(result);
  return known ? known->code : PRIMSET_INTERNAL;
}

std::string result_name(ze_result_t result) {
  const Known* known = find(result);
  char number[16];
  std::snprintf(number, sizeof(number), "%#x", static_cast<unsigned>(result));
  return std::string(known ? known->name : "unknown result") + " (" + number + ")";
}

void fail(ze_result_t result, const char* function) {
  throw BackendError(status_code(result), std::string(function) + ": " + result_name(result));
}

}  // namespace primset_level_zero
