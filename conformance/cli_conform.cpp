// `primset conform`: the command line of conformance.
#include <primset/device.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "conformance/reference/expected_results.h"
#include "conformance/runner/session.h"
#include "sdk/cli/command.h"
#include "sdk/cli/reachable.h"
#include "sdk/runtime/call/operator_info.h"
#include "sdk/runtime/plugin/loader.h"

namespace primset::conformance {
namespace {

constexpr const char* kHelp = R"(Examples:
  primset conform --plugin ./libacme_primset.so --tier smoke
  primset conform --device vulkan:0 --filter 'add.*' --filter '-/case=huge/'
  primset conform --device cpu --results run.jsonl --resume --html run.html --jobs 2
  primset conform --device cpu --shard 0/4 --tier full --failures failed
  primset conform --device cpu --replay failed/add.Tensor_dtype_f16_case_special.json
  primset conform --device reference --mutate 200
A filter is a glob on the operator (add.*, prim/*), on the whole id when it has a ':', or a
/regular expression/; a leading '-' takes away.
Exit codes: 0 all that ran is right; 1 the device fails somewhere; 2 wrong command line; 3 a device
or file failed; 4 a mistake in Primset; 5 nothing was computed; 6 no failure, but flakes, unexpected
passes, cases that did not run, or an operator that is asked too little.)";

struct CommandLine {
  SessionOptions session;
  std::string tier = "standard", shard = "0/1", replay, save;
  std::vector<std::string> dtypes;
  size_t mutate = 0;
  double mutation_floor = 0;
  bool list = false, worker = false, probe_device = false;
  CLI::App* app = nullptr;
};

[[noreturn]] void usage(const std::string& what) {
  throw CLI::ValidationError(what);
}

void add_selection(CLI::App& app, CommandLine& c) {
  app.add_option("--filter", c.session.selection.filters, "Which cases; may be given repeatedly");
  app.add_option("--dtype", c.dtypes, "Only these dtypes")->delimiter(',');
  app.add_option("--tier", c.tier, "smoke, standard or full")
      ->check(CLI::IsMember({"smoke", "standard", "full"}))
      ->capture_default_str();
  app.add_option("--shard", c.shard, "i/n: the i-th of n parts, from 0")->capture_default_str();
  app.add_option("--seed", c.session.seed, "Of all random values")->capture_default_str();
}

void add_running(CLI::App& app, CommandLine& c) {
  SessionOptions& s = c.session;
  app.add_option("--device", s.device, "The device; 'reference' tests the cases themselves");
  app.add_option("--plugin", s.plugin, "A plugin's file; its first device unless --device says")
      ->check(CLI::ExistingFile);
  s.jobs = std::max(1u, std::thread::hardware_concurrency());
  app.add_option("--jobs", s.jobs, "Processes at once")->capture_default_str();
  app.add_option(
      "--under", s.under,
      "Run these processes under a command, such as 'valgrind -q' or a device's sanitizer");
  app.add_option("--batch", s.batch_size, "Cases a process")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--timeout", s.timeout_ms, "Milliseconds for one case")->capture_default_str();
  app.add_flag("!--no-rerun", s.rerun_failures, "Do not run failures again alone to find flakes");
  app.add_flag("--without-native", s.without_native,
               "Leave to kernels what the plugin runs natively, and time both ways");
  app.add_flag("--resize", s.resize,
               "Run each operator's case again with other sizes, and list the kernels made for it");
  app.add_option("--expectations", s.expectations, "What is known to fail (YAML)");
}

void add_output(CLI::App& app, CommandLine& c) {
  SessionOptions& s = c.session;
  app.add_option("--results", s.results, "Append every result to this file (JSON lines)");
  app.add_flag("--resume", s.resume, "Go on where --results ends");
  app.add_option("--failures", s.failures, "Folder for one file a failure, for --replay");
  app.add_option("--junit", s.junit, "Write JUnit XML");
  app.add_option("--csv", s.csv, "Write CSV");
  app.add_option("--html", s.html, "Write a page with a matrix of operators and dtypes");
  app.add_flag("--list", c.list, "Print the ids and run nothing");
  app.add_option("--save-cases", c.save,
                 "Write every case's arguments to this file (JSON lines) and run nothing");
  app.add_option("--replay", c.replay, "Run one saved failure")->check(CLI::ExistingFile);
  app.add_flag("--in-process", s.in_process, "Replay in this process, for a debugger");
  app.add_option("--mutate", c.mutate, "Measure how many of N mutants the cases catch");
  app.add_option("--mutation-floor", c.mutation_floor, "The least share, 0 to 1, that is fine");
  // What the runner starts.
  app.add_flag("--worker", c.worker)->group("");
  app.add_flag("--introduce", c.probe_device)->group("");
}

void read_selection(CommandLine& c) {
  Selection& s = c.session.selection;
  s.tier = tier_from_name(c.tier).value();
  for (const std::string& text : c.dtypes) {
    std::optional<DType> t = dtype_from_name(text);
    if (!t) usage("--dtype: '" + text + "' is no dtype");
    s.dtypes.push_back(*t);
  }
  unsigned shard = 0, shards = 0;
  char rest = 0;
  if (std::sscanf(c.shard.c_str(), "%u/%u%c", &shard, &shards, &rest) != 2 || shard >= shards) {
    usage("--shard: '" + c.shard + "' is not i/n with i < n");
  }
  s.shard = shard;
  s.shards = shards;
}

// Before any plugin is looked for.
void prepare_plugin(SessionOptions& s) {
  if (!s.plugin.empty()) {
    s.plugin = std::filesystem::absolute(s.plugin).string();
    const char* path = std::getenv("PRIMSET_PLUGIN_PATH");
    std::string list = s.plugin + (path && *path ? ":" + std::string(path) : std::string());
    setenv("PRIMSET_PLUGIN_PATH", list.c_str(), 1);
    if (s.device.empty()) s.device = plugin::plugin_name_of(s.plugin) + ":0";
  }
  // Rules of the interface are checked on the way, unless the user says otherwise.
  setenv("PRIMSET_VALIDATE", "1", 0);
}

int run(CommandLine& c) {
  // What --specs was given to the program goes on to the workers.
  if (CLI::App* program = c.app->get_parent()) {
    CLI::Option* specs = program->get_option_no_throw("--specs");
    if (specs && specs->count() > 0) c.session.specs = specs->as<std::string>();
  }
  try {
    read_selection(c);
  } catch (const CLI::ValidationError& e) {
    std::fprintf(stderr, "primset conform: %s\n", e.what());
    return cli::kUsage;
  }
  prepare_plugin(c.session);
  const specs::Bundle& bundle = runtime::OperatorRegistry::instance().bundle();
  if (c.list) return list_cases(bundle, c.session);
  if (!c.save.empty()) return save_cases(bundle, c.session, c.save);
  if (!c.replay.empty() && c.worker) return run_replay_worker(bundle, c.session, c.replay);
  if (!c.replay.empty()) return replay(bundle, c.session, c.replay);
  if (c.session.device.empty()) c.session.device = c.mutate ? "reference" : "cpu";
  if (c.probe_device) return run_device_probe(bundle, c.session);
  if (c.worker) return run_worker(bundle, c.session);
  if (c.mutate) return mutate(bundle, c.session, c.mutate, c.mutation_floor);
  return run_session(bundle, c.session);
}

const cli::Command kConform{"conform", "Check a plugin's every operator, dtype and edge case",
                            kHelp, [](CLI::App& app) {
                              auto c = std::make_shared<CommandLine>();
                              c->app = &app;
                              add_selection(app, *c);
                              add_running(app, *c);
                              add_output(app, *c);
                              return [c] { return run(*c); };
                            }};

// The graphs of the first cases of every operator that computes for itself, dtype by dtype.
void visit_case_graphs(const specs::Bundle& bundle,
                       const std::function<bool(prims::Graph&)>& visit) {
  constexpr size_t kCases = 3;
  for (DType t :
       {DType::f32, DType::c64, DType::i64, DType::boolean, DType::i8, DType::f8_e4m3fn}) {
    for (const specs::Overload& o : bundle.overloads) {
      if (o.status != specs::Status::implemented || o.base != specs::kNoIndex) continue;
      const std::vector<Recipe> recipes = operator_recipes(bundle, o, t);
      for (size_t i = 0; i < std::min(kCases, recipes.size()); ++i) {
        const CaseId id{Level::op, o.qualified, t, recipes[i].name,
                        std::string(kLayoutNames[static_cast<size_t>(recipes[i].layout)])};
        try {
          const decomps::TracedCall call = trace_case(bundle, make_case(bundle, id, 0));
          if (call.graph && !visit(*call.graph)) return;
        } catch (const Error&) {
          continue;  // a case that is refused has no graph
        }
      }
    }
  }
}

const cli::CallGraphSource kCaseGraphs{visit_case_graphs};

}  // namespace
}  // namespace primset::conformance
