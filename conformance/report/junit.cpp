#include <fmt/format.h>

#include <algorithm>

#include "conformance/cases/ids/id.h"
#include "conformance/report/writers.h"
#include "sdk/base/printable.h"

namespace primset::conformance {
namespace {

enum class Kind { passed, failure, error, skipped };

Kind kind_of(Outcome o) {
  switch (o) {
    case Outcome::pass:
      return Kind::passed;
    case Outcome::refused:
    case Outcome::unsupported:
    case Outcome::xfail:
    case Outcome::waived:
      return Kind::skipped;
    case Outcome::fail:
    case Outcome::claim_broken:
    case Outcome::xpass:
    case Outcome::flake:
      return Kind::failure;
    default:
      return Kind::error;
  }
}

void write_case(std::ostream& out, const Report& report, const CaseResult& r,
                const std::string& family) {
  std::string outcome = to_string(r.verdict.outcome, r.verdict.kind);
  out << fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.6f}\"",
                     escape_markup(family), escape_markup(r.id), r.seconds);
  Kind kind = kind_of(r.verdict.outcome);
  if (kind == Kind::passed) {
    out << "/>\n";
    return;
  }
  if (kind == Kind::skipped) {
    std::string why = r.expectation.empty() ? r.verdict.detail : r.expectation;
    out << fmt::format("><skipped message=\"{}\"/></testcase>\n",
                       escape_markup(outcome + ": " + why));
    return;
  }
  const char* element = kind == Kind::failure ? "failure" : "error";
  out << fmt::format("><{0} type=\"{1}\" message=\"{2}\">{3}\n{4}</{0}></testcase>\n", element,
                     outcome,
                     escape_markup(r.verdict.detail.substr(0, r.verdict.detail.find('\n'))),
                     escape_markup(r.verdict.detail), escape_markup(report.reproduction(r)));
}

// What JUnit has no element for.
void write_properties(std::ostream& out, const Report& report,
                      const std::vector<const CaseResult*>& cases) {
  const auto refused = std::ranges::count(cases, Outcome::refused,
                                          [](const CaseResult* r) { return r->verdict.outcome; });
  const auto empty =
      std::ranges::count_if(cases, [](const CaseResult* r) { return r->verdict.empty; });
  out << fmt::format(
      "    <properties><property name=\"seed\" value=\"{}\"/><property name=\"refused\" "
      "value=\"{}\"/><property name=\"empty\" value=\"{}\"/></properties>\n",
      report.seed, refused, empty);
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string out;
  for (char c : printable_lines(text)) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

void write_junit(std::ostream& out, const Report& report) {
  std::map<std::string, std::vector<const CaseResult*>> suites;
  for (const CaseResult& r : report.results) {
    suites[report.family_of(subject_of(r.id))].push_back(&r);
  }
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out << fmt::format("<testsuites name=\"primset conform {}\">\n", escape_markup(report.device));
  for (const auto& [family, cases] : suites) {
    auto count = [&](Kind k) {
      return std::count_if(cases.begin(), cases.end(),
                           [&](const CaseResult* r) { return kind_of(r->verdict.outcome) == k; });
    };
    double seconds = 0;
    for (const CaseResult* r : cases) seconds += r->seconds;
    out << fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
        "time=\"{:.6f}\">\n",
        escape_markup(family), cases.size(), count(Kind::failure), count(Kind::error),
        count(Kind::skipped), seconds);
    write_properties(out, report, cases);
    for (const CaseResult* r : cases) write_case(out, report, *r, family);
    out << "  </testsuite>\n";
  }
  out << "</testsuites>\n";
}

}  // namespace primset::conformance
