#include "conformance/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "conformance/cases/ids/id.h"

namespace primset::conformance {
namespace {

size_t at(const OutcomeCounts& counts, Outcome o) {
  return counts[static_cast<size_t>(o)];
}

void add(OutcomeCounts& counts, const CaseResult& r) {
  ++counts[static_cast<size_t>(r.verdict.outcome)];
}

std::string table_row(const std::string& label, const OutcomeCounts& counts,
                      const std::vector<Outcome>& columns) {
  std::string out = fmt::format("{:24}", label);
  for (Outcome o : columns) {
    std::string cell = at(counts, o) ? std::to_string(at(counts, o)) : "·";
    // The dot is two bytes and one column wide.
    size_t width = std::max<size_t>(name(o).size(), 6) + (at(counts, o) ? 0 : 1);
    out += "  " + std::string(width > cell.size() ? width - cell.size() : 0, ' ') + cell;
  }
  return out + "\n";
}

std::string header_row(const std::vector<Outcome>& columns) {
  std::string out = fmt::format("{:24}", "family");
  for (Outcome o : columns) out += fmt::format("  {:>6}", name(o));
  return out + "\n";
}

// 234,619
std::string grouped(size_t n) {
  std::string out = std::to_string(n);
  for (size_t at = out.size(); at > 3;) out.insert(at -= 3, ",");
  return out;
}

// What stands above everything else.
std::string headline(const Report& report) {
  double worst = 0;
  for (const CaseResult& r : report.results) worst = std::max(worst, r.verdict.max_share);
  return fmt::format("{}: {}\nlargest error {:.3g} of what is allowed\n", report.device,
                     totals_text(report), worst);
}

// The failures of one subject.
struct Trouble {
  size_t cases = 0, failures = 0;
  std::set<DType> dtypes;
  std::map<std::string, size_t> kinds;
};

std::string trouble_row(const std::string& subject, const Trouble& t) {
  std::string dtypes, kinds;
  for (DType d : t.dtypes) dtypes += fmt::format("{}{}", dtypes.empty() ? "" : " ", name(d));
  for (const auto& [kind, count] : t.kinds) {
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", kind, count);
  }
  return fmt::format("  {:30} {:>4} of {:<4}  {}  [{}]\n", subject, t.failures, t.cases, kinds,
                     dtypes);
}

// Which primitives and operators fail, with which dtypes and how. Primitives come first: operators
// are made of them.
std::string where_it_fails(const Report& report) {
  constexpr size_t kMostRows = 25;
  std::map<std::string, Trouble> primitives, operators;
  for (const CaseResult& r : report.results) {
    std::string subject(subject_of(r.id));
    Trouble& t = (subject.starts_with("prim/") ? primitives : operators)[subject];
    ++t.cases;
    if (!is_failure(r.verdict.outcome) && r.verdict.outcome != Outcome::flake) continue;
    ++t.failures;
    t.dtypes.insert(CaseId::parse(r.id).dtype);
    ++t.kinds[to_string(r.verdict.outcome, r.verdict.kind)];
  }
  auto fails = [](const auto& entry) { return entry.second.failures > 0; };
  auto count = [&](const auto& map) {
    return static_cast<size_t>(std::ranges::count_if(map, fails));
  };
  size_t bad_primitives = count(primitives), bad_operators = count(operators), shown = 0;
  if (bad_primitives + bad_operators == 0) return {};
  std::string out = fmt::format("\n{} of {} primitives and {} of {} operators fail{}\n",
                                bad_primitives, primitives.size(), bad_operators, operators.size(),
                                bad_primitives > 0 && bad_operators > 0
                                    ? "; operators are made of primitives, so begin with those:"
                                    : ":");
  for (const auto* map : {&primitives, &operators}) {
    for (const auto& entry : *map) {
      if (fails(entry) && shown++ < kMostRows) out += trouble_row(entry.first, entry.second);
    }
  }
  if (shown > kMostRows) out += fmt::format("  ... and {} more\n", shown - kMostRows);
  return out;
}

// The first lines of a detail, each indented: a crash says in them what the process printed.
std::string detail_lines(const std::string& detail) {
  constexpr int kMostLines = 4;
  std::istringstream in(detail);
  std::string out, line;
  for (int i = 0; i < kMostLines && std::getline(in, line); ++i) out += "    " + line + "\n";
  return out;
}

}  // namespace

OutcomeCounts count_outcomes(const std::vector<CaseResult>& results) {
  OutcomeCounts counts{};
  for (const CaseResult& r : results) add(counts, r);
  return counts;
}

size_t count_empty(const std::vector<CaseResult>& results) {
  return static_cast<size_t>(std::ranges::count_if(results, [](const CaseResult& r) {
    return r.verdict.outcome == Outcome::pass && r.verdict.empty;
  }));
}

std::string totals_text(const Report& report) {
  const OutcomeCounts counts = count_outcomes(report.results);
  const size_t empty = count_empty(report.results);
  size_t failed = 0;
  std::string others;
  for (size_t i = 0; i < kOutcomeCount; ++i) {
    const auto o = static_cast<Outcome>(i);
    if (is_failure(o)) {
      failed += counts[i];
    } else if (!agrees(o) && o != Outcome::unsupported && counts[i] > 0) {
      others += fmt::format(", {} {}", grouped(counts[i]), name(o));
    }
  }
  return fmt::format(
      "{} case{}: {} computed and passed, {} refused alike, {} empty results, {} failed, {} "
      "unsupported{}",
      grouped(report.results.size()), report.results.size() == 1 ? "" : "s",
      grouped(at(counts, Outcome::pass) - empty), grouped(at(counts, Outcome::refused)),
      grouped(empty), grouped(failed), grouped(at(counts, Outcome::unsupported)), others);
}

ExitCode exit_code(const OutcomeCounts& counts) {
  size_t green = 0, failures = 0;
  for (size_t o = 0; o < kOutcomeCount; ++o) {
    if (is_green(static_cast<Outcome>(o))) green += counts[o];
    if (is_failure(static_cast<Outcome>(o))) failures += counts[o];
  }
  if (failures) return ExitCode::failures;
  for (Outcome o : {Outcome::xpass, Outcome::flake, Outcome::test_bug, Outcome::not_run}) {
    if (at(counts, o)) return ExitCode::unsound;
  }
  return green ? ExitCode::green : ExitCode::nothing_ran;
}

std::string summary_text(const Report& report, size_t max_failures) {
  OutcomeCounts total = count_outcomes(report.results);
  std::map<std::string, OutcomeCounts> families;
  for (const CaseResult& r : report.results) {
    add(families[report.family_of(subject_of(r.id))], r);
  }
  std::vector<Outcome> columns = {Outcome::pass, Outcome::refused, Outcome::fail,
                                  Outcome::unsupported};
  for (size_t o = 0; o < kOutcomeCount; ++o) {
    auto outcome = static_cast<Outcome>(o);
    bool there = std::find(columns.begin(), columns.end(), outcome) != columns.end();
    if (!there && total[o]) columns.push_back(outcome);
  }
  std::string out = header_row(columns);
  for (const auto& [family, counts] : families) out += table_row(family, counts, columns);
  out += table_row("total", total, columns) + "\n" + headline(report);
  out += where_it_fails(report);

  size_t shown = 0, hidden = 0;
  for (const CaseResult& r : report.results) {
    if (!is_listed(r.verdict.outcome)) continue;
    if (shown == max_failures) {
      ++hidden;
      continue;
    }
    ++shown;
    out += fmt::format("\n{} {}\n{}    {}\n", to_string(r.verdict.outcome, r.verdict.kind), r.id,
                       detail_lines(r.verdict.detail), report.reproduction(r));
  }
  if (hidden)
    out += fmt::format("\n... and {} more (--results, --html and --csv have all)\n", hidden);
  return out;
}

std::string native_routes_text(const Report& report, double limit) {
  std::vector<const CaseResult*> timed;
  for (const CaseResult& r : report.results) {
    if (r.verdict.native_ratio > 0) timed.push_back(&r);
  }
  if (timed.empty()) return "\nno case takes a native route on this device\n";
  auto ratio = [](const CaseResult* r) { return r->verdict.native_ratio; };
  std::ranges::sort(timed, std::greater<>(), ratio);
  std::string out = fmt::format(
      "\nwithout native routes: {} of {} cases have one; by kernels they take {:.2f} times as long "
      "(median), at most {:.1f} times\n",
      timed.size(), report.results.size(), ratio(timed[timed.size() / 2]), ratio(timed[0]));
  auto end = std::ranges::find_if(timed, [&](const CaseResult* r) { return ratio(r) <= limit; });
  out += fmt::format("{} of them take more than {:g} times as long\n", end - timed.begin(), limit);
  for (auto it = timed.begin(); it != end; ++it) {
    out += fmt::format("  {:7.1f}  {}\n", ratio(*it), (*it)->id);
  }
  return out;
}

std::string resized_text(const Report& report) {
  size_t again = 0, with_kernels = 0;
  uint64_t kernels = 0, unexplained = 0;
  std::string explained_list, unexplained_list;
  for (const CaseResult& r : report.results) {
    again += r.resized.has_value();
    if (!r.resized || r.resized->kernels == 0) continue;
    const Resized& s = *r.resized;
    ++with_kernels;
    kernels += s.kernels;
    unexplained += s.unexplained;
    std::string& list = s.unexplained > 0 ? unexplained_list : explained_list;
    list += fmt::format("  {:>3}  {}\n       as {}\n", s.kernels, r.id, s.text);
    for (const std::string& guard : s.guards) list += "       " + guard + "\n";
  }
  std::string out = fmt::format(
      "\nwith other sizes: {} of {} cases run again; {} of them make {} kernels, {} of which no "
      "guard explains\n",
      again, report.results.size(), with_kernels, kernels, unexplained);
  if (!unexplained_list.empty()) out += "kernels that no guard explains:\n" + unexplained_list;
  if (!explained_list.empty()) out += "kernels that a guard explains:\n" + explained_list;
  return out;
}

bool has_unexplained_kernels(const Report& report) {
  return std::ranges::any_of(
      report.results, [](const CaseResult& r) { return r.resized && r.resized->unexplained > 0; });
}

}  // namespace primset::conformance
