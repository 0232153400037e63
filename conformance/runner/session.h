// What `primset conform` does, one function a mode. Each returns the exit code.
#ifndef PRIMSET_CONFORMANCE_RUNNER_SESSION_H_
#define PRIMSET_CONFORMANCE_RUNNER_SESSION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/cases/tables/recipe.h"
#include "specs/bundle/model.h"

namespace primset::conformance {

struct SessionOptions {
  std::string device;  // "acme:0"; "reference" is the reference interpreter itself
  std::string plugin;  // a plugin's file; empty: found as usual
  std::string specs;   // what --specs said, handed on to workers
  Selection selection;
  uint64_t seed = 0;
  std::string under;  // the command, with its arguments between blanks, that workers run under
  unsigned jobs = 1;
  size_t batch_size = 200;
  unsigned timeout_ms = 30000;
  bool rerun_failures = true;
  bool resize = false;          // each operator's case again with other sizes
  bool without_native = false;  // what a plugin would run natively is left to kernels
  std::string results;          // JSON lines; empty: none are kept
  bool resume = false;
  std::string expectations;
  std::string junit, csv, html;
  std::string failures;     // folder for saved cases; empty: none are saved
  bool in_process = false;  // a replay runs here, under a debugger
};

int list_cases(const specs::Bundle& bundle, const SessionOptions& options);
// Every case's arguments as a line of JSON (cases/inputs/serialize.h), for other programs to call
// with.
int save_cases(const specs::Bundle& bundle, const SessionOptions& options, const std::string& file);
int run_session(const specs::Bundle& bundle, const SessionOptions& options);
int run_device_probe(const specs::Bundle& bundle, const SessionOptions& options);
int run_worker(const specs::Bundle& bundle, const SessionOptions& options);
// Runs a saved case in a process of its own, which may crash or hang, unless told otherwise.
int replay(const specs::Bundle& bundle, const SessionOptions& options, const std::string& file);
int run_replay_worker(const specs::Bundle& bundle, const SessionOptions& options,
                      const std::string& file);
// Exit code 1 when less than `floor` of the mutants is caught.
int mutate(const specs::Bundle& bundle, const SessionOptions& options, size_t count, double floor);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_RUNNER_SESSION_H_
