#include "sdk/runtime/plugin/probe/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <primset/error.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "sdk/base/printable.h"

namespace primset::plugin {
namespace {

using std::chrono::milliseconds;

constexpr size_t kLastWordsBytes = 1024;
constexpr milliseconds kGlance(50);

struct Pipe {
  Descriptor from, to;
};

// A descriptor above those that the child's are copied onto, whatever this process has closed.
Descriptor lifted(Descriptor d) {
  return Descriptor(fcntl(d.get(), F_DUPFD_CLOEXEC, 10));
}

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  Pipe pipe{lifted(Descriptor(ends[0])), lifted(Descriptor(ends[1]))};
  fcntl(pipe.from.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

struct SpawnOptions {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  SpawnOptions(int answer_end, int words_end) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, words_end, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, words_end, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, answer_end, kAnswerDescriptor);
    posix_spawnattr_init(&attributes);
    // The parent's handlers are gone in the child, but what it blocks or ignores is not.
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;
  ~SpawnOptions() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

}  // namespace

ChildProcess::ChildProcess(const std::filesystem::path& program,
                           std::vector<std::string> arguments) {
  Pipe answer = make_pipe(), words = make_pipe();
  if (!answer.from || !answer.to || !words.from || !words.to)
    throw Error(ErrorCode::plugin,
                fmt::format("{} cannot be started: {}", program.string(), std::strerror(errno)));
  start(program, arguments, answer.to.get(), words.to.get());
  answer_ = std::move(answer.from);
  words_ = std::move(words.from);
}

void ChildProcess::start(const std::filesystem::path& program, std::vector<std::string>& arguments,
                         int answer_end, int words_end) {
  std::string name = program.string();
  std::vector<char*> argv = {name.data()};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const SpawnOptions options(answer_end, words_end);
  const int error =
      posix_spawn(&pid_, name.c_str(), &options.actions, &options.attributes, argv.data(), environ);
  if (error != 0)
    throw Error(ErrorCode::plugin, fmt::format("{} cannot be started: {}", name,
                                               std::generic_category().message(error)));
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  // The group goes even when its first process has ended: it may have started others. Only now is
  // that process waited for, so that its number was nobody else's until here.
  kill(-pid_, SIGKILL);
  // A process that a driver holds cannot be ended; it is left rather than waited for without end.
  for (int i = 0; i < 100; ++i) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0) return;
    poll(nullptr, 0, 10);
  }
}

// Looks without waiting for the process for good.
bool ChildProcess::has_ended() {
  if (ending_.kind != Ending::Kind::running) return true;
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    if (errno != EINTR) ending_ = {Ending::Kind::unknown, 0};
  } else if (info.si_pid == pid_) {
    const bool exited = info.si_code == CLD_EXITED;
    ending_ = {exited ? Ending::Kind::exited : Ending::Kind::killed, info.si_status};
  }
  return ending_.kind != Ending::Kind::running;
}

// Reads what there is, of which the end is kept.
void ChildProcess::hear_words() {
  char part[4096];
  // A process that writes without end must not hold this one: the rest waits for the next time.
  for (int i = 0; i < 64; ++i) {
    const ssize_t n = read(words_.get(), part, sizeof(part));
    if (n == 0) words_.reset();  // poll takes no notice of it any more
    if (n <= 0) return;
    last_words_.append(part, static_cast<size_t>(n));
    if (last_words_.size() > kLastWordsBytes)
      last_words_.erase(0, last_words_.size() - kLastWordsBytes);
  }
}

// Reads what there is; false when nothing will follow.
bool ChildProcess::hear_answer(size_t max_bytes) {
  char part[4096];
  while (bytes_ <= max_bytes) {
    const ssize_t n = read(answer_.get(), part, sizeof(part));
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) return false;
    unread_.append(part, static_cast<size_t>(n));
    bytes_ += static_cast<size_t>(n);
  }
  return true;
}

ChildProcess::Heard ChildProcess::listen(Clock::time_point deadline, size_t max_bytes,
                                         const std::function<bool(std::string_view)>& line) {
  while (true) {
    // A process that has ended may have left something behind in the pipe, so it is asked first.
    // (Its own children may hold the pipe open, so the pipe's end alone is not waited for.)
    const bool ended = has_ended();
    hear_words();
    const bool open = hear_answer(max_bytes);
    size_t begin = 0;
    for (size_t end; (end = unread_.find('\n', begin)) != std::string::npos; begin = end + 1)
      if (line(std::string_view(unread_).substr(begin, end - begin))) return Heard::enough;
    unread_.erase(0, begin);
    if (bytes_ > max_bytes) return Heard::too_much;
    if (ended || !open) return Heard::ended;
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return Heard::too_late;
    pollfd ready[] = {{answer_.get(), POLLIN, 0}, {words_.get(), POLLIN, 0}};
    poll(ready, 2, static_cast<int>(std::min(left, kGlance).count()));
  }
}

ChildProcess::Ending ChildProcess::ending() {
  for (int i = 0; i < 20 && !has_ended(); ++i) poll(nullptr, 0, static_cast<int>(kGlance.count()));
  hear_words();
  return ending_;
}

std::string ChildProcess::last_words() const {
  std::string_view text = last_words_;
  while (text.ends_with('\n')) text.remove_suffix(1);
  return printable(text, kLastWordsBytes);
}

}  // namespace primset::plugin
