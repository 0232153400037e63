// `primset`: the command line. Subcommands register themselves (command.h).
#include "sdk/cli/program.h"

#include <fmt/format.h>
#include <primset/error.h>
#include <primset/invoke.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <sstream>
#include <system_error>

#include "sdk/base/exception_text.h"
#include "sdk/base/printable.h"
#include "sdk/base/suggestion.h"
#include "sdk/cli/command.h"
#include "sdk/cli/output.h"
#include "sdk/cli/terminal.h"

namespace primset::cli {
namespace {

constexpr const char* kFooter =
    "Start with:\n"
    "  primset devices                                  what there is to run on\n"
    "  primset explain softmax.int --arg dim=1          what an operator becomes\n"
    "  primset run add.Tensor a.npy b.npy --out c.npy   compute something\n"
    "\n"
    "Environment: PRIMSET_PLUGIN_PATH, PRIMSET_DEVICE, PRIMSET_CACHE (a folder, or off), "
    "PRIMSET_LOG,\n"
    "PRIMSET_FALLBACK, PRIMSET_ERRORS, PRIMSET_VALIDATE.\n"
    "Exit codes: 0 fine; 1 the answer is no; 2 wrong command line; 3 an operator, device or file\n"
    "failed; 4 a mistake in Primset.";

// Set up before the chosen subcommand runs.
void apply(const std::string& specs) {
  if (!specs.empty()) load_specs(specs);
}

int report(ExitCode code, std::string_view what) {
  std::fprintf(stderr, "primset: %s\n", printable_lines(what).c_str());
  return code;
}

int unknown_command(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Command* c : commands()) names.push_back(c->name);
  return report(kUsage, fmt::format("there is no command {}; primset --help lists them",
                                    quote_with_suggestion(name, names)));
}

// CLI11's text, with the command it is about.
int usage_error(const CLI::App& app, const CLI::ParseError& e) {
  const auto chosen = app.get_subcommands();
  const std::string name = chosen.empty() ? "primset" : "primset " + chosen[0]->get_name();
  std::fprintf(stderr, "%s: %s; see %s --help\n", name.c_str(), printable_lines(e.what()).c_str(),
               name.c_str());
  return kUsage;
}

bool is_command(std::string_view name) {
  const auto list = commands();
  return std::ranges::any_of(list, [&](const Command* c) { return c->name == name; });
}

// As CLI11 takes them, the last one first. It would take a list in brackets apart, which is for the
// operator's schema to read: a space behind it keeps it whole.
std::vector<std::string> arguments(int argc, char** argv) {
  std::vector<std::string> out;
  for (int i = argc; i-- > 1;) {
    std::string& text = out.emplace_back(argv[i]);
    if (text.starts_with('[') && text.ends_with(']')) text += ' ';
  }
  return out;
}

int run(int argc, char** argv) {
  CLI::App app("Primset: the PyTorch operator surface for any accelerator", "primset");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", PRIMSET_VERSION);
  std::string specs;
  app.add_option("--specs", specs,
                 "Operators from this spec bundle or YAML instead of the built-in ones");
  app.add_flag_callback("--no-color", disable_color, "Never colour the output");
  std::vector<std::pair<CLI::App*, std::function<int()>>> runners;
  for (const Command* command : commands()) {
    CLI::App* sub = app.add_subcommand(command->name, command->summary);
    sub->footer(command->details);
    runners.emplace_back(sub, command->setup(*sub));
  }
  if (argc == 1) {
    std::fputs(app.help().c_str(), stderr);
    return kUsage;
  }
  if (argv[1][0] != '-' && !is_command(argv[1])) return unknown_command(argv[1]);
  try {
    app.parse(arguments(argc, argv));
  } catch (const CLI::Success& e) {  // --help, --version
    std::ostringstream text;
    const int code = app.exit(e, text, text);
    fmt::print("{}", text.str());
    return code;
  } catch (const CLI::ParseError& e) {
    return usage_error(app, e);
  }
  apply(specs);
  for (auto& [sub, runner] : runners) {
    if (sub->parsed()) return runner();
  }
  return kUsage;
}

// `output_error`: the errno of a print that failed.
int run_reporting(int argc, char** argv, int& output_error) {
  try {
    return run(argc, argv);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::internal)
      return report(kInternal, std::string(e.what()) + " (a mistake in Primset: please report it)");
    return report(kError, e.what());
  } catch (const std::system_error& e) {
    if (std::ferror(stdout) == 0) return report(kError, e.what());
    output_error = e.code().value();
    return kError;
  } catch (const std::bad_alloc& e) {
    return report(kError, text_of(e));
  } catch (const std::exception& e) {
    return report(kInternal, e.what());
  }
}

}  // namespace

int program(int argc, char** argv) {
  occupy_standard_descriptors();
  int output_error = 0;
  const int code = run_reporting(argc, argv, output_error);
  return close_standard_output(code, output_error);
}

}  // namespace primset::cli
