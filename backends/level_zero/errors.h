// Inside this back end an error of Level Zero is an exception; at the ABI boundary it becomes a
// status.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_ERRORS_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_ERRORS_H_

#include <level_zero/ze_api.h>

#include <vector>

#include "backends/common/results.h"

namespace primset_level_zero {

extern const primset_backend::Results kResults;

// What a function makes whose last parameter is where it writes it. Throws BackendError.
template <typename Made, typename... Parameters, typename... Arguments>
Made made(const char* function, ze_result_t(ZE_APICALL* make)(Parameters...),
          Arguments... arguments) {
  Made it = nullptr;
  kResults.check(make(arguments..., &it), function);
  return it;
}

// What a function lists whose last parameters are how many, and where it writes them: each is `one`
// before. Throws BackendError.
template <typename T, typename... Parameters, typename... Arguments>
std::vector<T> all_of(const char* function, ze_result_t(ZE_APICALL* list)(Parameters...), T one,
                      Arguments... arguments) {
  uint32_t count = 0;
  kResults.check(list(arguments..., &count, nullptr), function);
  std::vector<T> all(count, one);
  kResults.check(list(arguments..., &count, all.data()), function);
  return all;
}

}  // namespace primset_level_zero

// Calls a function of the table by name and throws for anything but success.
#define PRIMSET_ZE(ze, function, ...) \
  ::primset_level_zero::kResults.check((ze).function(__VA_ARGS__), #function)
#define PRIMSET_ZE_MAKE(type, ze, function, ...) \
  ::primset_level_zero::made<type>(#function, (ze).function, __VA_ARGS__)
#define PRIMSET_ZE_ALL(ze, function, ...) \
  ::primset_level_zero::all_of(#function, (ze).function, __VA_ARGS__)

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_ERRORS_H_
