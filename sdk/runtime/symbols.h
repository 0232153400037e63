// Describes a call to the tracer: tensors without data, whose sizes and strides are symbols, and
// where each symbol's value comes from. The numbering follows key.cpp: symbol values are the key's
// raw numbers.
#ifndef PRIMSET_SDK_RUNTIME_SYMBOLS_H_
#define PRIMSET_SDK_RUNTIME_SYMBOLS_H_

#include <memory>
#include <span>
#include <vector>

#include "decomps/engine.h"
#include "sdk/runtime/key.h"

namespace primset::runtime {

struct TraceInputs {
  std::shared_ptr<prims::SymContext> context;
  std::vector<decomps::Actual> actuals;
  std::vector<uint32_t> raw_of_symbol;  // by symbol: which raw number it is
};

// `representative[i]` is the raw number whose symbol also stands for raw number i: i itself, or an
// earlier one that guards say is equal.
TraceInputs make_trace_inputs(const OperatorInfo& op, std::span<const Arg> args,
                              const DeviceState& device, const CallKey& key,
                              std::span<const uint32_t> representative);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SYMBOLS_H_
