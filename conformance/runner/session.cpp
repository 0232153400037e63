#include "conformance/runner/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <sstream>
#include <thread>
#include <unordered_map>

#include "conformance/cases/ids/coverage.h"
#include "conformance/cases/ids/family.h"
#include "conformance/cases/ids/id.h"
#include "conformance/cases/inputs/check_case.h"
#include "conformance/cases/inputs/resize.h"
#include "conformance/cases/inputs/serialize.h"
#include "conformance/compare/compare.h"
#include "conformance/mutation/score.h"
#include "conformance/reference/reference_device.h"
#include "conformance/report/writers.h"
#include "conformance/runner/execute.h"
#include "conformance/runner/process/batches.h"
#include "conformance/runner/process/child.h"
#include "conformance/runner/process/device_probe.h"
#include "conformance/runner/process/worker.h"
#include "conformance/runner/progress.h"
#include "conformance/runner/results/expectations.h"
#include "conformance/runner/results/results_file.h"
#include "conformance/runner/runtime_device.h"
#include "prims/graph/text.h"
#include "sdk/base/output_file.h"
#include "sdk/base/printable.h"

namespace primset::conformance {
namespace {

std::unique_ptr<DeviceRunner> open_device(const specs::Bundle& bundle, const SessionOptions& o,
                                          const std::string& name) {
  if (name == "reference") return std::make_unique<ReferenceDevice>(bundle);
  // A case's kernels run for microseconds: Mesa's software drivers spend half of their time on
  // optimizing them. Other drivers do not know the variable.
  setenv("GALLIVM_PERF", "nopt", 0);
  return open_runtime_device(bundle, name, {o.without_native, o.resize});
}

std::vector<std::string> to_texts(const std::vector<CaseId>& ids) {
  std::vector<std::string> out;
  for (const CaseId& id : ids) out.push_back(id.to_string());
  return out;
}

// This program, and the options that decide what a case is and where it runs.
std::vector<std::string> same_program(const SessionOptions& o) {
  std::vector<std::string> out = {std::filesystem::read_symlink("/proc/self/exe").string()};
  if (!o.specs.empty()) out.insert(out.end(), {"--specs", o.specs});
  out.insert(out.end(), {"conform", "--device", o.device, "--seed", std::to_string(o.seed)});
  if (!o.plugin.empty()) out.insert(out.end(), {"--plugin", o.plugin});
  if (o.without_native) out.push_back("--without-native");
  if (o.resize) out.push_back("--resize");
  return out;
}

std::vector<std::string> worker_command(const SessionOptions& o, const char* mode = "--worker") {
  std::vector<std::string> out = same_program(o);
  out.push_back(mode);
  if (!o.failures.empty()) out.insert(out.end(), {"--failures", o.failures});
  return out;
}

// How this program is started from here: its name where the shell finds it, else its path.
std::string typed_program() {
  namespace fs = std::filesystem;
  const fs::path self = fs::read_symlink("/proc/self/exe");
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code missing;
    const fs::path there = fs::path(folder) / self.filename();
    if (fs::exists(there, missing)) {
      return fs::equivalent(there, self, missing) ? self.filename().string() : self.string();
    }
  }
  const std::string relative = self.lexically_proximate(fs::current_path()).string();
  return relative.starts_with("..") ? self.string() : "./" + relative;
}

std::string reproduction_line(const SessionOptions& o, const CaseResult& r) {
  static const std::string program = typed_program();
  std::string out = program;
  if (!o.specs.empty()) out += " --specs " + o.specs;
  out += fmt::format(" conform{}{} --device {}", o.without_native ? " --without-native" : "",
                     o.resize ? " --resize" : "", o.device);
  if (!o.plugin.empty()) out += " --plugin " + o.plugin;
  if (!r.replay.empty()) return out + " --replay " + r.replay;
  return out + fmt::format(" --seed {} --tier full --filter '{}'", o.seed, r.id);
}

template <typename Writer>
void write_report(const std::string& path, Writer writer, const Report& report) {
  if (path.empty()) return;
  std::ostringstream text;
  writer(text, report);
  write_file(path, text.view());
}

// A file name from an id: what is no letter or digit becomes '_'.
std::string file_name(const std::string& id) {
  std::string out = id;
  std::replace_if(
      out.begin(), out.end(),
      [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '.'; }, '_');
  return out + ".json";
}

std::string expected_text(const Expected& e) {
  if (e.error) return fmt::format("{}: {}", name(e.error->code), e.error->message);
  std::string out;
  for (const ExpectedTensor& r : e.results) {
    out += fmt::format("{}{}", name(r.dtype), list_text(r.sizes));
    constexpr size_t kShown = 64;
    for (size_t i = 0; r.values && i < std::min(kShown, r.values->data.size()); ++i) {
      const Element& x = r.values->data[i];
      out += " " + (x.undecided ? "any" : element_text(r.dtype, x));
      if (x.error > 0) out += fmt::format("±{:.3g}", static_cast<double>(x.error));
    }
    out += "\n";
  }
  return out;
}

std::string save_failure(const specs::Bundle& bundle, const SessionOptions& o, const TestCase& test,
                         const Verdict& v, decomps::DeviceTraits device = {}) {
  SavedCase saved{test, o.seed, o.device, {}, {}, to_string(v.outcome, v.kind) + ": " + v.detail};
  Expected expected = evaluate(bundle, test, device);
  if (expected.graph) saved.graph = prims::print(*expected.graph);
  saved.expected = expected_text(expected);
  std::filesystem::path path = std::filesystem::path(o.failures) / file_name(test.id.to_string());
  write_file(path, to_json(saved));
  return path.string();
}

// Whether out= tensors, which fit the results, have a size of 0 or 1 in one run alone: then they
// are of another broadcast class, which has a plan of its own.
bool outs_change_class(const specs::Bundle& bundle, const TestCase& original,
                       const Expected& resized) {
  const specs::Overload* overload = bundle.find_overload(original.id.subject);
  if (!overload || overload->kind != specs::OverloadKind::out) return false;
  auto same_class = [](int64_t a, int64_t b) { return a == b || (a > 1 && b > 1); };
  return !std::ranges::equal(evaluate(bundle, original).results, resized.results,
                             [&](const ExpectedTensor& x, const ExpectedTensor& y) {
                               return std::ranges::equal(x.sizes, y.sizes, same_class);
                             });
}

// The same case with other sizes should meet the plans of the first run.
void run_resized(const specs::Bundle& bundle, const SessionOptions& o, DeviceRunner& device,
                 CaseResult& result) {
  std::optional<TestCase> test = make_resized_case(bundle, CaseId::parse(result.id), o.seed);
  if (!test) return;
  Expected expected = evaluate(bundle, *test, device.claims().traits);
  if (expected.error) return;  // the values do not go with these sizes
  Execution actual = device.run_operator(*test);
  Resized& r = result.resized.emplace();
  r.text = test->text;
  for (const NewKernels& k : actual.new_kernels) {
    r.kernels += k.count;
    if (k.guards.empty()) r.unexplained += k.count;
    for (const std::string& guard : k.guards) r.guards.push_back(k.subject + ": " + guard);
  }
  if (r.unexplained > 0 &&
      outs_change_class(bundle, make_case(bundle, test->id, o.seed), expected)) {
    r.guards.push_back(test->id.subject + ": the broadcast class of out=");
    r.unexplained = 0;
  }
  Verdict v = judge(bundle, *test, expected, actual, device.claims());
  if (v.outcome == Outcome::pass) return;
  v.detail = "with other sizes (" + test->text + "): " + v.detail;
  result.verdict = std::move(v);
}

CaseResult run_one(const specs::Bundle& bundle, const SessionOptions& o, DeviceRunner& device,
                   const std::string& id) {
  TestCase test = make_case(bundle, CaseId::parse(id), o.seed);
  CaseResult result{id, run_case(bundle, test, device)};
  const bool computed = result.verdict.outcome == Outcome::pass && !test.graph;
  if (o.resize && computed) run_resized(bundle, o, device, result);
  if (o.failures.empty() || !is_failure(result.verdict.outcome)) return result;
  try {
    result.replay = save_failure(bundle, o, test, result.verdict, device.claims().traits);
  } catch (const Error&) {  // the verdict counts; save_silent_failure says what is wrong
  }
  return result;
}

// A case that killed its process could not save itself.
void save_silent_failure(const specs::Bundle& bundle, const SessionOptions& o, CaseResult& r) {
  if (o.failures.empty() || !is_failure(r.verdict.outcome) || !r.replay.empty()) return;
  TestCase test = make_case(bundle, CaseId::parse(r.id), o.seed);
  r.replay = save_failure(bundle, o, test, r.verdict);
}

// The processes share the cores. Intel's OpenCL runtime for CPUs starts a thread a core in each of
// them, and at every launch all of these look for work: on 64 cores most of the time. Two show
// races between workgroups still. Other drivers do not know the variable.
void share_cores(unsigned jobs) {
  const unsigned threads = std::max(2u, std::thread::hardware_concurrency() / std::max(1u, jobs));
  setenv("CL_CONFIG_CPU_TBB_NUM_WORKERS", std::to_string(threads).c_str(), 0);
}

BatchOptions batch_options(const SessionOptions& o) {
  BatchOptions b;
  b.worker = worker_command(o);
  std::istringstream under(o.under);
  b.worker.insert(b.worker.begin(), std::istream_iterator<std::string>(under), {});
  b.jobs = o.jobs;
  b.batch_size = o.batch_size;
  b.timeout = std::chrono::milliseconds(o.timeout_ms);
  b.rerun_failures = o.rerun_failures;
  return b;
}

// In the order of the ids: what an earlier run left, and what this one made.
std::vector<CaseResult> in_order(const std::vector<std::string>& ids,
                                 std::map<std::string, CaseResult>& results) {
  std::vector<CaseResult> out;
  for (const std::string& id : ids) {
    auto it = results.find(id);
    out.push_back(it != results.end() ? std::move(it->second)
                                      : CaseResult{id, Verdict::of(Outcome::not_run)});
  }
  return out;
}

std::map<std::string, CaseResult> run_cases(const specs::Bundle& bundle, const SessionOptions& o,
                                            const std::vector<std::string>& ids) {
  std::map<std::string, CaseResult> results;
  std::optional<ResultsFile> file;
  if (!o.results.empty()) {
    RunInfo info{o.device, o.plugin, o.seed, bundle.content_hash};
    file.emplace(o.results, info, o.resume);
    results = file->earlier();
  }
  std::vector<std::string> left;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(left),
               [&](const std::string& id) { return !results.contains(id); });
  Progress progress(left.size(), stderr);
  run_batches(batch_options(o), left, [&](const CaseResult& r) {
    CaseResult kept = r;
    save_silent_failure(bundle, o, kept);
    progress.count(kept);
    if (file) file->append(kept);
    results[kept.id] = std::move(kept);
  });
  if (file) file->finish();
  return results;
}

