// Calls into a plugin that is not yet known to keep the rules: "no exception crosses the boundary".
// One that does becomes an Error here, while the code that it came from is still mapped.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_BOUNDARY_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_BOUNDARY_H_

#include <fmt/format.h>
#include <primset/error.h>

#include <exception>
#include <string_view>

#include "sdk/base/printable.h"

namespace primset::plugin {

// What `function`, a call of the plugin's function `call`, returns. Exceptions that are none of
// std's are left alone: the end of a thread is one.
template <typename Function>
auto without_exceptions(std::string_view where, std::string_view call, Function&& function) {
  try {
    return function();
  } catch (const std::exception& e) {
    throw Error(ErrorCode::plugin,
                fmt::format("{}: {}: threw an exception, which must not cross the boundary: {}",
                            where, call, printable(std::string_view(e.what()))));
  }
}

}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_BOUNDARY_H_
