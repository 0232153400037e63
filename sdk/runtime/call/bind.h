// From boxed values to an operator's arguments: positions, keywords, defaults and the conversions
// that ATen's parser makes.
#ifndef PRIMSET_SDK_RUNTIME_CALL_BIND_H_
#define PRIMSET_SDK_RUNTIME_CALL_BIND_H_

#include <primset/invoke.h>

#include <forward_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sdk/runtime/call/call.h"

namespace primset::runtime {

// Memory for arguments that had to be converted; outlives the call.
struct BindScratch {
  std::forward_list<std::vector<int64_t>> ints;
  std::forward_list<std::vector<double>> doubles;
  std::forward_list<std::vector<Scalar>> scalars;
  std::forward_list<std::vector<Tensor>> tensors;
};

// How far a value may be from the schema's kind.
enum class Strictness : uint8_t {
  exact,     // numbers are no tensors, a list is a list
  converts,  // a number may stand for a tensor, one number for a list of fixed size
};

// Fills call.args. Returns why the values do not fit, in ATen's words; empty when they do.
std::string bind(Call& call, std::span<const Value> args, std::span<const NamedValue> kwargs,
                 Strictness strictness, BindScratch& scratch);
// The same for arguments in schema order, of which trailing ones may be missing; throws.
void bind_unboxed(Call& call, std::span<const Arg> args);

// The overload of `base` that takes these values; throws Error{type} listing those that do not.
const OperatorInfo& resolve(std::string_view base, std::span<const Value> args,
                            std::span<const NamedValue> kwargs);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CALL_BIND_H_
