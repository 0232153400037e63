#include "sdk/runtime/support/options.h"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "primset/error.h"

namespace primset {
namespace runtime {
namespace {

constexpr uint32_t kDeterministic = 1, kFastPrecision = 2, kNoFusion = 4, kNoNative = 8;
constexpr uint32_t kEagerErrors = 1u << 8, kNoOverlap = 1u << 9;
constexpr int kFallbackShift = 16;

uint32_t pack(const Options& o) {
  return (o.deterministic ? kDeterministic : 0) | (o.fast_precision ? kFastPrecision : 0) |
         (o.fuse ? 0 : kNoFusion) | (o.native ? 0 : kNoNative) |
         (o.errors == ErrorReports::eager ? kEagerErrors : 0) | (o.overlap ? 0 : kNoOverlap) |
         static_cast<uint32_t>(o.fallback) << kFallbackShift;
}

Options unpack(uint32_t word) {
  Options o;
  o.deterministic = word & kDeterministic;
  o.fast_precision = word & kFastPrecision;
  o.fuse = !(word & kNoFusion);
  o.native = !(word & kNoNative);
  o.errors = word & kEagerErrors ? ErrorReports::eager : ErrorReports::deferred;
  o.overlap = !(word & kNoOverlap);
  o.fallback = static_cast<Fallback>(word >> kFallbackShift);
  return o;
}

// The limits are words of their own.
struct Limits {
  std::atomic<uint64_t> plans, kernels, disk_bytes;

  explicit Limits(const Options& o)
      : plans(o.max_plans), kernels(o.max_kernels), disk_bytes(o.max_disk_bytes) {}
  void set(const Options& o) {
    plans = o.max_plans;
    kernels = o.max_kernels;
    disk_bytes = o.max_disk_bytes;
  }
};

[[noreturn]] void bad_variable(const char* name, std::string_view value,
                               std::string_view expected) {
  throw Error(ErrorCode::value,
              fmt::format("environment variable {}={}: expected {}", name, value, expected));
}

bool flag(const char* name, bool otherwise) {
  const std::string text = environment(name);
  if (text.empty()) return otherwise;
  if (text == "1") return true;
  if (text == "0") return false;
  bad_variable(name, text, "0 or 1");
}

uint64_t limit(const char* name, uint64_t otherwise) {
  const std::string text = environment(name);
  if (text.empty()) return otherwise;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0)
    bad_variable(name, text, "a number from 1 on");
  return value;
}

Options from_environment() {
  Options o;
  const std::string fallback = environment("PRIMSET_FALLBACK", "warn");
  if (fallback == "error")
    o.fallback = Fallback::error;
  else if (fallback == "allow")
    o.fallback = Fallback::allow;
  else if (fallback != "warn")
    bad_variable("PRIMSET_FALLBACK", fallback, "error, warn or allow");
  const std::string errors = environment("PRIMSET_ERRORS", "deferred");
  if (errors == "eager")
    o.errors = ErrorReports::eager;
  else if (errors != "deferred")
    bad_variable("PRIMSET_ERRORS", errors, "deferred or eager");
  const std::string precision = environment("PRIMSET_PRECISION", "exact");
  if (precision == "fast")
    o.fast_precision = true;
  else if (precision != "exact")
    bad_variable("PRIMSET_PRECISION", precision, "exact or fast");
  o.deterministic = flag("PRIMSET_DETERMINISTIC", false);
  o.fuse = flag("PRIMSET_FUSE", true);
  o.native = flag("PRIMSET_NATIVE", true);
  o.overlap = flag("PRIMSET_OVERLAP", true);
  o.max_plans = limit("PRIMSET_MAX_PLANS", o.max_plans);
  o.max_kernels = limit("PRIMSET_MAX_KERNELS", o.max_kernels);
  o.max_disk_bytes = limit("PRIMSET_CACHE_BYTES", o.max_disk_bytes);
  return o;
}

const Options& initial_options() {
  static const Options value = from_environment();
  return value;
}

std::atomic<uint32_t>& word() {
  static std::atomic<uint32_t> value{pack(initial_options())};
  return value;
}

Limits& limits() {
  static Limits value(initial_options());
  return value;
}

void require_limit(const char* name, uint64_t value) {
  if (value == 0)
    throw Error(ErrorCode::value, fmt::format("set_options: {} is 0; expected at least 1", name));
}

thread_local bool t_without_natives = false;

}  // namespace

WithoutNatives::WithoutNatives() : before_(std::exchange(t_without_natives, true)) {}
WithoutNatives::~WithoutNatives() {
  t_without_natives = before_;
}

uint32_t plan_options() {
  return (word().load(std::memory_order_relaxed) & 0xff) | (t_without_natives ? kNoNative : 0);
}
bool options_fuse() {
  return !(plan_options() & kNoFusion);
}
bool options_native() {
  return !(plan_options() & kNoNative);
}
bool errors_eager() {
  return word().load(std::memory_order_relaxed) & kEagerErrors;
}

bool launches_overlap() {
  return !(word().load(std::memory_order_relaxed) & kNoOverlap);
}

uint64_t max_plans() {
  return limits().plans.load(std::memory_order_relaxed);
}
uint64_t max_kernels() {
  return limits().kernels.load(std::memory_order_relaxed);
}
uint64_t max_disk_bytes() {
  return limits().disk_bytes.load(std::memory_order_relaxed);
}

std::string environment(const char* name, std::string_view otherwise) {
  const char* text = std::getenv(name);
  return std::string(text ? std::string_view(text) : otherwise);
}

}  // namespace runtime

Options options() {
  Options o = runtime::unpack(runtime::word().load());
  o.max_plans = runtime::max_plans();
  o.max_kernels = runtime::max_kernels();
  o.max_disk_bytes = runtime::max_disk_bytes();
  return o;
}
void set_options(const Options& options) {
  runtime::require_limit("max_plans", options.max_plans);
  runtime::require_limit("max_kernels", options.max_kernels);
  runtime::require_limit("max_disk_bytes", options.max_disk_bytes);
  runtime::word() = runtime::pack(options);
  runtime::limits().set(options);
}

}  // namespace primset
