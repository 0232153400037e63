// What a program may choose. Each has an environment variable, read once at the first use.
#ifndef PRIMSET_OPTIONS_H_
#define PRIMSET_OPTIONS_H_

#include <primset/export.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace primset {

// What happens when a device cannot run an operator (PRIMSET_FALLBACK=error|warn|allow): an error,
// or the CPU runs it and the results are copied back, with one warning an operator or in silence.
// It is always counted: statistics().fallbacks.
enum class Fallback : uint8_t { error, warn, allow };

// When errors that only the device sees are reported (PRIMSET_ERRORS=deferred|eager): at the next
// synchronisation, or by the call that made them. CPU devices are always eager.
enum class ErrorReports : uint8_t { deferred, eager };

struct Options {
  Fallback fallback = Fallback::warn;
  ErrorReports errors = ErrorReports::deferred;
  bool deterministic = false;   // PRIMSET_DETERMINISTIC=1: the same bits on every run
  bool fast_precision = false;  // PRIMSET_PRECISION=fast: the fuser may drop roundings
  bool fuse = true;             // PRIMSET_FUSE=0: one kernel a primitive, to find a fault
  // PRIMSET_NATIVE=0: kernels do what a plugin runs natively, on devices that take kernels.
  bool native = true;
  bool overlap = true;  // PRIMSET_OVERLAP=0: each launch waits for all earlier ones, likewise

  // What is kept for later calls. What is above a limit and was not used for longest is dropped,
  // and made again when a call needs it. A limit is at least 1.
  uint64_t max_plans = 4096;           // PRIMSET_MAX_PLANS: of a device's calls; of a graph
  uint64_t max_kernels = 8192;         // PRIMSET_MAX_KERNELS: of a device, beside those of plans
  uint64_t max_disk_bytes = 1u << 30;  // PRIMSET_CACHE_BYTES: of the files in PRIMSET_CACHE
};

// The options of the whole process. Setting them affects calls made afterwards.
PRIMSET_API Options options();
PRIMSET_API void set_options(const Options& options);

enum class LogLevel : uint8_t { debug, info, warning, error };
using LogFunction = std::function<void(LogLevel, std::string_view)>;
// Where messages go; an empty function restores the default: stderr, at the level that PRIMSET_LOG
// names (debug|info|warning|error; default warning). The function may be called by any thread.
PRIMSET_API void set_log(LogFunction function);

}  // namespace primset

#endif  // PRIMSET_OPTIONS_H_
