// A log of recompilations. While it is on, each plan that is made is recorded with the guards that
// kept the call from using the key's other plans: to see that a call with other sizes compiles
// nothing, or which guard made it compile.
#ifndef PRIMSET_SDK_RUNTIME_PLAN_RECOMPILATION_LOG_H_
#define PRIMSET_SDK_RUNTIME_PLAN_RECOMPILATION_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

namespace primset::runtime {

struct Recompilation {
  std::string op;                   // "add.Tensor"
  std::vector<std::string> guards;  // for each other plan of the key, the first guard that failed
  uint64_t kernels = 0;             // emitted for it, or loaded from disk
};

// Switches it on for the whole process. Plans made from then on keep the texts of their guards.
void enable_recompilation_log();
bool recompilation_log_enabled();
void record_recompilation(Recompilation made);
// The records since the last call.
std::vector<Recompilation> take_recompilations();

// The number of kernels emitted or loaded from disk so far.
uint64_t kernels_loaded();

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_PLAN_RECOMPILATION_LOG_H_
