#include "codegen/emit/llvm/fatal_guard.h"

#include <csetjmp>
#include <mutex>
#include <string>

#include "llvm/Support/ErrorHandling.h"
#include "primset/error.h"

namespace primset::emit {
namespace {

// The innermost run_guarded() of this thread, and what LLVM said.
thread_local std::jmp_buf* way_back = nullptr;
thread_local std::string last_words;

void on_fatal_error(void*, const char* reason, bool) {
  if (way_back == nullptr) return;  // not ours: LLVM goes on to end the process

  last_words = reason;
  std::longjmp(*way_back, 1);
}

// Called where no object with a destructor lives between setjmp and longjmp.
bool survives(const std::function<void()>& f) {
  std::jmp_buf here;
  way_back = &here;
  if (setjmp(here) != 0) {
    way_back = nullptr;
    return false;
  }
  f();
  way_back = nullptr;
  return true;
}

}  // namespace

void run_guarded(const std::function<void()>& f) {
  static std::once_flag installed;
  std::call_once(installed, [] { llvm::install_fatal_error_handler(on_fatal_error); });
  bool survived = false;
  try {
    survived = survives(f);
  } catch (...) {
    way_back = nullptr;
    throw;
  }
  if (!survived) throw Error(ErrorCode::internal, "LLVM: " + last_words);
}

}  // namespace primset::emit
