// Elementwise operators over lists of tensors (_foreach_*) are run as calls on lists of one
// element, so that plans and kernels do not depend on the lists' length. Elements that share a plan
// are launched together (codegen/kernel/transform/pointer_table.h).
#ifndef PRIMSET_SDK_RUNTIME_CALL_LIST_CALL_H_
#define PRIMSET_SDK_RUNTIME_CALL_LIST_CALL_H_

#include "sdk/runtime/call/call.h"

namespace primset::runtime {

// Can the call be split: lists of one length, at least two? The engine reports errors of other
// lists.
bool runs_by_element(const Call& call);

// Runs them. Nothing is written before all elements have been checked.
void run_by_element(Call& call);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CALL_LIST_CALL_H_
