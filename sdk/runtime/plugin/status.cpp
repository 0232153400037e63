#include "sdk/runtime/plugin/status.h"

#include <fmt/format.h>

namespace primset::plugin {
namespace {

// A status of a plugin that breaks the rules is still an error, never a crash.
constexpr uint32_t kSmallestStatus = sizeof(primset_status);

struct Taken {
  uint32_t code = PRIMSET_INTERNAL;
  std::string message;
};

Taken take(primset_status* status) {
  Taken taken;
  if (status->struct_size < kSmallestStatus) {
    taken.message = fmt::format("(the status has struct_size {}, expected at least {})",
                                status->struct_size, kSmallestStatus);
    return taken;
  }
  taken.code = status->code;
  taken.message = status->message ? status->message : "(no message)";
  if (status->release) status->release(status);
  return taken;
}

}  // namespace

std::string_view status_name(uint32_t code) {
  switch (code) {
    case PRIMSET_OK:
      return "ok";
    case PRIMSET_INVALID_ARGUMENT:
      return "invalid argument";
    case PRIMSET_UNSUPPORTED:
      return "unsupported";
    case PRIMSET_OUT_OF_MEMORY:
      return "out of memory";
    case PRIMSET_DEVICE_LOST:
      return "device lost";
    case PRIMSET_LOAD_FAILED:
      return "load failed";
    case PRIMSET_INTERNAL:
      return "internal error";
    default:
      return "unknown status";
  }
}

ErrorCode error_code(uint32_t status_code) {
  switch (status_code) {
    case PRIMSET_UNSUPPORTED:
      return ErrorCode::not_implemented;
    case PRIMSET_OUT_OF_MEMORY:
      return ErrorCode::out_of_memory;
    case PRIMSET_DEVICE_LOST:
      return ErrorCode::device_lost;
    default:
      return ErrorCode::plugin;
  }
}

void raise_status(primset_status* status, std::string_view where, std::string_view call) {
  const Taken taken = take(status);
  throw Error(error_code(taken.code),
              fmt::format("{}: {}: {}: {}", where, call, status_name(taken.code), taken.message));
}

std::string take_message(primset_status* status) {
  const Taken taken = take(status);
  return fmt::format("{}: {}", status_name(taken.code), taken.message);
}

}  // namespace primset::plugin
