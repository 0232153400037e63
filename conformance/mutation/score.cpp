#include "conformance/mutation/score.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "conformance/cases/ids/family.h"
#include "conformance/cases/inputs/rng.h"
#include "conformance/runner/execute.h"
#include "prims/graph/text.h"
#include "prims/reference/array.h"

namespace primset::conformance {
namespace {

// The reference takes a case of this many elements in milliseconds.
constexpr int64_t kMaxElements = 8192;
// Cases looked at for one subject and dtype.
constexpr size_t kMaxCases = 40;

// A case as a graph with inputs, and what it must come to.
struct Original {
  TestCase test;
  Expected expected;
};

struct Subject {
  std::string name;
  DType dtype;
  std::vector<Original> cases;
  std::vector<Mutation> candidates;
};

bool is_small(const Expected& e) {
  int64_t elements = 0;
  for (const Array& a : e.graph_inputs) elements += a.size();
  for (const ExpectedTensor& r : e.results) {
    elements += prims::reference::element_count(r.sizes);
  }
  return elements <= kMaxElements;
}

// Operators become graphs, since a graph is what can be mutated.
std::optional<Original> make_original(const specs::Bundle& bundle, const CaseId& id,
                                      uint64_t seed) {
  try {
    TestCase made = make_case(bundle, id, seed);
    Expected whole = evaluate(bundle, made);
    if (!whole.graph || whole.graph->outputs.empty() || !is_small(whole)) return std::nullopt;
    Original o;
    o.test.id = id;
    o.test.graph = whole.graph;
    for (const Array& a : whole.graph_inputs) {
      o.test.inputs.push_back(place(o.test.storages, a, LayoutKind::contiguous));
    }
    o.expected = evaluate(bundle, o.test);
    return o;
  } catch (const Error&) {
    return std::nullopt;  // conformance itself says so; here the case is of no use
  }
}

std::vector<Subject> list_subjects(const std::vector<CaseId>& ids) {
  std::vector<Subject> out;
  for (const CaseId& id : ids) {
    std::string name = id.level == Level::primitive ? "prim/" + id.subject : id.subject;
    if (out.empty() || out.back().name != name || out.back().dtype != id.dtype) {
      out.push_back({name, id.dtype, {}, {}});
    }
  }
  return out;
}

// In random order, and the families by turns: an operator of a small one is as likely to be wrong
// as one of those that have hundreds.
void put_in_turn(std::vector<Subject>& subjects, const specs::Bundle& bundle, uint64_t seed) {
  Rng rng(seed);
  for (size_t i = subjects.size(); i > 1; --i) std::swap(subjects[i - 1], subjects[rng.below(i)]);
  std::map<std::string, size_t> seen;
  std::map<size_t, std::vector<Subject>> turns;
  for (Subject& s : subjects) turns[seen[family_of(bundle, s.name)]++].push_back(std::move(s));
  subjects.clear();
  for (auto& [turn, taken] : turns) std::ranges::move(taken, std::back_inserter(subjects));
}

void load(Subject& s, const specs::Bundle& bundle, const std::vector<CaseId>& ids, uint64_t seed) {
  Places places;
  for (const CaseId& id : ids) {
    std::string name = id.level == Level::primitive ? "prim/" + id.subject : id.subject;
    if (name != s.name || id.dtype != s.dtype || id.layout != kContiguous) continue;
    if (s.cases.size() == kMaxCases) break;
    std::optional<Original> o = make_original(bundle, id, seed);
    if (!o) continue;
    count_places(*o->test.graph, places);
    s.cases.push_back(std::move(*o));
  }
  s.candidates = candidate_mutations(places);
}

void shuffle(std::vector<Mutation>& mutations, uint64_t seed) {
  Rng rng(seed);
  for (size_t i = mutations.size(); i > 1; --i)
    std::swap(mutations[i - 1], mutations[rng.below(i)]);
}

// Runs the mutant on each case until one differs from the original. False when no case has a place
// for it.
bool hunt(const specs::Bundle& bundle, const Subject& s, DeviceRunner& device, Mutant& mutant) {
  bool made = false;
  for (const Original& o : s.cases) {
    std::optional<prims::Graph> changed = apply(*o.test.graph, mutant.mutation);
    if (!changed) continue;
    made = true;
    TestCase test = o.test;
    test.graph = std::make_shared<prims::Graph>(std::move(*changed));
    Verdict v = judge(bundle, o.test, o.expected, device.run_graph(test), device.claims());
    if (!agrees(v.outcome)) {
      mutant.caught = true;
      mutant.by = o.test.id.case_name + ": " + to_string(v.outcome, v.kind);
      return true;
    }
    mutant.by = prims::print(*test.graph);
  }
  return made;
}

}  // namespace

size_t MutationScore::caught() const {
  return static_cast<size_t>(
      std::count_if(mutants.begin(), mutants.end(), [](const Mutant& m) { return m.caught; }));
}

double MutationScore::share() const {
  return mutants.empty() ? 0 : static_cast<double>(caught()) / static_cast<double>(mutants.size());
}

MutationScore measure_mutations(const specs::Bundle& bundle, DeviceRunner& device,
                                const Selection& selection, size_t count, uint64_t seed,
                                const std::function<void(const Mutant&)>& progress) {
  std::vector<CaseId> ids = select_cases(bundle, selection);
  std::vector<Subject> subjects = list_subjects(ids);
  put_in_turn(subjects, bundle, seed);
  // As many from each as it takes to reach the count, and a few more where others have fewer.
  size_t per_subject = subjects.empty() ? 0 : count / subjects.size() + 3;
  MutationScore score;
  for (Subject& s : subjects) {
    if (score.mutants.size() >= count) break;
    load(s, bundle, ids, seed);
    shuffle(s.candidates, stable_hash(s.name, seed));
    const size_t before = score.mutants.size(), end = std::min(count, before + per_subject);
    for (const Mutation& m : s.candidates) {
      if (score.mutants.size() == end) break;
      Mutant mutant{s.name, s.dtype, m, false, {}};
      if (!hunt(bundle, s, device, mutant)) continue;
      if (progress) progress(mutant);
      score.mutants.push_back(std::move(mutant));
    }
    score.subjects += score.mutants.size() > before;
    s.cases.clear();  // arrays of one subject at a time
    s.candidates.clear();
  }
  return score;
}

std::string name(const Mutant& m) {
  return fmt::format("{} {} {}", m.subject, name(m.dtype), m.mutation.to_string());
}

std::string to_json_line(const Mutant& m) {
  const nlohmann::json object = {{"mutant", name(m)},      {"subject", m.subject},
                                 {"dtype", name(m.dtype)}, {"mutation", m.mutation.to_string()},
                                 {"caught", m.caught},     {m.caught ? "by" : "graph", m.by}};
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string score_text(const MutationScore& score,
                       const std::function<std::string(std::string_view)>& family_of) {
  struct Share {
    size_t caught = 0, all = 0;
  };
  std::map<MutationKind, Share> kinds;
  std::map<std::string, Share> families;
  std::string survivors;
  for (const Mutant& m : score.mutants) {
    for (Share* share : {&kinds[m.mutation.kind], &families[family_of(m.subject)]}) {
      share->caught += m.caught;
      ++share->all;
    }
    if (!m.caught) survivors += "  " + name(m) + "\n";
  }
  std::string out;
  for (const auto& [kind, share] : kinds) {
    out += fmt::format("{:16} {:>4} of {:>4} caught\n", name(kind), share.caught, share.all);
  }
  out += "\n";
  for (const auto& [family, share] : families) {
    out += fmt::format("{:24} {:>4} of {:>4} caught\n", family, share.caught, share.all);
  }
  if (!survivors.empty()) out += "\nsurvivors:\n" + survivors;
  return out + fmt::format(
                   "\n{} of {} mutants of {} operators and primitives in {} families caught: "
                   "{:.1f} %\n",
                   score.caught(), score.mutants.size(), score.subjects, families.size(),
                   100 * score.share());
}

}  // namespace primset::conformance
