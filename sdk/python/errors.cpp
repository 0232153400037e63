#include "sdk/python/errors.h"

#include <array>
#include <string>

namespace nb = nanobind;

namespace primset::python {
namespace {

struct Class {
  ErrorCode code;
  const char* name;
  PyObject** builtin;
  const char* doc;
};

const auto& classes() {
  static const std::array kClasses = {
      Class{ErrorCode::runtime, "RuntimeError", &PyExc_RuntimeError,
            "A wrong dtype, shape, dim or device, or memory that overlaps."},
      Class{ErrorCode::index, "IndexError", &PyExc_IndexError, "An index or dim out of range."},
      Class{ErrorCode::value, "ValueError", &PyExc_ValueError,
            "An argument's value is not allowed."},
      Class{ErrorCode::type, "TypeError", &PyExc_TypeError, "An argument of the wrong kind."},
      Class{ErrorCode::not_implemented, "NotImplementedError", &PyExc_NotImplementedError,
            "No such operator, dtype or combination on this device."},
      Class{ErrorCode::linalg, "LinAlgError", &PyExc_RuntimeError, "A factorisation failed."},
      Class{ErrorCode::out_of_memory, "OutOfMemoryError", &PyExc_RuntimeError,
            "The device has no memory left."},
      Class{ErrorCode::device_lost, "DeviceLostError", &PyExc_RuntimeError,
            "The device stopped answering."},
      Class{ErrorCode::plugin, "PluginError", &PyExc_RuntimeError,
            "A plugin is missing, of the wrong version, or returned an error."},
      Class{ErrorCode::corrupt, "CorruptError", &PyExc_RuntimeError,
            "A file or serialised object does not parse."},
      Class{ErrorCode::internal, "InternalError", &PyExc_RuntimeError,
            "Primset's own mistake: please report it."},
  };
  return kClasses;
}

// By ErrorCode; they live as long as the interpreter.
std::array<PyObject*, 16> g_types{};

}  // namespace

void define_errors(nb::module_& m) {
  PyObject* base =
      PyErr_NewExceptionWithDoc("primset.Error", "What Primset raises.", PyExc_Exception, nullptr);
  if (!base) throw nb::python_error();
  m.attr("Error") = nb::borrow(base);
  for (const Class& c : classes()) {
    const nb::tuple bases = nb::make_tuple(nb::borrow(base), nb::borrow(*c.builtin));
    const std::string name = std::string("primset.") + c.name;
    PyObject* type = PyErr_NewExceptionWithDoc(name.c_str(), c.doc, bases.ptr(), nullptr);
    if (!type) throw nb::python_error();
    nb::borrow(type).attr("code") = nb::str(primset::name(c.code));
    m.attr(c.name) = nb::borrow(type);
    g_types[static_cast<size_t>(c.code)] = type;
  }
  nb::register_exception_translator(
      [](const std::exception_ptr& p, void*) {
        try {
          std::rethrow_exception(p);
        } catch (const Error&) {
          set_error_from_current_exception();
        }
      },
      nullptr);
}

void set_error_from_current_exception() {
  try {
    throw;
  } catch (const Error& e) {
    PyErr_SetString(g_types[static_cast<size_t>(e.code())], e.what());
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

}  // namespace primset::python
