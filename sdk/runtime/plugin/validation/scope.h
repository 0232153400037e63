// One validated call: looks up its handles, collects findings, and checks the thread rule.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_VALIDATION_SCOPE_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_VALIDATION_SCOPE_H_

#include <primset/plugin.h>

#include <string>
#include <string_view>
#include <vector>

#include "sdk/runtime/plugin/validation/objects.h"
#include "sdk/runtime/plugin/validation/validation.h"

namespace primset::plugin::validation {

class Scope {
 public:
  explicit Scope(std::string_view function, ValidationLayer* layer = nullptr)
      : function_(function), layer_(layer) {}
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // The object behind a handle; null and a finding when there is none, or it belongs to another
  // device than the first handle of this call.
  ObjectPtr get(Kind kind, const void* handle, std::string_view argument);
  // The same for the object whose thread tag the call has: [stream] and [device].
  ObjectPtr enter(Kind kind, const void* handle, std::string_view argument);
  // A range of a buffer; null for an empty range without a buffer.
  ObjectPtr place(primset_buffer buffer, uint64_t offset, uint64_t bytes,
                  std::string_view argument);
  // As get and place, of another device of the same plugin than the first handle of this call.
  ObjectPtr get_of_peer(Kind kind, const void* handle, std::string_view argument);
  ObjectPtr place_of_peer(primset_buffer buffer, uint64_t offset, uint64_t bytes,
                          std::string_view argument);
  // A finding when the stream records: then it takes only what a recording can hold.
  void not_recording(const ObjectPtr& stream);
  // False and a finding when the pointer is null.
  bool required(const void* pointer, std::string_view argument);
  // A finding: "function: text".
  void fail(std::string text);

  bool ok() const { return message_.empty(); }
  // PRIMSET_INVALID_ARGUMENT with all that was found.
  primset_status* refuse() const;
  // What a fallible call returns instead of calling the plugin: refuse(), an injected fault, or
  // null.
  primset_status* stop();
  // Checks what the plugin returned and passes it on.
  primset_status* result(primset_status* status);
  // The same for a call that makes a handle: *out must be set exactly on success.
  template <typename Handle>
  primset_status* result(primset_status* status, Handle& out, std::string_view argument) {
    if (status && out) {
      fail(std::string("the plugin failed but set ") + std::string(argument));
      out = nullptr;
    } else if (!status && !out) {
      fail(std::string("the plugin returned success but did not set ") + std::string(argument));
      return refuse();
    }
    return result(status);
  }

  ValidationLayer* layer() const { return layer_; }

 private:
  // The buffer of a range, when the range lies in it.
  ObjectPtr within(ObjectPtr buffer, uint64_t offset, uint64_t bytes, std::string_view argument);

  std::string_view function_;
  ValidationLayer* layer_;
  ObjectPtr device_;
  ObjectPtr entered_;
  std::string message_;
};

template <typename Handle>
Handle inner(const ObjectPtr& object) {
  return object ? static_cast<Handle>(object->inner) : nullptr;
}

}  // namespace primset::plugin::validation

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_VALIDATION_SCOPE_H_
