#include "sdk/cli/packed_program.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace primset::cli {
namespace fs = std::filesystem;
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// Ours, with these variables instead.
std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  const auto name_of = [](std::string_view text) { return text.substr(0, text.find('=') + 1); };
  std::vector<std::string> out = changes;
  for (char** variable = environ; *variable; ++variable) {
    bool changed = false;
    for (const std::string& change : changes) changed |= name_of(change) == name_of(*variable);
    if (!changed) out.emplace_back(*variable);
  }
  return out;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "primset-pack-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::system_error(errno, std::generic_category(), name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

int run_with_cache(const std::vector<std::string>& program, const std::string& device,
                   const fs::path& cache, Output output) {
  std::vector<std::string> arguments = program;
  std::vector<std::string> environment =
      environment_with({"PRIMSET_CACHE=" + cache.string(), "PRIMSET_CACHE_BYTES=1000000000000",
                        "PRIMSET_PACK=off", "PRIMSET_DEVICE=" + device});
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output == Output::to_standard_error)
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = -1;
  const int error = posix_spawnp(&child, arguments[0].c_str(), &actions, nullptr,
                                 pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error) throw std::system_error(error, std::generic_category(), arguments[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), arguments[0]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace primset::cli
