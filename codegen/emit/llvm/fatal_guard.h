// Keeps LLVM from ending the process. LLVM reports what it cannot compile by calling its fatal
// error handler and then exit(). Inside run_guarded() that call comes back here instead.
//
// The way back is a longjmp over LLVM's frames, which leaks what they own: acceptable, since the
// kernel verifier refuses everything known to lead there and this is the net below it.
#ifndef PRIMSET_CODEGEN_EMIT_LLVM_FATAL_GUARD_H_
#define PRIMSET_CODEGEN_EMIT_LLVM_FATAL_GUARD_H_

#include <functional>

namespace primset::emit {

// Runs f. Throws primset::Error{internal} with LLVM's message if LLVM gave up. Exceptions of f's
// own pass through. Not reentrant; any number of threads may be inside at once.
void run_guarded(const std::function<void()>& f);

}  // namespace primset::emit

#endif  // PRIMSET_CODEGEN_EMIT_LLVM_FATAL_GUARD_H_
