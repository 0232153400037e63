#include "sdk/cli/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace primset::cli {
namespace {

bool enabled = true;

bool colored() {
  return enabled && isatty(STDOUT_FILENO) == 1 && !std::getenv("NO_COLOR");
}

const char* code(Style style) {
  switch (style) {
    case Style::plain:
      return "0";
    case Style::bold:
      return "1";
    case Style::dim:
      return "2";
    case Style::good:
      return "32";
    case Style::bad:
      return "31";
    case Style::warning:
      return "33";
  }
  return "0";
}

}  // namespace

void disable_color() {
  enabled = false;
}

std::string styled(Style style, std::string_view text) {
  if (!colored() || style == Style::plain) return std::string(text);
  return std::string("\x1b[") + code(style) + "m" + std::string(text) + "\x1b[0m";
}

std::string Table::text() const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < rows_[r].size(); ++i) {
      line += rows_[r][i];
      if (i + 1 < rows_[r].size()) line.append(widths[i] - rows_[r][i].size() + 2, ' ');
    }
    out += (r == 0 ? styled(Style::bold, line) : line) + "\n";
  }
  return out;
}

std::string heading(std::string_view title) {
  return styled(Style::bold, "== " + std::string(title) + " ==") + "\n";
}

}  // namespace primset::cli
