// What a thread brings with it when it calls, and must find again when the call returns.
#ifndef PRIMSET_SDK_RUNTIME_SUPPORT_HOST_STATE_H_
#define PRIMSET_SDK_RUNTIME_SUPPORT_HOST_STATE_H_

#include <signal.h>

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace primset::runtime {

// The default floating-point environment of the calling thread while it lives: rounding to nearest,
// denormals kept, no traps. Results do not depend on what the caller set, nor do plans, which
// outlive the call. The caller's is restored, exception flags included. Where it is the default
// already, as it nearly always is, this reads one register.
class DefaultFloatingPoint {
 public:
  DefaultFloatingPoint() {
    if (!is_default()) [[unlikely]]
      enter();
  }
  ~DefaultFloatingPoint() {
    if (entered_) [[unlikely]]
      std::fesetenv(&callers_);
  }
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

 private:
  static bool is_default() {
#if defined(__x86_64__)
    constexpr unsigned kExceptionFlags = 0x3f, kDefault = 0x1f80;
    return (_mm_getcsr() & ~kExceptionFlags) == kDefault;
#elif defined(__aarch64__)
    unsigned long control;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    return control == 0;
#else
    return std::fegetround() == FE_TONEAREST;
#endif
  }
  void enter() {
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
    entered_ = true;
  }

  std::fenv_t callers_;
  bool entered_ = false;
};

// No signal is delivered to the calling thread while it lives, and threads that are started
// meanwhile never get one: signals are for the program's own threads. Faults are not blocked.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
      sigdelset(&all, fault);
    pthread_sigmask(SIG_BLOCK, &all, &callers_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &callers_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t callers_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SUPPORT_HOST_STATE_H_
