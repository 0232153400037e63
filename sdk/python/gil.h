// Python's lock. When the interpreter ends, a thread that asks for it is ended by an exception that
// no C++ frame may stop (pthread_exit), and a frame that may not throw aborts the process. Here
// such a thread stops instead, and ends with the process.
#ifndef PRIMSET_SDK_PYTHON_GIL_H_
#define PRIMSET_SDK_PYTHON_GIL_H_

#include <nanobind/nanobind.h>
#include <unistd.h>

namespace primset::python {

inline bool interpreter_is_ending() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

// For as long as the process lives.
[[noreturn]] inline void stop_thread() {
  nanobind::set_leak_warnings(false);  // what the thread holds stays to the end
  for (;;) pause();
}

// Whether this thread is the one that ends the interpreter: nobody else holds the lock then.
inline bool ends_the_interpreter() {
  thread_local bool ends = false;
  return ends = ends || (interpreter_is_ending() && PyGILState_Check());
}

template <typename F>
auto or_stop(F take) {
  if (interpreter_is_ending() && !ends_the_interpreter()) stop_thread();
  try {
    return take();
  } catch (...) {  // the interpreter began to end meanwhile
    stop_thread();
  }
}

// Lets other Python threads run while it lives.
class ReleasedGil {
 public:
  ReleasedGil() {
    ends_the_interpreter();  // noted while it holds the lock
    state_ = PyEval_SaveThread();
  }
  ~ReleasedGil() {
    or_stop([this] { PyEval_RestoreThread(state_); });
  }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* state_;
};

// Holds the lock while it lives, in any thread.
class HeldGil {
 public:
  HeldGil() : state_(or_stop([] { return PyGILState_Ensure(); })) {}
  ~HeldGil() { PyGILState_Release(state_); }
  HeldGil(const HeldGil&) = delete;
  HeldGil& operator=(const HeldGil&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace primset::python

#endif  // PRIMSET_SDK_PYTHON_GIL_H_
