#include "conformance/runner/results/expectations.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <regex>
#include <sstream>
#include <unordered_set>

#include "conformance/cases/ids/id.h"
#include "primset/error.h"

namespace primset::conformance {
namespace {

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  std::vector<Expectation> read(const YAML::Node& root) {
    std::vector<Expectation> out;
    if (!root.IsDefined() || root.IsNull()) return out;
    if (!root.IsSequence()) fail(root, "the file is not a list", "a list of entries");
    for (const YAML::Node& node : root) out.push_back(entry(node));
    return out;
  }

  [[noreturn]] void fail(const YAML::Node& at, const std::string& what,
                         const std::string& expected) const {
    fail(at.Mark().line + 1, what, expected);
  }
  [[noreturn]] void fail(int line, const std::string& what, const std::string& expected) const {
    throw Error(ErrorCode::value,
                file_ + ":" + std::to_string(line) + ": " + what + "; expected " + expected);
  }

 private:
  Expectation entry(const YAML::Node& node) {
    if (!node.IsMap()) fail(node, "an entry is not a mapping", "id, device, kind, reason, link");
    Expectation e;
    e.line = node.Mark().line + 1;
    std::string kind, outcome;
    const std::pair<const char*, std::string*> fields[] = {
        {"id", &e.id},         {"device", &e.device}, {"kind", &kind},        {"reason", &e.reason},
        {"outcome", &outcome}, {"link", &e.link},     {"expires", &e.expires}};
    for (const auto& item : node) {
      auto name = item.first.as<std::string>();
      auto it = std::find_if(std::begin(fields), std::end(fields),
                             [&](const auto& f) { return f.first == name; });
      if (it == std::end(fields)) fail(item.first, "unknown key '" + name + "'", "one of the keys");
      if (!item.second.IsScalar()) fail(item.second, "'" + name + "' is not a text", "a text");
      *it->second = item.second.as<std::string>();
    }
    check(node, e, kind, outcome);
    return e;
  }

  void check(const YAML::Node& node, Expectation& e, const std::string& kind,
             const std::string& outcome) {
    for (const auto& [name, value] : {std::pair{"id", &e.id}, std::pair{"device", &e.device},
                                      std::pair{"reason", &e.reason}, std::pair{"link", &e.link}}) {
      if (value->empty()) fail(node, std::string("'") + name + "' is missing", "a text");
    }
    try {
      CaseId::parse(e.id);
    } catch (const Error& error) {
      fail(node, error.what(), "the exact id of a case");
    }
    if (kind != "xfail" && kind != "waived")
      fail(node, "kind is '" + kind + "'", "xfail or waived");
    e.waived = kind == "waived";
    static const std::regex date("[0-9]{4}-[0-9]{2}-[0-9]{2}");
    if (e.expires.empty() ? !e.waived : !std::regex_match(e.expires, date)) {
      fail(node, "expires is '" + e.expires + "'", "a date YYYY-MM-DD (an xfail must have one)");
    }
    if (outcome.empty()) return;
    e.outcome = parse_outcome(outcome);
    if (!e.outcome || !is_failure(e.outcome->outcome)) {
      fail(node, "outcome is '" + outcome + "'", "a failure such as fail:numeric or crash");
    }
  }

  std::string file_;
};

}  // namespace

Expectations Expectations::parse(const std::string& yaml, const std::string& file,
                                 std::string_view today) {
  Reader reader(file);
  Expectations out;
  out.file_ = file;
  out.today_ = today;
  try {
    out.entries_ = reader.read(YAML::Load(yaml));
  } catch (const YAML::Exception& e) {
    reader.fail(e.mark.line + 1, e.msg, "YAML");
  }
  for (size_t i = 0; i < out.entries_.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const Expectation &a = out.entries_[j], &b = out.entries_[i];
      if (a.id == b.id && a.device == b.device) {
        reader.fail(b.line, b.id + " on " + b.device + " stands here twice",
                    "one entry, as in line " + std::to_string(a.line));
      }
    }
  }
  return out;
}

Expectations Expectations::load(const std::filesystem::path& path, std::string_view today) {
  std::ifstream in(path);
  if (!in) throw Error(ErrorCode::value, path.string() + ": the expectations cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  return parse(text.str(), path.string(), today);
}

const Expectation* Expectations::find(std::string_view id, std::string_view device) const {
  for (const Expectation& e : entries_) {
    if (e.id == id && (e.device == device || e.device == "*") && !expired(e)) return &e;
  }
  return nullptr;
}

void Expectations::apply(CaseResult& result, std::string_view device) const {
  const Expectation* e = find(result.id, device);
  if (!e) return;
  Verdict& v = result.verdict;
  if (agrees(v.outcome)) {
    v.outcome = Outcome::xpass;
    result.expectation = e->reason + " " + e->link;
    return;
  }
  if (!is_failure(v.outcome)) return;
  bool as_expected =
      !e->outcome || (e->outcome->outcome == v.outcome && e->outcome->kind == v.kind);
  if (!as_expected) return;
  v.detail = to_string(v.outcome, v.kind) + ": " + v.detail;
  v.outcome = e->waived ? Outcome::waived : Outcome::xfail;
  v.kind = FailKind::none;
  result.expectation = e->reason + " " + e->link;
}

std::vector<std::string> Expectations::complaints(const std::vector<std::string>& ids) const {
  std::unordered_set<std::string_view> known(ids.begin(), ids.end());
  std::vector<std::string> out;
  for (const Expectation& e : entries_) {
    std::string where = file_ + ":" + std::to_string(e.line) + ": " + e.id;
    if (expired(e)) out.push_back(where + ": expired on " + e.expires);
    if (!known.contains(e.id)) out.push_back(where + ": no such case");
  }
  return out;
}

std::string today() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", &parts);
  return text;
}

}  // namespace primset::conformance