std::string introduce_device(const SessionOptions& o) {
  return probe_device(worker_command(o, "--introduce"), std::chrono::seconds(60));
}

// What is about to happen, to whom.
void print_first_screen(const SessionOptions& o, const std::vector<std::string>& ids) {
  std::set<std::string_view> subjects;
  for (const std::string& id : ids) subjects.insert(subject_of(id));
  const auto primitives = static_cast<size_t>(
      std::ranges::count_if(subjects, [](std::string_view s) { return s.starts_with("prim/"); }));
  fmt::print("{}\n", printable_lines(introduce_device(o)));
  auto counted = [](size_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  fmt::print("{} of {} and {}, seed {}, {} at once, at most {} s a case\n\n",
             counted(ids.size(), "case"), counted(primitives, "primitive"),
             counted(subjects.size() - primitives, "operator"), o.seed,
             o.jobs == 1 ? std::string("1 process") : fmt::format("{} processes", o.jobs),
             o.timeout_ms / 1000.0);
  std::fflush(stdout);
}

void explain_empty_selection(const Selection& selection) {
  fmt::print(
      stderr,
      "no case is selected{}{}; a filter is a glob on the operator (add.*, prim/*) or on the "
      "whole id (add.Tensor:dtype=f32*), as `primset conform --list` prints them\n",
      selection.filters.empty() ? "" : " by --filter ", fmt::join(selection.filters, " "));
}

// What the reference and the device made of a case: whether it computed something.
std::optional<bool> computed(const CaseResult& r) {
  switch (r.verdict.outcome) {
    case Outcome::pass:
      return !r.verdict.empty;
    case Outcome::refused:
      return false;
    case Outcome::fail:
      return true;
    default:
      return std::nullopt;
  }
}

// Did every operator compute something often enough? Asked of runs that have all standard cases.
Coverage coverage_of(const specs::Bundle& bundle, const SessionOptions& o, const Report& report) {
  std::unordered_map<std::string_view, const CaseResult*> by_id;
  for (const CaseResult& r : report.results) by_id[r.id] = &r;
  // A shard has a part of each operator's cases.
  Selection all = o.selection;
  all.shard = 0;
  all.shards = 1;
  return find_coverage(bundle, all, [&](const CaseId& id) -> std::optional<bool> {
    auto it = by_id.find(id.to_string());
    return it == by_id.end() ? std::nullopt : computed(*it->second);
  });
}

}  // namespace

