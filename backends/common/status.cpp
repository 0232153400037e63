#include "backends/common/status.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace primset_backend {
namespace {

constexpr size_t kMessageBytes = 1024;  // longer messages are cut

struct OwnStatus {
  primset_status status;  // first: the C side's pointer is a pointer to this
  char message[kMessageBytes];
};

void release(primset_status* self) {
  std::free(self);
}
void release_nothing(primset_status*) {}

}  // namespace

primset_status* make_status(uint32_t code, const char* format, ...) {
  auto* own = static_cast<OwnStatus*>(std::malloc(sizeof(OwnStatus)));
  if (!own) {
    static primset_status no_memory{sizeof(primset_status), PRIMSET_OUT_OF_MEMORY,
                                    "no host memory left for an error message", release_nothing};
    return &no_memory;
  }
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(own->message, kMessageBytes, format, arguments);
  va_end(arguments);
  own->status = {sizeof(primset_status), code, own->message, release};
  return &own->status;
}

}  // namespace primset_backend
