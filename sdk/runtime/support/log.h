// Messages for the user. A disabled level costs one relaxed load.
#ifndef PRIMSET_SDK_RUNTIME_SUPPORT_LOG_H_
#define PRIMSET_SDK_RUNTIME_SUPPORT_LOG_H_

#include <fmt/format.h>
#include <primset/options.h>

#include <string>
#include <utility>

namespace primset::runtime {

bool log_enabled(LogLevel level);
void log_text(LogLevel level, std::string_view text);

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_text(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SUPPORT_LOG_H_
