#include "sdk/runtime/plugin/status.h"

#include <fmt/format.h>

#include "sdk/base/printable.h"

namespace primset::plugin {
namespace {

constexpr uint32_t kSmallestStatus = sizeof(primset_status);
constexpr size_t kMaxMessageBytes = 64 << 10;

}  // namespace

TakenStatus take_status(primset_status* status) {
  TakenStatus taken;
  if (status->struct_size < kSmallestStatus) {
    // The other members may not be there: there is nothing that could be read or released.
    taken.message = fmt::format("(the status has struct_size {}, expected at least {})",
                                status->struct_size, kSmallestStatus);
    return taken;
  }
  taken.code = status->code;
  taken.message = status->message ? printable(status->message, kMaxMessageBytes, Newlines::keep)
                                  : "(no message: primset_status.message is NULL)";
  if (status->release)
    status->release(status);
  else
    taken.message += " (never released: primset_status.release is NULL)";
  return taken;
}

uint32_t status_code(const primset_status* status) {
  return status->struct_size < kSmallestStatus ? uint32_t{PRIMSET_INTERNAL} : status->code;
}

void drop_status(primset_status* status) noexcept {
  if (status && status->struct_size >= kSmallestStatus && status->release) status->release(status);
}

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

void raise_status(const TakenStatus& status, std::string_view where, std::string_view call) {
  throw Error(error_code(status.code),
              fmt::format("{}: {}: {}: {}", where, call, status_name(status.code), status.message));
}

void raise_status(primset_status* status, std::string_view where, std::string_view call) {
  raise_status(take_status(status), where, call);
}

std::string take_message(primset_status* status) {
  const TakenStatus taken = take_status(status);
  return fmt::format("{}: {}", status_name(taken.code), taken.message);
}

}  // namespace primset::plugin
