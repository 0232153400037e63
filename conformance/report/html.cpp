#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "conformance/cases/ids/id.h"
#include "conformance/report/writers.h"

namespace primset::conformance {
namespace {

// One cell of the matrix: a subject with a dtype.
struct Cell {
  OutcomeCounts counts{};
  size_t empty = 0;
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
  if (cell.empty > 0) out += fmt::format("{} of them with empty results\n", cell.empty);
  return out + fmt::format("largest error {:.3g} of what is allowed", cell.max_share);
}

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{0}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 14px/1.4 sans-serif; margin: 2em; color: #222; }}
table {{ border-collapse: collapse; margin-bottom: 1em; }}
th, td {{ border: 1px solid #ccc; padding: 2px 6px; text-align: right; white-space: nowrap; }}
th:first-child, td:first-child {{ text-align: left; font-family: monospace; min-width: 18em; }}
thead th {{ position: sticky; top: 0; background: #f6f6f6; }}
.good {{ background: #cfc; }} .bad {{ background: #f99; }} .odd {{ background: #fd9; }}
.known {{ background: #ffc; }} .none {{ background: #eee; color: #777; }}
.legend span {{ padding: 2px 8px; margin-right: 6px; border: 1px solid #ccc; }}
summary {{ cursor: pointer; font-size: 16px; padding: 4px 0; }}
summary b {{ font-weight: 600; }} summary.fails b {{ color: #b00; }}
pre {{ background: #f6f6f6; padding: 0.5em; overflow-x: auto; }}
.controls {{ margin: 1em 0; }} .controls input[type=search] {{ width: 24em; padding: 4px; }}
</style></head><body><h1>{0}</h1>
<p class="legend"><span class="good">all that ran is right</span><span class="bad">fails</span>
<span class="odd">flake, not run, unexpected pass</span><span class="known">fails as expected</span>
<span class="none">unsupported or refused</span> Cells: right / all cases, refusals among these; point at one for its outcomes.</p>
)";

// Rows are shown when their name has the text, and only failing ones if so wished.
constexpr std::string_view kScript = R"(<script>
const text = document.getElementById('text'), only = document.getElementById('only');
function show() {
  for (const family of document.querySelectorAll('details.family')) {
    let any = false;
    for (const row of family.querySelectorAll('tbody tr')) {
      const wanted = row.cells[0].textContent.includes(text.value) &&
                     (!only.checked || row.querySelector('.bad, .odd'));
      row.hidden = !wanted;
      any = any || wanted;
    }
    family.hidden = !any;
    if (any && (text.value || only.checked)) family.open = true;
  }
}
text.oninput = only.onchange = show;
</script>
)";

void write_totals(std::ostream& out, const Report& report) {
  out << fmt::format("<p>{}; seed {}</p>\n", totals_text(report), report.seed);
}

std::string cell_text(const Cell& cell) {
  size_t all = 0, green = 0;
  for (size_t o = 0; o < kOutcomeCount; ++o) {
    all += cell.counts[o];
    if (is_green(static_cast<Outcome>(o))) green += cell.counts[o];
  }
  return fmt::format("<td class=\"{}\" title=\"{}\">{}/{}</td>", style_of(cell.counts),
                     escape_markup(tooltip(cell)), green, all);
}

bool fails(const Row& row) {
  return std::ranges::any_of(row, [](const auto& e) { return style_of(e.second.counts) == "bad"; });
}

// A family is open when something in it fails.
void write_matrix(std::ostream& out, const std::string& family,
                  const std::map<std::string, Row>& rows) {
  std::set<DType> dtypes;
  for (const auto& [subject, row] : rows) {
    for (const auto& [t, cell] : row) dtypes.insert(t);
  }
  auto failing = std::ranges::count_if(rows, [](const auto& e) { return fails(e.second); });
  out << fmt::format(
      "<details class=\"family\" id=\"{0}\"{1}><summary{2}><b>{0}</b>: {3} of {4} {5}</summary>\n"
      "<table><thead><tr><th></th>",
      escape_markup(family), failing ? " open" : "", failing ? " class=\"fails\"" : "",
      failing ? static_cast<size_t>(failing) : rows.size(), rows.size(),
      failing ? "fail" : "without failures");
  for (DType t : dtypes) out << fmt::format("<th>{}</th>", name(t));
  out << "</tr></thead><tbody>\n";
  for (const auto& [subject, row] : rows) {
    out << fmt::format("<tr><td>{}</td>", escape_markup(subject));
    for (DType t : dtypes) {
      auto it = row.find(t);
      out << (it == row.end() ? "<td></td>" : cell_text(it->second));
    }
    out << "</tr>\n";
  }
  out << "</tbody></table></details>\n";
}

void write_failures(std::ostream& out, const Report& report) {
  out << "<h2 id=\"failures\">Failures, and the commands that run them alone</h2>\n";
  for (const CaseResult& r : report.results) {
    if (!is_listed(r.verdict.outcome)) continue;
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
    cell.empty += r.verdict.empty;
    cell.max_share = std::max(cell.max_share, r.verdict.max_share);
  }
  out << fmt::format(fmt::runtime(kHead), escape_markup(report.title + " on " + report.device));
  write_totals(out, report);
  out << "<p class=\"controls\"><input id=\"text\" type=\"search\" placeholder=\"operator or "
         "primitive\"> <label><input id=\"only\" type=\"checkbox\"> only what fails</label> "
         "<a href=\"#failures\">the failures one by one</a></p>\n";
  for (const auto& [family, rows] : families) write_matrix(out, family, rows);
  write_failures(out, report);
  out << kScript << "</body></html>\n";
}

}  // namespace primset::conformance
