#include "conformance/cases/ids/id.h"

#include <cctype>

#include "primset/error.h"
#include "specs/bundle/name_index.h"

namespace primset::conformance {
namespace {

constexpr std::string_view kPrimPrefix = "prim/";

[[noreturn]] void malformed(std::string_view text, const std::string& what) {
  throw Error(ErrorCode::value,
              "'" + std::string(text) + "' is not the id of a case: " + what +
                  "; expected e.g. add.Tensor:dtype=f16;case=broadcast_2;layout=strided");
}

void check_name(std::string_view text, std::string_view part, std::string_view what) {
  if (part.empty()) malformed(text, std::string(what) + " is empty");
  for (char c : part) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.') continue;
    malformed(text,
              std::string(what) + " '" + std::string(part) + "' has the character '" + c + "'");
  }
}

// Takes "key=value" off the front of `rest`; empty when another key stands there.
std::string_view take_field(std::string_view text, std::string_view& rest, std::string_view key) {
  if (!rest.starts_with(key) || rest.size() <= key.size() || rest[key.size()] != '=') return {};
  std::string_view value = rest.substr(key.size() + 1);
  size_t end = value.find(';');
  rest = end == std::string_view::npos ? std::string_view() : value.substr(end + 1);
  if (end != std::string_view::npos && rest.empty())
    malformed(text, "nothing follows the last ';'");
  value = value.substr(0, end);
  check_name(text, value, key);
  return value;
}

}  // namespace

std::string CaseId::to_string() const {
  std::string out = level == Level::primitive ? std::string(kPrimPrefix) : std::string();
  out += subject + ":dtype=" + std::string(name(dtype)) + ";case=" + case_name;
  if (layout != kContiguous) out += ";layout=" + layout;
  return out;
}

CaseId CaseId::parse(std::string_view text) {
  CaseId id;
  std::string_view rest = text;
  if (rest.starts_with(kPrimPrefix)) {
    id.level = Level::primitive;
    rest.remove_prefix(kPrimPrefix.size());
  }
  size_t colon = rest.find(':');
  if (colon == std::string_view::npos) malformed(text, "there is no ':'");
  id.subject = rest.substr(0, colon);
  check_name(text, id.subject, "the operator");
  rest.remove_prefix(colon + 1);

  std::string_view dtype = take_field(text, rest, "dtype");
  if (dtype.empty()) malformed(text, "'dtype=' must follow the ':'");
  std::optional<DType> t = dtype_from_name(dtype);
  if (!t || name(*t) != dtype) malformed(text, "'" + std::string(dtype) + "' is not a dtype");
  id.dtype = *t;
  id.case_name = take_field(text, rest, "case");
  if (id.case_name.empty()) malformed(text, "'case=' must follow the dtype");
  if (std::string_view layout = take_field(text, rest, "layout"); !layout.empty()) {
    id.layout = layout;
  }
  if (!rest.empty()) malformed(text, "'" + std::string(rest) + "' is left over");
  return id;
}

std::string_view subject_of(std::string_view id) {
  return id.substr(0, id.find(':'));
}

uint64_t stable_hash(std::string_view text, uint64_t seed) {
  uint64_t h = specs::fnv1a(text) ^ (seed * 0x9e3779b97f4a7c15u);
  // FNV's low bits alone are weak, and shards take a remainder.
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  return h ^ (h >> 31);
}

}  // namespace primset::conformance
