#include "conformance/runner/process/worker.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <exception>

#include "sdk/base/exception_text.h"

namespace primset::conformance {
namespace {

// One write a line: a crash afterwards cannot swallow it.
bool put_line(int fd, std::string line) {
  line += '\n';
  for (size_t done = 0; done < line.size();) {
    ssize_t n = write(fd, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

CaseResult run_guarded(const std::string& id,
                       const std::function<CaseResult(const std::string&)>& run_one) {
  try {
    return run_one(id);
  } catch (const std::exception& e) {
    return {id, Verdict::of(Outcome::test_bug, text_of(e))};
  }
}

}  // namespace

int serve_cases(std::istream& ids, int protocol_fd,
                const std::function<CaseResult(const std::string& id)>& run_one) {
  for (std::string id; std::getline(ids, id);) {
    if (id.empty()) continue;
    if (!put_line(protocol_fd, begin_line(id))) return 1;
    auto start = std::chrono::steady_clock::now();
    CaseResult result = run_guarded(id, run_one);
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!put_line(protocol_fd, to_json_line(result))) return 1;
    if (result.verdict.outcome == Outcome::device_lost) return 0;
  }
  return 0;
}

}  // namespace primset::conformance
