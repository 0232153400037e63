// Describes a call to the tracer: tensors without data, whose sizes and strides are symbols, and
// where each symbol's value comes from. The numbering follows key.cpp: symbol values are the key's
// raw numbers.
#ifndef PRIMSET_SDK_RUNTIME_PLAN_SYMBOLS_H_
#define PRIMSET_SDK_RUNTIME_PLAN_SYMBOLS_H_

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "decomps/engine/engine.h"
#include "sdk/runtime/plan/key.h"

namespace primset::runtime {

// What a guard of an earlier trace said of a raw number: it equals a smaller one, or a constant.
struct Replacement {
  std::optional<uint32_t> raw;
  int64_t constant = 0;
};
using Replacements = std::map<uint32_t, Replacement>;  // by raw number

struct TraceInputs {
  std::shared_ptr<prims::SymContext> context;
  std::vector<decomps::Actual> actuals;
  std::vector<uint32_t> raw_of_symbol;  // by symbol: which raw number it is
  // What the replacements became: the call's raw number must have this value.
  std::vector<std::pair<uint32_t, prims::SymInt>> equalities;

  // Adds what the guards of a finished trace say; true when that is news, so that tracing again
  // would know more.
  bool learn(Replacements& replacements) const;
  // Only a run tells the value: symbols that the trace made itself are in it.
  bool depends_on_run(const prims::SymInt& value) const;
  bool depends_on_run(const prims::SymContext::Poly& poly) const;
  // Its answers by atom, as far as they were asked for.
  mutable std::vector<bool> atom_depends_on_run;
};

TraceInputs make_trace_inputs(const OperatorInfo& op, std::span<const Arg> args,
                              const DeviceState& device, const CallKey& key,
                              const Replacements& replacements);

// The same for the inputs of a captured graph.
TraceInputs make_graph_inputs(std::span<const Tensor> tensors, const DeviceState& device,
                              const CallKey& key, const Replacements& replacements);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_PLAN_SYMBOLS_H_
