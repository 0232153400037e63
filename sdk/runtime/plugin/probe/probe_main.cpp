// primset-probe FILE: lists the devices of one plugin, in a process that the plugin may ruin. What
// it finds goes to descriptor 3 (probe_protocol.h), each line before what could end the process.
// Exit codes: 0 the plugin or its devices were told, 2 wrong usage, 113 nobody listens any more.
#include <fmt/format.h>
#include <primset/error.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <mutex>

#include "sdk/runtime/plugin/loader.h"
#include "sdk/runtime/plugin/probe/child_process.h"
#include "sdk/runtime/plugin/probe/probe_protocol.h"

namespace primset::plugin {
namespace {

// Any thread: plugins log from theirs.
void tell(std::string_view line) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  while (!line.empty()) {
    const ssize_t n = write(kAnswerDescriptor, line.data(), line.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(kNobodyListens);
    line.remove_prefix(static_cast<size_t>(n));
  }
}

void tell_devices(Registry& registry, const std::string& name) {
  tell(step_line("loading"));
  const std::shared_ptr<Plugin> plugin = registry.plugin(name);
  tell(step_line("calling device_count"));
  const uint32_t count = plugin->device_count();
  // They stay open, as in a process that uses them.
  std::vector<std::shared_ptr<PluginDevice>> open;
  for (uint32_t i = 0; i < count; ++i) {
    tell(step_line(fmt::format("opening {}:{}", name, i)));
    try {
      open.push_back(plugin->open(i));
      tell(device_line(i, describe(*open.back())));
    } catch (const Error& e) {
      tell(device_error_line(i, e.what()));
    }
  }
  tell(done_line());
  // Closing is not part of listing, and the next thing the parent does is to end this process.
  _exit(0);
}

int probe(const char* file) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  signal(SIGPIPE, SIG_IGN);
  try {
    LoaderOptions options;
    options.path = {file};
    options.log = [](uint32_t level, std::string_view text) { tell(log_line(level, text)); };
    options.warn_of_path = false;  // the parent has
    Registry registry(std::move(options));
    tell_devices(registry, registry.names().empty() ? file : registry.names().front());
  } catch (const std::exception& e) {
    tell(error_line(e.what()));
    tell(done_line());
  }
  _exit(0);
}

}  // namespace
}  // namespace primset::plugin

int main(int argc, char** argv) {
  if (argc == 2) return primset::plugin::probe(argv[1]);
  std::fprintf(stderr, "usage: primset-probe PLUGIN, with descriptor 3 open for the answer\n");
  return 2;
}
