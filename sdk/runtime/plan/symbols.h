// Describes a call to the tracer: tensors without data, whose sizes and strides are symbols, and
// the source of each symbol's value. The numbering is that of key.cpp: the symbol values are
// those of the key.
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

// What a guard of an earlier trace says of a symbol value: it equals one with a smaller index, or a
// constant.
struct Replacement {
  std::optional<uint32_t> index;
  int64_t constant = 0;
};
using Replacements = std::map<uint32_t, Replacement>;  // by index of the symbol value

struct TraceInputs {
  std::shared_ptr<prims::SymContext> context;
  std::vector<decomps::Actual> actuals;
  std::vector<uint32_t> value_of_symbol;  // by symbol: the index of its value
  // Guards for the replacements: the call's symbol value must equal this.
  std::vector<std::pair<uint32_t, prims::SymInt>> equalities;

  // Adds the equalities among the guards of a finished trace; true: there are new ones, and tracing
  // again would give a more specific layout.
  bool learn(Replacements& replacements) const;
  // Is the value known only during a run: does it contain symbols that the trace made itself?
  bool depends_on_run(const prims::SymInt& value) const;
  bool depends_on_run(const prims::SymContext::Poly& poly) const;
  // Memoised answers by atom.
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
