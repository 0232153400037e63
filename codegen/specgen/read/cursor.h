// A place in a scalar's text, for the parsers of schemas and signatures.
#ifndef PRIMSET_CODEGEN_SPECGEN_READ_CURSOR_H_
#define PRIMSET_CODEGEN_SPECGEN_READ_CURSOR_H_

#include <optional>
#include <string>
#include <string_view>

#include "codegen/specgen/read/diagnostics.h"
#include "codegen/specgen/read/yaml.h"

namespace primset::specs {

// Leaves a parser at its first mistake; each parser's entry function catches it and reports it.
struct ParseError {
  Position position;
  std::string what;
  std::string expected;
};

class Cursor {
 public:
  explicit Cursor(const YamlNode& scalar) : scalar_(scalar), text_(scalar.text) {}

  size_t offset() const { return offset_; }
  Position position() const { return scalar_.place(offset_); }
  Position position(size_t offset) const { return scalar_.place(offset); }
  std::string_view since(size_t begin) const { return text_.substr(begin, offset_ - begin); }
  bool at_end() const { return offset_ >= text_.size(); }
  char peek(size_t ahead = 0) const {
    return offset_ + ahead < text_.size() ? text_[offset_ + ahead] : '\0';
  }
  bool looking_at(std::string_view token) const {
    return text_.substr(offset_, token.size()) == token;
  }

  void skip_spaces();
  // Takes `token` when it comes next; `expect` insists.
  bool take(std::string_view token);
  void expect(std::string_view token);
  // Letters, digits and underscores, not beginning with a digit; empty when there is none.
  std::string_view name();
  std::string_view expect_name(std::string_view what);
  std::optional<int64_t> integer();
  // Everything up to a character of `stops` outside quotes and brackets.
  std::string_view until(std::string_view stops);

  // Stops here: "unexpected …" and what was expected, or the given complaint.
  [[noreturn]] void fail_expecting(std::string_view expected) const;
  [[noreturn]] void fail(size_t at, std::string what, std::string expected = "") const;

 private:
  const YamlNode& scalar_;
  std::string_view text_;
  size_t offset_ = 0;
};

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_READ_CURSOR_H_
