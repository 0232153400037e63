#include "conformance/cases/ids/few_cases.h"

#include <yaml-cpp/yaml.h>

#include <optional>

#include "primset/error.h"

namespace primset::conformance {
namespace {

constexpr const char* kText =
#include "conformance/few_cases.inc"
    ;

[[noreturn]] void fail(const YAML::Mark& at, const std::string& what, const std::string& expected) {
  throw Error(ErrorCode::value, "few_cases.yaml:" + std::to_string(at.line + 1) + ": " + what +
                                    "; expected " + expected);
}

YAML::Node child(const YAML::Node& entry, const char* key) {
  if (!entry.IsMap() || !entry[key]) {
    fail(entry.Mark(), std::string("'") + key + "' is missing", "overloads, dtypes and reason");
  }
  return entry[key];
}

void add(FewCases& out, const YAML::Node& entry) {
  const YAML::Node reason = child(entry, "reason");
  if (!reason.IsScalar() || reason.Scalar().empty()) {
    fail(entry.Mark(), "'reason' is empty", "a text");
  }
  for (const YAML::Node& dtype : child(entry, "dtypes")) {
    const std::optional<DType> t = dtype_from_name(dtype.as<std::string>());
    if (!t) fail(dtype.Mark(), "'" + dtype.as<std::string>() + "' is no dtype", "f32, i64, ...");
    for (const YAML::Node& overload : child(entry, "overloads")) {
      const bool added =
          out.emplace(std::pair(overload.as<std::string>(), *t), reason.Scalar()).second;
      if (!added) {
        fail(overload.Mark(), overload.as<std::string>() + " stands here twice", "one entry");
      }
    }
  }
}

}  // namespace

const FewCases& few_cases() {
  static const FewCases cases = parse_few_cases(kText);
  return cases;
}

FewCases parse_few_cases(const std::string& yaml) {
  FewCases out;
  try {
    for (const YAML::Node& entry : YAML::Load(yaml)) add(out, entry);
  } catch (const YAML::Exception& e) {
    fail(e.mark, e.msg, "YAML");
  }
  return out;
}

}  // namespace primset::conformance
