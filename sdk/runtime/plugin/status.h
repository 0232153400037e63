// From a plugin's status to primset::Error. A null status costs one comparison. Whatever a plugin
// returns is taken here and nowhere else: a status that breaks the rules is still an error, never a
// crash, and its message is bounded and printable.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_STATUS_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_STATUS_H_

#include <primset/error.h>
#include <primset/plugin.h>

#include <string>
#include <string_view>

namespace primset::plugin {

// "out of memory", for people.
std::string_view status_name(uint32_t code);
ErrorCode error_code(uint32_t status_code);

struct TakenStatus {
  uint32_t code = PRIMSET_INTERNAL;
  std::string message;
};
// Reads the status (not null) and releases it.
TakenStatus take_status(primset_status* status);
// The code alone, of a status that is not null; it is still to be taken or dropped.
uint32_t status_code(const primset_status* status);
// Releases a status, null or not, whose message does not matter.
void drop_status(primset_status* status) noexcept;

// Throws Error: "plugin acme: memory_alloc: out of memory: <message>". `where` names the plugin,
// `call` the function and whatever of its arguments helps.
[[noreturn]] void raise_status(const TakenStatus& status, std::string_view where,
                               std::string_view call);
// Takes the status (not null) first.
[[noreturn]] void raise_status(primset_status* status, std::string_view where,
                               std::string_view call);

// Takes the status; the text that raise_status would throw.
std::string take_message(primset_status* status);

inline void check(primset_status* status, std::string_view where, std::string_view call) {
  if (status) [[unlikely]]
    raise_status(status, where, call);
}

}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_STATUS_H_
