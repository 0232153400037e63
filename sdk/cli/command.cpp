#include "sdk/cli/command.h"

#include <algorithm>

namespace primset::cli {
namespace {

std::vector<const Command*>& table() {
  static auto* list = new std::vector<const Command*>;  // filled before main, in any order of files
  return *list;
}

}  // namespace

Command::Command(std::string n, std::string s, std::string d, Setup f)
    : name(std::move(n)), summary(std::move(s)), details(std::move(d)), setup(std::move(f)) {
  table().push_back(this);
}

std::vector<const Command*> commands() {
  std::vector<const Command*> list = table();
  std::ranges::sort(list, {}, [](const Command* c) { return c->name; });
  return list;
}

}  // namespace primset::cli
