// Operators over lists of tensors that treat each element for itself (_foreach_*): the call is one
// of lists of one element, many times, so that plans and kernels do not depend on how long the
// lists are. Elements that share a plan are launched together.
#ifndef PRIMSET_SDK_RUNTIME_CALL_LIST_CALL_H_
#define PRIMSET_SDK_RUNTIME_CALL_LIST_CALL_H_

#include "sdk/runtime/call/call.h"

namespace primset::runtime {

// Are there lists of one length, two or more, to be taken apart? Others are the engine's to refuse.
bool runs_by_element(const Call& call);

// Nothing is written before every element is known to be right.
void run_by_element(Call& call);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CALL_LIST_CALL_H_