int list_cases(const specs::Bundle& bundle, const SessionOptions& o) {
  for (const CaseId& id : select_cases(bundle, o.selection)) fmt::print("{}\n", id.to_string());
  return 0;
}

int save_cases(const specs::Bundle& bundle, const SessionOptions& o, const std::string& file) {
  OutputFile out(file, OutputFile::Mode::replace);
  for (const CaseId& id : select_cases(bundle, o.selection))
    out.write(to_json_line({make_case(bundle, id, o.seed), o.seed, {}, {}, {}, {}}));
  out.commit();
  return 0;
}

int run_session(const specs::Bundle& bundle, const SessionOptions& o) {
  Expectations expectations;
  if (!o.expectations.empty()) expectations = Expectations::load(o.expectations, today());
  std::vector<std::string> ids = to_texts(select_cases(bundle, o.selection));
  print_first_screen(o, ids);
  if (ids.empty()) explain_empty_selection(o.selection);
  share_cores(o.jobs);
  std::map<std::string, CaseResult> results = run_cases(bundle, o, ids);

  Report report{o.device, "Primset conformance", o.seed, in_order(ids, results), {}, {}};
  report.family_of = [&](std::string_view subject) { return family_of(bundle, subject); };
  report.reproduction = [&](const CaseResult& r) { return reproduction_line(o, r); };
  // Results are kept as they were; expectations may change from run to run.
  for (CaseResult& r : report.results) expectations.apply(r, o.device);
  if (o.selection.filters.empty() && o.selection.shards == 1) {
    for (const std::string& c : expectations.complaints(ids)) fmt::print(stderr, "{}\n", c);
  }
  write_report(o.junit, write_junit, report);
  write_report(o.csv, write_csv, report);
  write_report(o.html, write_html, report);
  fmt::print("{}", printable_lines(summary_text(report)));
  if (o.without_native) fmt::print("{}", native_routes_text(report));
  ExitCode code = exit_code(count_outcomes(report.results));
  if (o.selection.tier >= CaseTier::standard) {
    const Coverage coverage = coverage_of(bundle, o, report);
    if (coverage.pairs > 0) fmt::print("\n{}", coverage_text(coverage));
    if (code == ExitCode::green && !coverage.shortfalls.empty()) code = ExitCode::unsound;
  }
  if (!o.resize) return static_cast<int>(code);
  fmt::print("{}", printable_lines(resized_text(report)));
  return static_cast<int>(has_unexplained_kernels(report) ? ExitCode::failures : code);
}

