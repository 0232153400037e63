// Primset's exceptions as Python sees them: primset.Error and one class an error code, each also of
// the built-in class that PyTorch raises in that place (IndexError, NotImplementedError, …).
#ifndef PRIMSET_SDK_PYTHON_ERRORS_H_
#define PRIMSET_SDK_PYTHON_ERRORS_H_

#include <nanobind/nanobind.h>
#include <primset/error.h>

namespace primset::python {

void define_errors(nanobind::module_& m);

// Sets the Python error that stands for the C++ exception in flight. Call it in a catch block.
void set_error_from_current_exception();

// The object that f gives; null with the exception set when it throws.
template <typename F>
PyObject* guarded(F f) noexcept {
  try {
    return f();
  } catch (...) {
    set_error_from_current_exception();
    return nullptr;
  }
}

}  // namespace primset::python

#endif  // PRIMSET_SDK_PYTHON_ERRORS_H_
