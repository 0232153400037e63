#include "sdk/runtime/support/log.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "primset/error.h"

namespace primset {
namespace runtime {
namespace {

struct Sink {
  std::mutex mutex;
  std::shared_ptr<LogFunction> function;
};
Sink& sink() {
  static Sink* instance = new Sink;  // never destroyed: plugins may log while the process ends
  return *instance;
}

LogLevel level_from_environment() {
  const char* text = std::getenv("PRIMSET_LOG");
  const std::string_view name = text ? text : "warning";
  if (name == "debug") return LogLevel::debug;
  if (name == "info") return LogLevel::info;
  if (name == "error") return LogLevel::error;
  return LogLevel::warning;
}

std::atomic<bool> has_function{false};

const char* level_name(LogLevel level) {
  constexpr const char* kNames[] = {"debug", "info", "warning", "error"};
  return kNames[static_cast<int>(level)];
}

}  // namespace

bool log_enabled(LogLevel level) {
  static const LogLevel minimum = level_from_environment();
  return level >= minimum || has_function.load(std::memory_order_relaxed);
}

void log_text(LogLevel level, std::string_view text) {
  std::shared_ptr<LogFunction> function;
  {
    std::lock_guard lock(sink().mutex);
    function = sink().function;
  }
  if (function) {
    (*function)(level, text);
    return;
  }
  const std::string line = fmt::format("primset: {}: {}\n", level_name(level), text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace runtime

void set_log(LogFunction function) {
  std::lock_guard lock(runtime::sink().mutex);
  runtime::has_function = static_cast<bool>(function);
  runtime::sink().function =
      function ? std::make_shared<LogFunction>(std::move(function)) : nullptr;
}

}  // namespace primset
