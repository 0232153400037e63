#include "codegen/specgen/read/cursor.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>
#include <utility>

namespace primset::specs {
namespace {

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

void Cursor::skip_spaces() {
  while (peek() == ' ' || peek() == '\n') ++offset_;
}

bool Cursor::take(std::string_view token) {
  if (!looking_at(token)) return false;
  offset_ += token.size();
  return true;
}

void Cursor::expect(std::string_view token) {
  if (!take(token)) fail_expecting(fmt::format("'{}'", token));
}

std::string_view Cursor::name() {
  const size_t begin = offset_;
  if (peek() >= '0' && peek() <= '9') return {};
  while (is_name_char(peek())) ++offset_;
  return since(begin);
}

std::string_view Cursor::expect_name(std::string_view what) {
  const std::string_view found = name();
  if (found.empty()) fail_expecting(what);
  return found;
}

std::optional<int64_t> Cursor::integer() {
  int64_t value = 0;
  const char* first = text_.data() + offset_;
  const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
  if (error != std::errc()) return std::nullopt;
  offset_ += static_cast<size_t>(end - first);
  return value;
}

std::string_view Cursor::until(std::string_view stops) {
  const size_t begin = offset_;
  char quote = '\0';
  int brackets = 0;
  for (; !at_end(); ++offset_) {
    const char c = peek();
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (brackets == 0 && stops.find(c) != std::string_view::npos) {
      break;
    } else if (c == '[') {
      ++brackets;
    } else if (c == ']') {
      --brackets;
    }
  }
  return since(begin);
}

void Cursor::fail_expecting(std::string_view expected) const {
  std::string seen = at_end() ? "the end of the text" : fmt::format("'{}'", peek());
  if (is_name_char(peek())) {
    size_t end = offset_;
    while (end < text_.size() && is_name_char(text_[end])) ++end;
    seen = fmt::format("'{}'", text_.substr(offset_, end - offset_));
  }
  throw ParseError{position(), "unexpected " + seen, std::string(expected)};
}

void Cursor::fail(size_t at, std::string what, std::string expected) const {
  throw ParseError{position(at), std::move(what), std::move(expected)};
}

}  // namespace primset::specs
