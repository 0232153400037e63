// Options of the process. Each has an environment variable, read once at first use.
#ifndef PRIMSET_OPTIONS_H_
#define PRIMSET_OPTIONS_H_

#include <primset/export.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace primset {

// When a device cannot run an operator (PRIMSET_FALLBACK=error|warn|allow): throw an error, or run
// it on the CPU and copy the results back, with one warning for each operator or silently.
// Fallbacks are always counted: statistics().fallbacks.
enum class Fallback : uint8_t { error, warn, allow };

// When errors that only the device detects are thrown (PRIMSET_ERRORS=deferred|eager): at the next
// synchronisation, or by the call that caused them. CPU devices are always eager.
enum class ErrorReports : uint8_t { deferred, eager };

struct Options {
  Fallback fallback = Fallback::warn;
  ErrorReports errors = ErrorReports::deferred;
  // Both are part of a plan's key, but no kernel depends on them so far: additions of scatter_add
  // are in the device's order where it has f32 atomics, and no rounding is dropped.
  bool deterministic = false;   // PRIMSET_DETERMINISTIC=1: the same bits on every run
  bool fast_precision = false;  // PRIMSET_PRECISION=fast: the fuser may drop roundings
  bool fuse = true;             // PRIMSET_FUSE=0: one kernel for each primitive, to find a fault
  // PRIMSET_NATIVE=0: no native primitives, on devices that take kernels.
  bool native = true;
  bool overlap = true;  // PRIMSET_OVERLAP=0: each launch waits for all earlier ones

  // Limits of caches, at least 1. Beyond them the least recently used entries are evicted, and made
  // again when a call needs them.
  uint64_t max_plans = 4096;    // PRIMSET_MAX_PLANS: of a device; of a graph
  uint64_t max_kernels = 8192;  // PRIMSET_MAX_KERNELS: of a device; more while plans use them
  uint64_t max_disk_bytes = 1u << 30;  // PRIMSET_CACHE_BYTES: of all files in PRIMSET_CACHE
};

// The options of the whole process. Setting them affects calls made afterwards.
PRIMSET_API Options options();
PRIMSET_API void set_options(const Options& options);

enum class LogLevel : uint8_t { debug, info, warning, error };
using LogFunction = std::function<void(LogLevel, std::string_view)>;
// Sets the receiver of log messages; any thread may call it. An empty function restores the
// default: standard error, at the level of PRIMSET_LOG (debug|info|warning|error; default warning).
PRIMSET_API void set_log(LogFunction function);

}  // namespace primset

#endif  // PRIMSET_OPTIONS_H_
