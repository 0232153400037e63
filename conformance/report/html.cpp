#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "conformance/cases/id.h"
#include "conformance/report/writers.h"

namespace primset::conformance {
namespace {

// One cell of the matrix: a subject with a dtype.
struct Cell {
  OutcomeCounts counts{};
  double max_share = 0;
};
using Row = std::map<DType, Cell>;

// The colour of a cell: the worst that happened in it.
std::string_view style_of(const OutcomeCounts& counts) {
  auto has = [&](Outcome o) { return counts[static_cast<size_t>(o)] != 0; };
  for (size_t o = 0; o < kOutcomeCount; ++o) {
    if (counts[o] && is_failure(static_cast<Outcome>(o))) return "bad";
  }
  if (has(Outcome::test_bug) || has(Outcome::not_run) || has(Outcome::flake) ||
      has(Outcome::xpass)) {
    return "odd";
  }
  if (has(Outcome::xfail) || has(Outcome::waived)) return "known";
  if (has(Outcome::pass)) return "good";
  return "none";
}

std::string tooltip(const Cell& cell) {
  std::string out;
  for (size_t o = 0; o < kOutcomeCount; ++o) {
    if (cell.counts[o])
      out += fmt::format("{} {}\n", cell.counts[o], name(static_cast<Outcome>(o)));
  }
  return out + fmt::format("largest error {:.3g} of what is allowed", cell.max_share);
}

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{0}</title>
<style>
body {{ font: 14px sans-serif; margin: 2em; }}
table {{ border-collapse: collapse; margin-bottom: 2em; }}
th, td {{ border: 1px solid #ccc; padding: 2px 6px; text-align: right; }}
th:first-child, td:first-child {{ text-align: left; font-family: monospace; }}
.good {{ background: #cfc; }} .bad {{ background: #f99; }} .odd {{ background: #fd9; }}
.known {{ background: #ffc; }} .none {{ background: #eee; }}
pre {{ background: #f6f6f6; padding: 0.5em; overflow-x: auto; }}
</style></head><body><h1>{0}</h1>
)";

void write_totals(std::ostream& out, const Report& report) {
  OutcomeCounts counts = count_outcomes(report.results);
  out << "<table><tr>";
  for (size_t o = 0; o < kOutcomeCount; ++o) {
    out << fmt::format("<th>{}</th>", name(static_cast<Outcome>(o)));
  }
  out << "<th>cases</th></tr><tr>";
  for (size_t n : counts) out << fmt::format("<td>{}</td>", n);
  out << fmt::format("<td>{}</td></tr></table>\n", report.results.size());
}

void write_matrix(std::ostream& out, const std::string& family,
                  const std::map<std::string, Row>& rows) {
  std::set<DType> dtypes;
  for (const auto& [subject, row] : rows) {
    for (const auto& [t, cell] : row) dtypes.insert(t);
  }
  out << fmt::format("<h2 id=\"{0}\">{0}</h2>\n<table><tr><th></th>", escape_markup(family));
  for (DType t : dtypes) out << fmt::format("<th>{}</th>", name(t));
  out << "</tr>\n";
  for (const auto& [subject, row] : rows) {
    out << fmt::format("<tr><td>{}</td>", escape_markup(subject));
    for (DType t : dtypes) {
      auto it = row.find(t);
      if (it == row.end()) {
        out << "<td></td>";
        continue;
      }
      size_t all = 0, green = 0;
      for (size_t o = 0; o < kOutcomeCount; ++o) {
        all += it->second.counts[o];
        if (is_green(static_cast<Outcome>(o))) green += it->second.counts[o];
      }
      out << fmt::format("<td class=\"{}\" title=\"{}\">{}/{}</td>", style_of(it->second.counts),
                         escape_markup(tooltip(it->second)), green, all);
    }
    out << "</tr>\n";
  }
  out << "</table>\n";
}

void write_failures(std::ostream& out, const Report& report) {
  out << "<h2 id=\"failures\">Failures</h2>\n";
  for (const CaseResult& r : report.results) {
    if (is_green(r.verdict.outcome) || r.verdict.outcome == Outcome::unsupported) continue;
    out << fmt::format("<p><b>{}</b> <code>{}</code></p><pre>{}\n{}</pre>\n",
                       to_string(r.verdict.outcome, r.verdict.kind), escape_markup(r.id),
                       escape_markup(r.verdict.detail), escape_markup(report.reproduction(r)));
  }
}

}  // namespace

void write_html(std::ostream& out, const Report& report) {
  std::map<std::string, std::map<std::string, Row>> families;
  for (const CaseResult& r : report.results) {
    std::string subject(subject_of(r.id));
    Cell& cell = families[report.family_of(subject)][subject][CaseId::parse(r.id).dtype];
    ++cell.counts[static_cast<size_t>(r.verdict.outcome)];
    cell.max_share = std::max(cell.max_share, r.verdict.max_share);
  }
  out << fmt::format(fmt::runtime(kHead), escape_markup(report.title + " on " + report.device));
  write_totals(out, report);
  out << "<p><a href=\"#failures\">Failures</a>";
  for (const auto& [family, rows] : families) {
    out << fmt::format(" · <a href=\"#{0}\">{0}</a>", escape_markup(family));
  }
  out << "</p>\n";
  for (const auto& [family, rows] : families) write_matrix(out, family, rows);
  write_failures(out, report);
  out << "</body></html>\n";
}

}  // namespace primset::conformance
