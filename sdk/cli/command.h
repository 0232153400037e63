// The registration table of `primset`. A subcommand is an object with static lifetime; linking its
// file into the program adds it, so that other folders bring their own:
//
//   const cli::Command kCommand{
//       "conform", "check a plugin", kHelp,
//       [](CLI::App& app) {
//         auto options = std::make_shared<MyOptions>();
//         app.add_option("--plugin", options->plugin, "the plugin's file");
//         return [options] { return run(*options); };      // the exit code
//       }};
//
// An object library that holds it joins with target_link_libraries(primset_cli PRIVATE my_objects).
#ifndef PRIMSET_SDK_CLI_COMMAND_H_
#define PRIMSET_SDK_CLI_COMMAND_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace primset::cli {

// Exit codes, the same for all commands; `primset --help` lists them.
enum ExitCode : int {
  kOk = 0,
  kNegative = 1,  // it ran, and the answer is no: a difference, a failed case
  kUsage = 2,     // the command line is wrong
  kError = 3,     // an operator, a device or a file failed
  kInternal = 4,  // a mistake in Primset
};

struct Command {
  // Declares options on the subcommand and returns what runs when it is chosen.
  using Setup = std::function<std::function<int()>(CLI::App&)>;

  Command(std::string name, std::string summary, std::string details, Setup setup);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  std::string name, summary;
  std::string details;  // an example that teaches; shown below the options
  Setup setup;
};

// All registered, by name.
std::vector<const Command*> commands();

}  // namespace primset::cli

#endif  // PRIMSET_SDK_CLI_COMMAND_H_
