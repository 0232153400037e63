// No signal is delivered to the calling thread while it lives, and threads that are started
// meanwhile never get one. Faults are not blocked.
//
// The kernel writes a signal's frame at the stack pointer. Some libraries' machine code keeps other
// pointers in that register for a while (oneDNN's AVX-512 products do), and data of theirs is
// overwritten when a signal arrives then.
#ifndef PRIMSET_BACKENDS_COMMON_BLOCKED_SIGNALS_H_
#define PRIMSET_BACKENDS_COMMON_BLOCKED_SIGNALS_H_

#include <signal.h>

namespace primset_backend {

class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
      sigdelset(&all, fault);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_BLOCKED_SIGNALS_H_
