// In-place and out=: which inputs may share memory with a written tensor. Checks and texts are
// ATen's.
#ifndef PRIMSET_SDK_RUNTIME_CALL_ALIASING_H_
#define PRIMSET_SDK_RUNTIME_CALL_ALIASING_H_

#include "sdk/runtime/call/call.h"

namespace primset::runtime {

// Throws Error{runtime} where ATen does: a written tensor overlaps itself, or partly overlaps an
// input of a pointwise operator, or shares memory with one where the spec says that it may not.
// Inputs of other operators that overlap what is written are cloned.
void check_aliasing(Call& call);

// Replaces inputs that have the conjugate or negative bit by tensors that have these values in
// memory.
void resolve_bits(Call& call);

// out=: resizes the tensors to the sizes and strides of the plan. `slots` has the numbers of a plan
// of kind Plan::Outs::resize.
void resize_outs(Call& call, const Plan& plan, const int64_t* slots);
// As ATen's resize_output: warns when a tensor with elements changes its shape.
void resize_output(TensorImpl& out, std::span<const int64_t> sizes,
                   std::span<const int64_t> strides);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CALL_ALIASING_H_