int run_device_probe(const specs::Bundle& bundle, const SessionOptions& o) {
  const std::string line = claims_line(open_device(bundle, o, o.device)->claims()) + "\n";
  return write(kProtocolFd, line.data(), line.size()) < 0 ? 1 : 0;
}

int run_worker(const specs::Bundle& bundle, const SessionOptions& o) {
  std::unique_ptr<DeviceRunner> device = open_device(bundle, o, o.device);
  return serve_cases(std::cin, kProtocolFd,
                     [&](const std::string& id) { return run_one(bundle, o, *device, id); });
}

namespace {

SavedCase load_case(const specs::Bundle& bundle, const std::string& file) {
  std::ifstream in(file);
  if (!in) throw Error(ErrorCode::runtime, file + " cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  try {
    SavedCase saved = saved_case_from_json(text.view());
    check_case(bundle, saved.test);
    return saved;
  } catch (const Error& e) {
    throw Error(e.code(), file + " is no saved case: " + e.what());
  }
}

Verdict run_saved(const specs::Bundle& bundle, const SessionOptions& o, const std::string& file,
                  const TestCase& test) {
  if (o.in_process) return run_case(bundle, test, *open_device(bundle, o, o.device));
  introduce_device(o);  // one that cannot be opened is an error, and no verdict
  BatchOptions batch = batch_options(o);
  batch.worker.insert(batch.worker.end(), {"--replay", std::filesystem::absolute(file).string()});
  batch.rerun_failures = false;
  Verdict out = Verdict::of(Outcome::not_run);
  run_batches(batch, {"the saved case"}, [&](const CaseResult& r) { out = r.verdict; });
  return out;
}

}  // namespace

