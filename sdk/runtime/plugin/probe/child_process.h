// A program that is started, listened to and ended: what it writes on one descriptor of its own,
// the end of what it writes on standard output and error, how it ended.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_PROBE_CHILD_PROCESS_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_PROBE_CHILD_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/base/descriptor.h"

namespace primset::plugin {

// The descriptor that the program writes its answer to.
inline constexpr int kAnswerDescriptor = 3;

class ChildProcess {
 public:
  using Clock = std::chrono::steady_clock;

  // In a process group of its own, with standard input empty. Throws Error{plugin} when the program
  // cannot be started.
  ChildProcess(const std::filesystem::path& program, std::vector<std::string> arguments);
  ~ChildProcess();  // ends it and whatever it started
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  enum class Heard {
    enough,    // `line` returned true
    ended,     // the process ended, or closed its descriptor
    too_late,  // the deadline has passed
    too_much   // it wrote more than max_bytes
  };
  // Gives each line of the answer to `line`, until one of these.
  Heard listen(Clock::time_point deadline, size_t max_bytes,
               const std::function<bool(std::string_view)>& line);

  struct Ending {
    enum class Kind : unsigned char { running, exited, killed, unknown };
    Kind kind = Kind::unknown;
    int number = 0;  // exited: the code; killed: the signal
  };
  // A process that closed its descriptors gets a moment to end. unknown: somebody else waited for
  // it.
  Ending ending();
  // The last of what it wrote on standard output and error, printable.
  std::string last_words() const;

 private:
  void start(const std::filesystem::path& program, std::vector<std::string>& arguments,
             int answer_end, int words_end);
  bool has_ended();
  void hear_words();
  bool hear_answer(size_t max_bytes);

  pid_t pid_ = -1;
  Descriptor answer_, words_;
  std::string unread_, last_words_;
  size_t bytes_ = 0;
  Ending ending_{Ending::Kind::running, 0};
};

}  // namespace primset::plugin

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_PROBE_CHILD_PROCESS_H_
