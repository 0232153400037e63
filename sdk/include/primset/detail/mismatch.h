// What is said of arguments that no overload takes: of the overload that comes nearest, what is
// wrong, then the declarations that it could have been. For front ends that bind arguments
// themselves.
#ifndef PRIMSET_DETAIL_MISMATCH_H_
#define PRIMSET_DETAIL_MISMATCH_H_

#include <primset/error.h>
#include <primset/export.h>
#include <primset/invoke.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace primset::detail {

// The arguments of a call before any overload took them.
struct GivenArguments {
  size_t positional = 0;
  std::vector<std::string> keywords;  // their values follow the positional ones
  std::vector<std::string> kinds;     // of each value, as messages call it: "Tensor", "List[int]"
  // May the value stand for that parameter of the schema?
  std::function<bool(size_t overload, size_t parameter, size_t value)> fits;
};

// Error{type} for a call of `name`; pre: there is an overload, and none takes these arguments.
PRIMSET_API Error mismatch(std::string_view name, std::span<const Operator> overloads,
                           const GivenArguments& given);

// "no operator is called 'sofmax' (did you mean 'softmax'?); `primset ops` lists them", for a base
// name or an overload's.
PRIMSET_API std::string unknown_operator(std::string_view name);

}  // namespace primset::detail

#endif  // PRIMSET_DETAIL_MISMATCH_H_