int replay(const specs::Bundle& bundle, const SessionOptions& options, const std::string& file) {
  const SavedCase saved = load_case(bundle, file);
  SessionOptions o = options;
  if (o.device.empty()) o.device = saved.device;
  fmt::print("{}",
             printable_lines(fmt::format("{}\n{}\n{}\nexpected:\n{}", saved.test.id.to_string(),
                                         saved.test.text, saved.graph, saved.expected)));
  std::fflush(stdout);
  const Verdict v = run_saved(bundle, o, file, saved.test);
  fmt::print("{}\n", printable_lines(fmt::format("{} on {}: {}", to_string(v.outcome, v.kind),
                                                 o.device, v.detail)));
  OutcomeCounts counts{};
  ++counts[static_cast<size_t>(v.outcome)];
  return static_cast<int>(exit_code(counts));
}

int run_replay_worker(const specs::Bundle& bundle, const SessionOptions& o,
                      const std::string& file) {
  const SavedCase saved = load_case(bundle, file);
  std::unique_ptr<DeviceRunner> device = open_device(bundle, o, o.device);
  return serve_cases(std::cin, kProtocolFd, [&](const std::string& id) {
    return CaseResult{id, run_case(bundle, saved.test, *device)};
  });
}

int mutate(const specs::Bundle& bundle, const SessionOptions& o, size_t count, double floor) {
  std::unique_ptr<DeviceRunner> device = open_device(bundle, o, o.device);
  std::optional<OutputFile> lines;
  if (!o.results.empty()) lines.emplace(o.results, OutputFile::Mode::replace);
  const bool shown = isatty(STDERR_FILENO) != 0;
  size_t done = 0;
  const auto start = std::chrono::steady_clock::now();
  MutationScore score =
      measure_mutations(bundle, *device, o.selection, count, o.seed, [&](const Mutant& m) {
        if (lines) lines->write(to_json_line(m) + "\n");
        if (shown) fmt::print(stderr, "\r\x1b[K[{}/{}] {}", ++done, count, name(m).substr(0, 70));
      });
  if (shown) fmt::print(stderr, "\r\x1b[K");
  fmt::print("{}", score_text(score, [&](std::string_view s) { return family_of(bundle, s); }));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print("in {:.0f} s\n", took.count());
  if (lines) lines->commit();
  if (score.mutants.empty()) return static_cast<int>(ExitCode::nothing_ran);
  return static_cast<int>(score.share() < floor ? ExitCode::failures : ExitCode::green);
}

}  // namespace primset::conformance
