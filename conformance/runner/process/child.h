// One worker process and the ids it was given.
//
// A worker reads ids from its standard input, one a line, and answers on file descriptor 3: before
// each case a begin line, after it a result line (result.h). So a plugin or driver that prints to
// the standard output disturbs nobody; both standard streams end in a log file.
#ifndef PRIMSET_CONFORMANCE_RUNNER_PROCESS_CHILD_H_
#define PRIMSET_CONFORMANCE_RUNNER_PROCESS_CHILD_H_

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace primset::conformance {

inline constexpr int kProtocolFd = 3;

class Child {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts `command` in a process group of its own. Throws Error{runtime} when that fails.
  Child(const std::vector<std::string>& command, const std::vector<std::string>& ids);
  ~Child();  // kills what still runs
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int fd() const { return fd_; }
  // Lines that arrived; empty when there is none yet. Sets closed() at the end of the stream.
  std::vector<std::string> read_lines();
  bool closed() const { return closed_; }

  void kill_group();
  // Waits for the end: "signal 11 (Segmentation fault)", "exit code 3", or "" for a clean exit.
  std::string wait();
  // The end of what the process printed, for details.
  std::string log_tail(size_t bytes = 2000) const;

 private:
  pid_t pid_ = -1;
  int fd_ = -1;
  int log_fd_ = -1;
  bool closed_ = false;
  std::string partial_;
};

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_RUNNER_PROCESS_CHILD_H_
