#include "conformance/cases/ids/filter.h"

#include <algorithm>

#include "conformance/cases/ids/id.h"
#include "primset/error.h"

namespace primset::conformance {
namespace {

constexpr size_t kMaxRegex = 1000;
constexpr int kMaxDigits = 9;

bool has_long_number(std::string_view text) {
  int digits = 0;
  return std::ranges::any_of(text, [&](char c) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    return digits > kMaxDigits;
  });
}

// `text` stands between slashes. std::regex recurses once a group, and reads counts and back
// references into an integer whose overflow it does not look for.
std::regex parsed_regex(const std::string& text) {
  if (text.size() > kMaxRegex)
    throw Error(ErrorCode::value, "a filter is a regular expression of " +
                                      std::to_string(text.size()) +
                                      " characters; expected at most " + std::to_string(kMaxRegex));
  if (has_long_number(text))
    throw Error(ErrorCode::value, "the filter " + text + " has a number of more than " +
                                      std::to_string(kMaxDigits) + " digits");
  try {
    return std::regex(text.substr(1, text.size() - 2), std::regex::optimize);
  } catch (const std::regex_error& e) {
    throw Error(ErrorCode::value, "the filter " + text + " does not parse: " + e.what());
  }
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view text) {
  // The usual two-pointer match: on a mismatch the last '*' takes one more character.
  size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Filter::Filter(const std::vector<std::string>& patterns) {
  for (const std::string& text : patterns) {
    Pattern p;
    std::string body = text;
    if (body.starts_with('-')) {
      p.negative = true;
      body.erase(0, 1);
    }
    if (body.size() >= 2 && body.front() == '/' && body.back() == '/') {
      p.is_regex = true;
      p.regex = parsed_regex(body);
    }
    p.whole = body.find(':') != std::string::npos;
    p.glob = std::move(body);
    patterns_.push_back(std::move(p));
  }
}

bool Filter::Pattern::matches(std::string_view id) const {
  if (is_regex) return std::regex_search(id.begin(), id.end(), regex);
  return glob_matches(glob, whole ? id : subject_of(id));
}

bool Filter::matches(std::string_view id) const {
  bool any_positive = false, selected = false;
  for (const Pattern& p : patterns_) {
    if (p.negative) {
      if (p.matches(id)) return false;
      continue;
    }
    any_positive = true;
    selected = selected || p.matches(id);
  }
  return selected || !any_positive;
}

bool Filter::may_match_subject(std::string_view subject) const {
  bool any_positive = false;
  for (const Pattern& p : patterns_) {
    if (p.negative) continue;
    any_positive = true;
    if (p.is_regex) return true;
    std::string_view head = std::string_view(p.glob).substr(0, p.glob.find(':'));
    // A '*' before the ':' may reach beyond it.
    bool open = p.whole && head.find('*') != std::string_view::npos;
    if (open || glob_matches(head, subject)) return true;
  }
  return !any_positive;
}

}  // namespace primset::conformance
