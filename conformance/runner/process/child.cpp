#include "conformance/runner/process/child.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "primset/error.h"

namespace primset::conformance {
namespace {

// A line longer than this is no line of the protocol.
constexpr size_t kMaxLine = 1 << 20;

[[noreturn]] void system_error(const char* what) {
  throw Error(ErrorCode::runtime, std::string(what) + ": " + std::strerror(errno));
}

// An anonymous file: it needs no folder, no name and no cleaning up.
int memory_file(const char* name, const std::string& contents) {
  int fd = memfd_create(name, MFD_CLOEXEC);
  if (fd < 0) system_error("memfd_create");
  for (size_t done = 0; done < contents.size();) {
    ssize_t n = write(fd, contents.data() + done, contents.size() - done);
    if (n < 0) system_error("write");
    done += static_cast<size_t>(n);
  }
  lseek(fd, 0, SEEK_SET);
  return fd;
}

// Only calls that are safe between fork and exec. The parent's descriptors are close-on-exec, so
// the duplicates made here are all that the worker keeps.
[[noreturn]] void become_worker(char* const* argv, int input, int log, int protocol) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // Any of the three may have the number of a target: move them out of the way first.
  int in = fcntl(input, F_DUPFD, 16), out = fcntl(log, F_DUPFD, 16);
  int proto = fcntl(protocol, F_DUPFD, 16);
  dup2(in, 0);
  dup2(out, 1);
  dup2(out, 2);
  dup2(proto, kProtocolFd);
  close(in);
  close(out);
  close(proto);
  execvp(argv[0], argv);
  _exit(127);
}

}  // namespace

Child::Child(const std::vector<std::string>& command, const std::vector<std::string>& ids) {
  std::string input;
  for (const std::string& id : ids) input += id + "\n";
  int input_fd = memory_file("ids", input);
  log_fd_ = memory_file("log", {});
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) system_error("pipe2");
  std::vector<char*> argv;
  for (const std::string& arg : command) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) become_worker(argv.data(), input_fd, log_fd_, pipe_fds[1]);
  close(input_fd);
  close(pipe_fds[1]);
  fd_ = pipe_fds[0];
  if (pid_ < 0) system_error("fork");
  setpgid(pid_, pid_);  // the child does the same: whoever comes first
  fcntl(fd_, F_SETFL, O_NONBLOCK);
}

Child::~Child() {
  if (pid_ > 0) {
    kill_group();
    wait();
  }
  if (fd_ >= 0) close(fd_);
  if (log_fd_ >= 0) close(log_fd_);
}

std::vector<std::string> Child::read_lines() {
  std::vector<std::string> lines;
  char buffer[65536];
  for (;;) {
    ssize_t n = read(fd_, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return lines;
    if (n <= 0) break;
    partial_.append(buffer, static_cast<size_t>(n));
    size_t start = 0;
    for (size_t end; (end = partial_.find('\n', start)) != std::string::npos; start = end + 1) {
      lines.push_back(partial_.substr(start, end - start));
    }
    partial_.erase(0, start);
    if (partial_.size() > kMaxLine) {
      lines.push_back(std::move(partial_));
      partial_.clear();
    }
  }
  closed_ = true;
  // A process that dies while it writes leaves half a line, which says nothing.
  partial_.clear();
  return lines;
}

void Child::kill_group() {
  if (pid_ > 0) kill(-pid_, SIGKILL);
}

std::string Child::wait() {
  int status = 0;
  while (pid_ > 0 && waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  // What the worker started may outlive it, holding the pipe.
  kill_group();
  pid_ = -1;
  if (WIFSIGNALED(status)) {
    int signal = WTERMSIG(status);
    return "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  }
  int code = WEXITSTATUS(status);
  return code == 0 ? std::string() : "exit code " + std::to_string(code);
}

std::string Child::log_tail(size_t bytes) const {
  off_t size = lseek(log_fd_, 0, SEEK_END);
  if (size <= 0) return {};
  size_t length = std::min(bytes, static_cast<size_t>(size));
  std::string out(length, '\0');
  ssize_t n = pread(log_fd_, out.data(), length, size - static_cast<off_t>(length));
  out.resize(n > 0 ? static_cast<size_t>(n) : 0);
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

}  // namespace primset::conformance
