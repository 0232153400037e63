// One operator call during dispatch.
#ifndef PRIMSET_SDK_RUNTIME_CALL_CALL_H_
#define PRIMSET_SDK_RUNTIME_CALL_CALL_H_

#include <primset/invoke.h>
#include <primset/tensor.h>

#include <forward_list>
#include <optional>
#include <span>
#include <vector>

#include "sdk/base/small_vector.h"
#include "sdk/runtime/call/operator_info.h"
#include "sdk/runtime/execute/executor.h"

namespace primset::runtime {

struct Call {
  explicit Call(const OperatorInfo& info) : op(info) {}

  const OperatorInfo& op;
  SmallVector<Arg, 16> args;  // the schema's, defaults included
  DeviceState* device = nullptr;
  Results results;
  // The result of operators that return no tensor.
  std::optional<Value> value;
  // For each result: new memory, an argument itself, or a view of one.
  SmallVector<ResultOrigin, 4> origins;
  // Owns the tensors that dispatch has put in place of arguments (clones, resolved bits).
  std::forward_list<Tensor> owned_tensors;
  std::forward_list<std::vector<Tensor>> owned_lists;

  const TensorImpl* tensor(size_t i) const {
    return args[i].kind == Arg::Kind::tensor ? static_cast<const TensorImpl*>(args[i].pointer)
                                             : nullptr;
  }
  void replace_argument(size_t i, Tensor t) {
    args[i] = Arg(owned_tensors.emplace_front(std::move(t)));
  }
  void replace_list(size_t i, std::vector<Tensor> list) {
    args[i] = Arg(owned_lists.emplace_front(std::move(list)));
  }
  void add_result(Tensor t, ResultOrigin origin) {
    const size_t i = results.size();
    results.resize(i + 1);
    results.set(i, t.release());
    origins.push_back(origin);
  }
};

// Calls f(tensor, argument, element) for every tensor among the arguments, list elements included.
template <typename F>
void for_each_tensor(std::span<const Arg> args, F f) {
  for (uint32_t i = 0; i < args.size(); ++i) {
    const Arg& a = args[i];
    if (a.kind == Arg::Kind::tensor) {
      f(*static_cast<const TensorImpl*>(a.pointer), i, 0u);
    } else if (a.kind == Arg::Kind::tensor_list) {
      for (uint32_t e = 0; e < a.count; ++e) {
        const Tensor& t = static_cast<const Tensor*>(a.pointer)[e];
        if (t.defined()) f(*t.impl(), i, e);
      }
    }
  }
}

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CALL_CALL_H_
