// Text for people: tables, and colour where a terminal shows it.
#ifndef PRIMSET_SDK_CLI_TERMINAL_H_
#define PRIMSET_SDK_CLI_TERMINAL_H_

#include <string>
#include <string_view>
#include <vector>

namespace primset::cli {

enum class Style { plain, bold, dim, good, bad, warning };

// With escape codes only when stdout is a terminal, NO_COLOR is not set and --no-color was not
// given.
std::string styled(Style style, std::string_view text);
void disable_color();

// Columns as wide as their widest cell; the last one is not padded.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// "== title ==" above a section.
std::string heading(std::string_view title);

}  // namespace primset::cli

#endif  // PRIMSET_SDK_CLI_TERMINAL_H_
