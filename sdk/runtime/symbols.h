// Describes a call to the tracer: tensors without data, whose sizes and strides are symbols, and
// where each symbol's value comes from. The numbering follows key.cpp: symbol values are the key's
// raw numbers.
#ifndef PRIMSET_SDK_RUNTIME_SYMBOLS_H_
#define PRIMSET_SDK_RUNTIME_SYMBOLS_H_

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "decomps/engine.h"
#include "sdk/runtime/key.h"

namespace primset::runtime {

// A raw number that a guard of an earlier trace says follows from smaller ones: `value`, in terms
// of the symbols of `context`.
struct Replacement {
  std::shared_ptr<const prims::SymContext> context;
  prims::SymInt value;
  std::vector<uint32_t> raw_of_symbol;
};
using Replacements = std::map<uint32_t, Replacement>;

struct TraceInputs {
  std::shared_ptr<prims::SymContext> context;
  std::vector<decomps::Actual> actuals;
  std::vector<uint32_t> raw_of_symbol;  // by symbol: which raw number it is
  // What the replacements became: the call's raw number must have this value.
  std::vector<std::pair<uint32_t, prims::SymInt>> equalities;
};

TraceInputs make_trace_inputs(const OperatorInfo& op, std::span<const Arg> args,
                              const DeviceState& device, const CallKey& key,
                              const Replacements& replacements);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SYMBOLS_H_
