// The validation layer: a primset_plugin table around another one. It checks that the host follows
// the rules of plugin.h, and the plugin too, as far as the interface shows:
//
//   parameters   null pointers, struct_size, ranges inside buffers, flags, pattern sizes, alignment
//   lifetime     use after free, double free, handles of another device, leaks when a device closes
//   threads      [stream] and [device] functions that overlap
//   launches     scalar and binding counts against the module's, grid against the device's limits
//   hazards      PRIMSET_LAUNCH_INDEPENDENT launches that conflict with earlier work
//   the plugin   success without a handle, failure with one, an unknown status code
//
// A call that breaks a rule does not reach the plugin: it returns PRIMSET_INVALID_ARGUMENT, whose
// message names function, argument, value and rule. Every finding is also logged as an error and
// kept. Not interposed, the layer costs nothing.
//
// The same layer injects faults: the n-th call of a function fails with a status of one's choice.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_VALIDATION_VALIDATION_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_VALIDATION_VALIDATION_H_

#include <primset/plugin.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace primset::plugin {

// The `nth` call (from 1, counted from when the fault is set) of the table's function `call` fails.
struct Fault {
  std::string call;  // "memory_alloc"
  uint64_t nth = 1;
  uint32_t status = PRIMSET_INTERNAL;
};

struct ValidationOptions {
  std::vector<Fault> faults;
};

// PRIMSET_VALIDATE=1 asks for the layer; so does PRIMSET_FAULTS=launch:3=device_lost,copy_in:1=...
// Throws Error{value} for a PRIMSET_FAULTS that does not parse.
std::optional<ValidationOptions> validation_from_environment();
// "memory_alloc:2=out_of_memory,launch:1=device_lost"
std::vector<Fault> parse_faults(std::string_view text);

// Thread safe.
class ValidationLayer {
 public:
  // `inner` and `host` outlive the layer.
  static std::unique_ptr<ValidationLayer> wrap(const primset_plugin* inner,
                                               const primset_host* host, ValidationOptions options);
  ~ValidationLayer();
  ValidationLayer(const ValidationLayer&) = delete;
  ValidationLayer& operator=(const ValidationLayer&) = delete;

  const primset_plugin* table() const { return &table_.table; }
  const primset_plugin* inner() const { return inner_; }

  // What was found so far.
  std::vector<std::string> findings() const;
  void clear_findings();
  void add_finding(std::string text);

  // Adds a fault; counting of its call starts anew here.
  void inject(Fault fault);
  // Counts a call; the status it must fail with, or null.
  primset_status* fault(std::string_view call);

  static ValidationLayer& of(const primset_plugin* self);

 private:
  ValidationLayer(const primset_plugin* inner, const primset_host* host, ValidationOptions options);

  struct Table {  // table first: `self` in the C functions is a pointer to this
    primset_plugin table;
    ValidationLayer* layer;
  };
  Table table_{};
  const primset_plugin* inner_;
  const primset_host* host_;
  mutable std::mutex mutex_;
  std::vector<std::string> findings_;
  std::vector<Fault> faults_;
};

}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_VALIDATION_VALIDATION_H_
