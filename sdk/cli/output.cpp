#include "sdk/cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "sdk/cli/command.h"

namespace primset::cli {

std::string json_text(const nlohmann::json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

void occupy_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    // The lowest free number is this one. It is opened the wrong way round, so that its use is the
    // error that the use of a closed one is.
    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int close_standard_output(int code, int error) {
  const bool failed_before = std::ferror(stdout) != 0;
  errno = 0;
  const bool failed_now = std::fflush(stdout) != 0;
  if (!failed_before && !failed_now) return code;
  if (error == 0) error = errno;
  if (error == EPIPE) return kError;
  std::fprintf(stderr, "primset: the standard output cannot be written%s%s\n", error ? ": " : "",
               error ? std::strerror(error) : "");
  return kError;
}

}  // namespace primset::cli
