// Operators that multiply their sparse tensors by strided ones before all else, so that their
// results are strided whatever those are.
#include "sdk/runtime/sparse/sparse_call.h"

namespace primset::runtime {
namespace {

Tensor strided(const Tensor& t) {
  return is_sparse(t) ? op("to_dense", t) : t;
}

}  // namespace

std::vector<Tensor> sparse_functions::of_strided_tensors(SparseCall& call) {
  std::vector<std::vector<Tensor>> made;  // which the arguments point to
  std::vector<Arg> args;
  for (const specs::Argument& a : call.overload().args) {
    const Arg& given = call.arg(a.name);
    if (given.kind == Arg::Kind::tensor) {
      made.push_back({strided(call.tensor(a.name))});
      args.emplace_back(made.back()[0]);
    } else if (given.kind == Arg::Kind::tensor_list) {
      made.push_back(call.tensors(a.name));
      for (Tensor& t : made.back()) t = strided(t);
      args.emplace_back(made.back());
    } else {
      args.push_back(given);
    }
  }
  return call_operators(call.overload().qualified, args);
}

}  // namespace primset::runtime
