#include "sdk/testing/functions.h"

#include <algorithm>
#include <stdexcept>

#include "sdk/testing/cpp_tokens.h"

namespace primset::repository {
namespace {

bool opens(const std::string& t) {
  return t == "(" || t == "[" || t == "{";
}

bool closes(const std::string& t) {
  return t == ")" || t == "]" || t == "}";
}

// Walks namespaces and classes, and steps over the bodies that it finds there.
class CppFunctions {
 public:
  explicit CppFunctions(const SourceFile& file) : file_(file), tokens_(cpp_tokens(file.text)) {}

  std::vector<FunctionSpan> find() {
    scan_scope();
    if (at_ < tokens_.size()) fail("a '}' that closes nothing");
    return std::move(found_);
  }

 private:
  enum class Brace { scope, initializer, body };

  const std::string& text(size_t i) const { return tokens_[i].text; }

  [[noreturn]] void fail(const std::string& what) const {
    const size_t last = std::min(at_, tokens_.size() - 1);
    throw std::runtime_error(file_.path + ":" + std::to_string(tokens_[last].line) + ": " + what);
  }

  // To the end of the scope whose '{' stands before at_. What stands between the last ';' or '}'
  // and a '{' says what the brace opens.
  void scan_scope() {
    size_t head = at_;
    while (at_ < tokens_.size() && text(at_) != "}") {
      if (text(at_) == ";" || is_access_label()) {
        head = ++at_;
      } else if (!opens(text(at_))) {
        ++at_;
      } else if (text(at_) != "{") {
        skip_group();
      } else {
        head = enter_brace(head);
      }
    }
  }

  // at_ stands on the ':' of "private:".
  bool is_access_label() const {
    if (at_ == 0 || text(at_) != ":") return false;
    const std::string& before = text(at_ - 1);
    return before == "public" || before == "protected" || before == "private";
  }

  // The head of what follows.
  size_t enter_brace(size_t head) {
    switch (brace_after(head)) {
      case Brace::scope:
        ++at_;
        scan_scope();
        if (at_ == tokens_.size()) fail("a scope has no end");
        return ++at_;
      case Brace::body:
        add_function(head);
        return at_;
      default:
        skip_group();
        return head;
    }
  }

  // at_ stands on a bracket; afterwards behind the one that closes it.
  void skip_group() {
    size_t depth = 0;
    do {
      if (at_ == tokens_.size()) fail("a bracket is not closed");
      if (opens(text(at_))) ++depth;
      if (closes(text(at_))) --depth;
      ++at_;
    } while (depth > 0);
  }

  // The tokens of the head that stand in no bracket, each opening bracket as the last of its group.
  std::vector<size_t> outer_tokens(size_t head) const {
    std::vector<size_t> out;
    size_t depth = 0;
    for (size_t i = behind_template(head); i < at_; ++i) {
      if (closes(text(i))) --depth;
      if (depth == 0 && !closes(text(i))) out.push_back(i);
      if (opens(text(i))) ++depth;
    }
    return out;
  }

  // Parameters of templates may have defaults, whose '=' makes no variable.
  size_t behind_template(size_t head) const {
    if (head == at_ || text(head) != "template") return head;
    size_t depth = 0, i = head + 1;
    do {
      if (text(i) == "<") ++depth;
      if (text(i) == ">") --depth;
      ++i;
    } while (depth > 0 && i < at_);
    return behind_template(i);
  }

  // What does the brace at at_ open?
  Brace brace_after(size_t head) const {
    bool parameters = false, members = false;
    for (size_t i : outer_tokens(head)) {
      const bool operator_name = i > head && text(i - 1) == "operator";
      if (text(i) == "=" && !operator_name) return Brace::initializer;
      if (text(i) == "(") parameters = true;
      // A list of members to initialize: `T::T() : a_{1}, b_(2) {`.
      if (text(i) == ":" && parameters) members = true;
    }
    if (!parameters) return is_scope(head) ? Brace::scope : Brace::initializer;
    const std::string& before = text(at_ - 1);
    return members && before != ")" && before != "}" ? Brace::initializer : Brace::body;
  }

  bool is_scope(size_t head) const {
    if (head == at_) return false;
    return std::ranges::any_of(outer_tokens(head), [&](size_t i) {
      const std::string& t = text(i);
      return t == "namespace" || t == "class" || t == "struct" || t == "union" || t == "enum" ||
             t == "extern";
    });
  }

  void add_function(size_t head) {
    const size_t first = head;
    std::string name = name_after(head);
    skip_group();
    const size_t from = tokens_[first].line, to = tokens_[at_ - 1].line;
    found_.push_back({std::move(name), from, to - from + 1});
  }

  // The words before the first bracket, and of a test what is in it.
  std::string name_after(size_t head) const {
    size_t open = at_;
    for (size_t i : outer_tokens(head)) {
      if (text(i) == "(" && i > head) {
        open = i;
        break;
      }
    }
    size_t from = open;
    // Template arguments, `Engine<T>::run`, end the name.
    auto belongs = [&](size_t i) {
      const std::string& next = text(i + 1);
      return text(i) == "::" || text(i) == "~" || text(i) == "operator" || i + 1 == open ||
             (text(i) != ">" && (next == "::" || next == "~"));
    };
    while (from > head && belongs(from - 1)) --from;
    if (text(from) == "::") ++from;
    std::string name;
    for (size_t i = from; i < open; ++i) name += text(i);
    if (!name.starts_with("TEST")) return name;
    for (size_t i = open; text(i) != ")"; ++i) name += text(i) == "," ? ", " : text(i);
    return name + ")";
  }

  const SourceFile& file_;
  std::vector<CppToken> tokens_;
  std::vector<FunctionSpan> found_;
  size_t at_ = 0;
};

size_t indent_of(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// "run" for "  def run(self):"; empty for any other line.
std::string python_name(const std::string& line) {
  std::string rest = line.substr(indent_of(line));
  if (rest.starts_with("async ")) rest.erase(0, 6);
  if (!rest.starts_with("def ")) return {};
  return rest.substr(4, rest.find('(') - 4);
}

// For each line, whether it begins within a text of three quotes.
std::vector<bool> lines_within_texts(const std::vector<std::string>& lines) {
  std::vector<bool> out;
  bool within = false;
  for (const std::string& line : lines) {
    out.push_back(within);
    for (size_t at = 0; (at = line.find("\"\"\"", at)) != std::string::npos; at += 3) {
      within = !within;
    }
  }
  return out;
}

std::vector<FunctionSpan> python_functions(const SourceFile& file) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < file.text.size();) {
    const size_t end = std::min(file.text.find('\n', at), file.text.size());
    lines.push_back(file.text.substr(at, end - at));
    at = end + 1;
  }
  const std::vector<bool> within = lines_within_texts(lines);
  std::vector<FunctionSpan> out;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string name = within[i] ? std::string() : python_name(lines[i]);
    if (name.empty()) continue;
    // It ends before the next line that stands as far left; the ')' of its parameters may do so.
    size_t last = i;
    for (size_t j = i + 1; j < lines.size(); ++j) {
      if (indent_of(lines[j]) == lines[j].size()) continue;
      const bool outside = !within[j] && indent_of(lines[j]) <= indent_of(lines[i]);
      if (outside && lines[j][indent_of(lines[j])] != ')') break;
      last = j;
    }
    out.push_back({std::move(name), i + 1, last - i + 1});
  }
  return out;
}

}  // namespace

std::vector<FunctionSpan> find_functions(const SourceFile& file) {
  if (is_python(file)) return python_functions(file);
  return CppFunctions(file).find();
}

}  // namespace primset::repository
