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

// Owns converted arguments; must outlive the call.
struct BindScratch {
  std::forward_list<std::vector<int64_t>> ints;
  std::forward_list<std::vector<double>> doubles;
  std::forward_list<std::vector<Scalar>> scalars;
  std::forward_list<std::vector<Tensor>> tensors;
};

// Which conversions to the schema's kind are allowed.
enum class Strictness : uint8_t {
  exact,     // none
  converts,  // a number where a tensor is expected, one number for a list of fixed size
};

// Fills call.args. False when the values do not match the schema.
bool bind(Call& call, std::span<const Value> args, std::span<const NamedValue> kwargs,
          Strictness strictness, BindScratch& scratch);
// The same; throws Error{type} that says what does not match.
void bind_or_throw(Call& call, std::span<const Value> args, std::span<const NamedValue> kwargs,
                   BindScratch& scratch);
// The same for arguments in schema order, of which trailing ones may be missing; throws where one
// does not match.
void bind_unboxed(Call& call, std::span<const Arg> args);

// The first overload of `base` that takes these values. Throws Error{type} that says what is wrong
// with them for the overload that comes nearest.
const OperatorInfo& resolve(std::string_view base, std::span<const Value> args,
                            std::span<const NamedValue> kwargs);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CALL_BIND_H_
