#include "codegen/specgen/read/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace primset::specs {
namespace {

constexpr size_t kMaxDepth = 64;  // of nested mappings and lists: far above any spec

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// yaml-cpp says where a scalar begins; this finds where each of its bytes stands. Quoting, folding
// and indentation only ever add white space, quotes and backslashes to the source, so walking both
// texts side by side and skipping what does not match finds every byte in turn.
class ScalarLocator {
 public:
  ScalarLocator(std::string_view source, size_t offset, Position at)
      : source_(source), offset_(offset), at_(at) {}

  std::vector<Position> locate(std::string_view value, bool block) {
    if (block) skip_line();  // the indicator: | or > with its modifiers
    std::vector<Position> places;
    places.reserve(value.size());
    for (char c : value) {
      if (!is_space(c)) skip_to(c);
      places.push_back(at_);
      if (!is_space(c) || (offset_ < source_.size() && source_[offset_] == c)) advance();
    }
    return places;
  }

 private:
  void advance() {
    if (offset_ >= source_.size()) return;
    if (source_[offset_++] == '\n') {
      ++at_.line;
      at_.column = 1;
    } else {
      ++at_.column;
    }
  }
  void skip_line() {
    while (offset_ < source_.size() && source_[offset_] != '\n') advance();
    advance();
  }
  void skip_to(char c) {
    while (offset_ < source_.size() && source_[offset_] != c) advance();
  }

  std::string_view source_;
  size_t offset_;
  Position at_;
};

// Builds the tree from yaml-cpp's events (its own Node keeps duplicate keys silently).
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view source, uint32_t file, Diagnostics& diagnostics)
      : source_(source), file_(file), diagnostics_(diagnostics) {}

  YamlNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    add(make(YamlNode::Kind::null, mark));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    diagnostics_.error(position(mark), "aliases are not supported", "the value written out");
    add(make(YamlNode::Kind::null, mark));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    YamlNode node = make(YamlNode::Kind::scalar, mark);
    node.text = value;
    node.quoted = tag == "!";
    locate(node, static_cast<size_t>(std::max(0, mark.pos)));
    if (!node.quoted && (value == "~" || value == "null")) node.kind = YamlNode::Kind::null;
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::sequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::mapping, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    bool has_key = false;
    std::string key;
    Position key_position;
  };

  Position position(const YAML::Mark& mark) const {
    return {file_, static_cast<uint32_t>(mark.line) + 1, static_cast<uint32_t>(mark.column) + 1};
  }
  YamlNode make(YamlNode::Kind kind, const YAML::Mark& mark) const {
    YamlNode node;
    node.kind = kind;
    node.position = position(mark);
    return node;
  }

  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) diagnostics_.error(position(mark), "anchors are not supported");
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    diagnostics_.error(position(mark), fmt::format("tag '{}' is not supported", tag));
  }

  // One plain or simply quoted line needs no table: most scalars.
  void locate(YamlNode& node, size_t offset) {
    const std::string_view text = node.text;
    const size_t skip = node.quoted ? 1 : 0;
    const char first = offset < source_.size() ? source_[offset] : '\0';
    const bool block = node.quoted && (first == '|' || first == '>');
    if (!block && offset + skip <= source_.size() &&
        source_.substr(offset + skip, text.size()) == text &&
        text.find('\n') == std::string_view::npos) {
      return;
    }
    node.places = ScalarLocator(source_, offset, node.position).locate(text, block);
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (stack_.size() >= kMaxDepth) throw YAML::ParserException(mark, "nested too deeply");
    stack_.push_back({make(kind, mark), false, {}, {}});
  }

  void close() {
    YamlNode node = std::move(stack_.back().node);
    stack_.pop_back();
    add(std::move(node));
  }

  void add(YamlNode node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& top = stack_.back();
    if (top.node.is_sequence()) {
      top.node.items.push_back(std::move(node));
    } else if (!top.has_key) {
      take_key(top, node);
    } else {
      add_entry(top, std::move(node));
    }
  }

  void take_key(Open& top, const YamlNode& node) {
    if (!node.is_scalar() || node.text.empty()) {
      diagnostics_.error(node.position, fmt::format("a key that is {}", describe(node.kind)),
                         "a name");
    }
    top.has_key = true;
    top.key = node.text;
    top.key_position = node.position;
  }

  void add_entry(Open& top, YamlNode node) {
    if (const YamlNode::Entry* earlier = top.node.find(top.key)) {
      diagnostics_.error(top.key_position, fmt::format("duplicate key '{}', first on line {}",
                                                       top.key, earlier->key_position.line));
    } else {
      top.node.entries.push_back({top.key, top.key_position, std::move(node)});
    }
    top.has_key = false;
  }

  std::string_view source_;
  uint32_t file_;
  Diagnostics& diagnostics_;
  std::vector<Open> stack_;
  YamlNode root_;
};

}  // namespace

const YamlNode::Entry* YamlNode::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

Position YamlNode::place(size_t offset) const {
  if (offset < places.size()) return places[offset];
  if (!places.empty()) {
    Position end = places.back();  // just behind the last byte
    ++end.column;
    return end;
  }
  Position at = position;
  at.column += static_cast<uint32_t>(offset + (quoted ? 1 : 0));
  return at;
}

std::string_view describe(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::scalar:
      return "text";
    case YamlNode::Kind::sequence:
      return "a list";
    case YamlNode::Kind::mapping:
      return "a mapping";
  }
  return "?";
}

YamlNode read_yaml(std::string_view text, uint32_t file, Diagnostics& diagnostics) {
  std::istringstream stream{std::string(text)};
  TreeBuilder builder(text, file, diagnostics);
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    YamlNode root = builder.take_root();
    if (diagnostics.ok() && parser.HandleNextDocument(builder)) {
      diagnostics.error(root.position, "several documents in one file", "one");
    }
    return root;
  } catch (const YAML::Exception& error) {
    Position at{file, static_cast<uint32_t>(std::max(0, error.mark.line)) + 1,
                static_cast<uint32_t>(std::max(0, error.mark.column)) + 1};
    // The usual mistake: a formula or signature with a colon and no quotes.
    diagnostics.error(at, fmt::format("not YAML: {}", error.msg),
                      "quotes or a | block around text that holds ': ' or ' #'");
    return {};
  }
}

}  // namespace primset::specs
