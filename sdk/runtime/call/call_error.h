// An error of a call, told so that the caller finds the mistake. Every text has one format:
//
//   softmax.int: Dimension out of range (expected to be in range of [-2, 1], but got 3) in argument
//   'dim'
//     in softmax.int(self=f32[4, 5], dim=3)
//
// that is the operator; what is wrong, where ATen has a sentence for it in ATen's words, with what
// was expected; and, on a line of its own, the arguments that were given. What is wrong is said
// where it is found (decomps, prims/inference, the plan), which knows no call; the rest is added
// here, where the call is known, and only when an error leaves it.
#ifndef PRIMSET_SDK_RUNTIME_CALL_CALL_ERROR_H_
#define PRIMSET_SDK_RUNTIME_CALL_CALL_ERROR_H_

#include <primset/error.h>

#include <string>

#include "sdk/runtime/call/call.h"

namespace primset::runtime {

// An error whose text has operator and arguments already.
class CallError : public Error {
 public:
  using Error::Error;
};

// The same error, of the same code, with operator and arguments in its text.
CallError in_call(const Call& call, const Error& error);

// f() of the call, its errors told so.
template <typename F>
decltype(auto) explaining(const Call& call, F f) {
  try {
    return f();
  } catch (const CallError&) {
    throw;
  } catch (const Error& e) {
    throw in_call(call, e);
  }
}

// "add.Tensor(self=f32[3, 4], other=f32[5], alpha=2)": what was given, without what the schema says
// when nothing is given. Long lists and strings are cut.
std::string text_of(const Call& call);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CALL_CALL_ERROR_H_
