#include <fmt/format.h>

#include <cstdio>

#include "sdk/cli/command.h"

namespace primset::cli {
namespace {

std::string option_words(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += " --" + name;
  }
  return words;
}

// The subcommands' options, from the program itself, so that the script cannot fall behind.
std::string cases(const CLI::App& root) {
  std::string text;
  for (const CLI::App* sub : root.get_subcommands([](const CLI::App*) { return true; }))
    text += fmt::format("    {}) words=\"{}\" ;;\n", sub->get_name(), option_words(*sub));
  return text;
}

std::string names(const CLI::App& root) {
  std::string text;
  for (const CLI::App* sub : root.get_subcommands([](const CLI::App*) { return true; }))
    text += sub->get_name() + " ";
  return text;
}

std::string bash(const CLI::App& root) {
  return fmt::format(
      "_primset() {{\n"
      "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" words\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n{}"
      "    *) words=\"{} --help --version --specs --no-color\" ;;\n"
      "  esac\n"
      "  if [[ $COMP_CWORD -eq 2 && \" explain run bench \" == *\" ${{COMP_WORDS[1]}} \"* "
      "&& $current != -* ]]; then\n"
      "    words=\"$(primset ops --names 2>/dev/null)\"\n"
      "  fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  [[ ${{#COMPREPLY[@]}} -eq 0 ]] && COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "}}\n"
      "complete -F _primset primset\n",
      cases(root), names(root));
}

int run(const CLI::App& app, const std::string& shell) {
  const CLI::App& root = *app.get_parent();
  if (shell == "zsh") fmt::print("autoload -U +X bashcompinit && bashcompinit\n");
  fmt::print("{}", bash(root));
  return kOk;
}

const Command kCommand(
    "completion", "Print a completion script for a shell",
    "Example:\n"
    "  primset completion bash > ~/.local/share/bash-completion/completions/primset\n"
    "  primset completion zsh >> ~/.zshrc",
    [](CLI::App& app) {
      auto shell = std::make_shared<std::string>();
      app.add_option("shell", *shell, "bash or zsh")
          ->required()
          ->check(CLI::IsMember({"bash", "zsh"}));
      return [shell, &app] { return run(app, *shell); };
    });

}  // namespace
}  // namespace primset::cli
