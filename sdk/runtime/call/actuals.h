// Converts bound arguments to the tracer's. How a tensor and an integer are described differs
// between an eager call (symbols.cpp) and a captured graph (capture.cpp), which override those
// functions.
#ifndef PRIMSET_SDK_RUNTIME_CALL_ACTUALS_H_
#define PRIMSET_SDK_RUNTIME_CALL_ACTUALS_H_

#include <vector>

#include "decomps/engine/engine.h"
#include "sdk/runtime/call/operator_info.h"
#include "sdk/runtime/tensor/tensor_impl.h"

namespace primset::runtime {

// Throws where a number of the call is none that the dtype holds which it becomes an element of.
void require_numbers_fit(std::span<const Arg> args, std::span<const decomps::NumberFit> fits);

class ActualMaker {
 public:
  virtual ~ActualMaker() = default;

  decomps::Actual argument(const ArgInfo& info, const Arg& arg);

 protected:
  virtual decomps::TensorMeta tensor(const TensorImpl& t) = 0;
  virtual prims::SymInt integer(const ArgInfo& info, int64_t value) = 0;

  // The description of a number passed where a tensor is expected.
  decomps::TensorMeta number_meta(DType dtype, bool wrapped);

 private:
  decomps::TensorMeta tensor_or_number(const Arg& arg);
  std::vector<decomps::TensorMeta> tensor_list(const Arg& arg);
  std::vector<std::optional<decomps::TensorMeta>> optional_list(const Arg& arg);
  prims::SymInts integers(const ArgInfo& info, const Arg& arg);

  uint32_t number_identity_ = 1u << 31;  // numbers share no memory: each has an identity of its own
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CALL_ACTUALS_H_
