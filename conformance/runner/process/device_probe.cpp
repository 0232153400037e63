#include "conformance/runner/process/device_probe.h"

#include <fmt/format.h>
#include <poll.h>

#include "conformance/runner/process/child.h"

namespace primset::conformance {

std::string claims_line(const DeviceClaims& claims) {
  std::string dtypes;
  int count = 0;
  for (int code = 0; code < kDTypeCodes; ++code) {
    const auto t = static_cast<DType>(code);
    if (info(t).bits == 0 || !claims.dtypes.contains(t)) continue;
    dtypes += fmt::format(" {}", name(t));
    ++count;
  }
  return fmt::format("{} ({}), {}, {} dtypes:{}", claims.name, claims.title,
                     claims.takes_kernels ? "takes kernels" : "runs single primitives only", count,
                     dtypes);
}

std::string probe_device(const std::vector<std::string>& command,
                         std::chrono::milliseconds timeout) {
  Child child(command, {});
  const Child::Clock::time_point deadline = Child::Clock::now() + timeout;
  std::vector<std::string> lines;
  while (!child.closed() && lines.empty() && Child::Clock::now() < deadline) {
    pollfd fd{child.fd(), POLLIN, 0};
    poll(&fd, 1, 100);
    lines = child.read_lines();
  }
  if (!lines.empty()) return lines.front();
  const bool silent = !child.closed();
  if (silent) child.kill_group();
  const std::string how = child.wait();
  throw Error(ErrorCode::runtime,
              fmt::format("the device cannot be opened: {}\n{}",
                          silent ? fmt::format("nothing happens for {} ms", timeout.count()) : how,
                          child.log_tail()));
}

}  // namespace primset::conformance
