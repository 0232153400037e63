// Operators on lists of tensors of which some are sparse, element by element.
#include <algorithm>

#include "sdk/runtime/plan/key.h"
#include "sdk/runtime/sparse/sparse_call.h"

namespace primset::runtime {
namespace {

constexpr std::string_view kForeach = "_foreach_";

// What an operator on single tensors gets of an argument: of a list its element.
Arg element_of(const Arg& a, size_t i) {
  if (a.kind == Arg::Kind::tensor_list) return Arg(static_cast<const Tensor*>(a.pointer)[i]);
  if (a.kind == Arg::Kind::scalar_list) return Arg(static_cast<const Scalar*>(a.pointer)[i]);
  return a;
}

// Without the lists that out= names, whose tensors the engine writes. Trailing arguments that were
// left out are none of the other operator's.
std::vector<Arg> arguments_of_element(const SparseCall& call, size_t i) {
  std::vector<Arg> out;
  for (const specs::Argument& a : call.overload().args) {
    if (!a.is_out) out.push_back(element_of(call.arg(a.name), i));
  }
  while (!out.empty() && out.back().kind == Arg::Kind::none) out.pop_back();
  return out;
}

bool takes(const ArgInfo& info, const Arg& given) {
  if (given.kind == Arg::Kind::tensor) return info.kind == specs::ArgKind::tensor;
  if (is_number(given))
    return info.kind == specs::ArgKind::scalar || info.kind == specs::ArgKind::boolean;
  return true;
}

bool takes(const OperatorInfo& op, const std::vector<Arg>& args) {
  if (op.args.size() < args.size()) return false;
  for (size_t i = 0; i < op.args.size(); ++i) {
    const bool fits = i < args.size() ? takes(op.args[i], args[i])
                                      : op.args[i].fallback.kind != Arg::Kind::absent;
    if (!fits) return false;
  }
  return true;
}

// Of the overloads of the name without "_foreach_" the first that takes what an element has.
const OperatorInfo& operator_of_element(const SparseCall& call, const std::vector<Arg>& args) {
  std::string base(call.op().substr(kForeach.size()));
  const auto found = OperatorRegistry::instance().overloads(base);
  const auto op =
      std::ranges::find_if(found, [&](const OperatorInfo* o) { return takes(*o, args); });
  if (op == found.end())
    call.fail(
        "expected strided tensors, since no operator does this to one tensor, but a sparse one was "
        "given",
        ErrorCode::not_implemented);
  return **op;
}

}  // namespace

std::vector<Tensor> sparse_functions::each_of_list(SparseCall& call) {
  const std::vector<Tensor> self = call.tensors("self");
  std::vector<Tensor> results;
  for (size_t i = 0; i < self.size(); ++i) {
    const std::vector<Arg> args = arguments_of_element(call, i);
    const OperatorInfo& op = operator_of_element(call, args);
    results.push_back(call_operators(op.overload.qualified, args)[0]);
  }
  return results;
}

}  // namespace primset::runtime
