#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "sdk/cli/command.h"

namespace primset::cli {
namespace {

bool shown(const CLI::Option* option) {
  return !option->get_group().empty() && !option->get_lnames().empty();
}

std::string option_words(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : app.get_options()) {
    if (!shown(option)) continue;
    for (const std::string& name : option->get_lnames()) words += " --" + name;
  }
  return words;
}

// "smoke standard full" of an option that takes one of a set.
std::string value_words(const CLI::Option& option) {
  std::string text = option.get_type_name();
  const size_t open = text.find(":{");
  if (open == std::string::npos || !text.ends_with('}')) return "";
  text = text.substr(open + 2, text.size() - open - 3);
  std::replace(text.begin(), text.end(), ',', ' ');
  return text;
}

std::vector<const CLI::App*> subcommands(const CLI::App& root) {
  return root.get_subcommands([](const CLI::App*) { return true; });
}

// The subcommands' options and values, from the program itself, so that the script cannot fall
// behind.
std::string option_cases(const CLI::App& root) {
  std::string text;
  for (const CLI::App* sub : subcommands(root))
    text += fmt::format("    {}) words=\"{}\" ;;\n", sub->get_name(), option_words(*sub));
  return text;
}

std::string value_cases(const CLI::App& root) {
  std::string text;
  for (const CLI::App* sub : subcommands(root)) {
    for (const CLI::Option* option : sub->get_options()) {
      const std::string words = value_words(*option);
      if (!shown(option) || words.empty()) continue;
      text += fmt::format("    \"{} --{}\") words=\"{}\" ;;\n", sub->get_name(),
                          option->get_lnames()[0], words);
    }
  }
  return text;
}

std::string names(const CLI::App& root) {
  std::string text;
  for (const CLI::App* sub : subcommands(root)) text += sub->get_name() + " ";
  return text;
}

std::string bash(const CLI::App& root) {
  return fmt::format(
      "_primset() {{\n"
      "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" before=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "  local command=\"${{COMP_WORDS[1]}}\" words\n"
      "  case \"$command\" in\n{}"
      "    *) words=\"{}--help --version --specs --no-color\" ;;\n"
      "  esac\n"
      "  case \"$command $before\" in\n{}"
      "    *\" --device\") words=\"$(primset devices --names 2>/dev/null)\" ;;\n"
      "    *\" --family\") words=\"$(primset ops --families 2>/dev/null)\" ;;\n"
      "  esac\n"
      "  if [[ $COMP_CWORD -eq 2 && \" explain run bench \" == *\" $command \"* "
      "&& $current != -* ]]; then\n"
      "    words=\"$(primset ops --names 2>/dev/null)\"\n"
      "  fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  [[ ${{#COMPREPLY[@]}} -eq 0 ]] && COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "}}\n"
      "complete -F _primset primset\n",
      option_cases(root), names(root), value_cases(root));
}

int completion_command(const CLI::App& app, const std::string& shell) {
  const CLI::App& root = *app.get_parent();
  if (shell == "zsh") fmt::print("autoload -U +X bashcompinit && bashcompinit\n");
  fmt::print("{}", bash(root));
  return kOk;
}

const Command kCompletionCommand(
    "completion", "Print a completion script for a shell",
    "Example:\n"
    "  primset completion bash > ~/.local/share/bash-completion/completions/primset\n"
    "  primset completion zsh >> ~/.zshrc\n"
    "Completes commands, options, operators, devices and the values of options that take one of a\n"
    "set. The script asks the program itself, so it never falls behind.",
    [](CLI::App& app) {
      auto shell = std::make_shared<std::string>();
      app.add_option("shell", *shell, "bash or zsh")
          ->required()
          ->check(CLI::IsMember({"bash", "zsh"}));
      return [shell, &app] { return completion_command(app, *shell); };
    });

}  // namespace
}  // namespace primset::cli
