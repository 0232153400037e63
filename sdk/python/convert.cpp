#include "sdk/python/convert.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "sdk/python/dtypes.h"
#include "sdk/python/tensor_type.h"

namespace nb = nanobind;

namespace primset::python {
namespace {

using detail::Arg;

// A list or tuple, seen as an array; strings are none.
struct Items {
  PyObject** data = nullptr;
  size_t size = 0;
  bool valid = false;

  explicit Items(PyObject* o) {
    if (PyTuple_Check(o)) {
      data = reinterpret_cast<PyTupleObject*>(o)->ob_item;
      size = static_cast<size_t>(PyTuple_GET_SIZE(o));
      valid = true;
    } else if (PyList_Check(o)) {
      data = reinterpret_cast<PyListObject*>(o)->ob_item;
      size = static_cast<size_t>(PyList_GET_SIZE(o));
      valid = true;
    }
  }
};

// A tensor of one element stands for its number, where conversions are allowed.
bool number_of_tensor(PyObject* o, Strictness strictness, Scalar& out) {
  if (strictness == Strictness::exact) return false;
  const Tensor* t = as_tensor(o);
  if (!t || t->dim() != 0 || t->device().is_meta()) return false;
  out = t->item();
  return true;
}

// The integer that stands for `o`; none for an array that is no single number.
nb::object index_of(PyObject* o) {
  nb::object index = nb::steal(PyNumber_Index(o));
  if (index.is_valid()) return index;
  if (!is_foreign_array(o) || !PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
  PyErr_Clear();
  return index;
}

bool to_int(PyObject* o, Strictness strictness, int64_t& out) {
  if (PyLong_CheckExact(o) || (PyIndex_Check(o) && !PyBool_Check(o) && !as_tensor(o))) {
    const nb::object index = index_of(o);
    if (!index.is_valid()) return false;
    out = PyLong_AsLongLong(index.ptr());
    if (out == -1 && PyErr_Occurred()) throw nb::python_error();
    return true;
  }
  Scalar s;
  if (!number_of_tensor(o, strictness, s) || !s.is_integral()) return false;
  out = s.to_int();
  return true;
}

bool is_real(PyObject* o) {
  return PyFloat_Check(o) || PyLong_Check(o) || PyIndex_Check(o) ||
         (Py_TYPE(o)->tp_as_number && Py_TYPE(o)->tp_as_number->nb_float && !as_tensor(o) &&
          !PyComplex_Check(o) && !PyUnicode_Check(o));
}

bool to_double(PyObject* o, Strictness strictness, double& out) {
  if (PyFloat_CheckExact(o)) {
    out = PyFloat_AS_DOUBLE(o);
    return true;
  }
  if (!PyBool_Check(o) && !as_tensor(o) && is_real(o)) {
    if (is_foreign_array(o) && !index_of(o).is_valid()) return false;
    out = PyFloat_AsDouble(o);
    if (out == -1 && PyErr_Occurred()) throw nb::python_error();
    return true;
  }
  Scalar s;
  if (!number_of_tensor(o, strictness, s) || s.is_complex()) return false;
  out = s.to_double();
  return true;
}

// uint64 values beyond int64 keep their bits, as ATen's Scalar does.
Arg integer(PyObject* o) {
  int overflow = 0;
  long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (overflow > 0) {
    v = static_cast<long long>(PyLong_AsUnsignedLongLong(o));
    if (PyErr_Occurred()) throw nb::python_error();
  } else if (overflow < 0) {
    PyErr_SetString(PyExc_OverflowError, "Python int too small for a 64-bit integer");
    throw nb::python_error();
  }
  return Arg(static_cast<int64_t>(v));
}

bool to_number(PyObject* o, Strictness strictness, Arg& out, Scratch& scratch) {
  if (PyFloat_CheckExact(o)) {
    out = Arg(PyFloat_AS_DOUBLE(o));
  } else if (PyBool_Check(o)) {
    out = Arg(o == Py_True);
  } else if (PyLong_Check(o)) {
    out = integer(o);
  } else if (PyComplex_Check(o)) {
    out = Arg(
        scratch.keep(std::complex<double>(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o))));
  } else if (Scalar s; number_of_tensor(o, strictness, s)) {
    out = Arg(scratch.keep(s));
  } else if (as_tensor(o)) {
    return false;
  } else if (PyIndex_Check(o)) {
    const nb::object index = index_of(o);
    if (!index.is_valid()) return false;
    out = integer(index.ptr());
  } else if (is_real(o)) {
    double v = 0;
    if (!to_double(o, strictness, v)) return false;
    out = Arg(v);
  } else {
    return false;
  }
  return true;
}

Scalar scalar_of(const Arg& a) {
  switch (a.kind) {
    case Arg::Kind::integer:
      return a.integer;
    case Arg::Kind::floating:
      return a.floating;
    case Arg::Kind::boolean:
      return a.integer != 0;
    default:
      return *static_cast<const Scalar*>(a.pointer);
  }
}

bool tensor_list(const Type& type, const Items& items, Arg& out, Scratch& scratch) {
  for (size_t i = 0; i < items.size; ++i) {
    if (!as_tensor(items.data[i]) && !(type.optional_element && items.data[i] == Py_None))
      return false;
  }
  auto& list = scratch.tensors.emplace_front();
  list.reserve(items.size);
  for (size_t i = 0; i < items.size; ++i) {
    const Tensor* t = as_tensor(items.data[i]);
    list.push_back(t ? *t : Tensor());
  }
  out = Arg(list);
  return true;
}

bool int_list(const Type& type, PyObject* o, Strictness strictness, Arg& out, Scratch& scratch) {
  const Items items(o);
  if (!items.valid) {
    int64_t one = 0;
    if (strictness == Strictness::exact || type.fixed_size == 0 || !to_int(o, strictness, one))
      return false;
    auto list = scratch.ints(static_cast<size_t>(type.fixed_size));
    std::fill(list.begin(), list.end(), one);
    out = Arg(IntList(list));
    return true;
  }
  auto list = scratch.ints(items.size);
  for (size_t i = 0; i < items.size; ++i) {
    if (!to_int(items.data[i], Strictness::converts, list[i])) return false;
  }
  out = Arg(IntList(list));
  return true;
}

bool double_list(const Items& items, Arg& out, Scratch& scratch) {
  auto& list = scratch.doubles.emplace_front(items.size);
  for (size_t i = 0; i < items.size; ++i) {
    if (!to_double(items.data[i], Strictness::exact, list[i])) return false;
  }
  out = Arg(std::span<const double>(list));
  return true;
}

bool scalar_list(const Items& items, Arg& out, Scratch& scratch) {
  auto& list = scratch.scalar_lists.emplace_front();
  for (size_t i = 0; i < items.size; ++i) {
    Arg one;
    if (!to_number(items.data[i], Strictness::exact, one, scratch)) return false;
    list.push_back(scalar_of(one));
  }
  out = Arg(std::span<const Scalar>(list));
  return true;
}

bool bool_list(const Items& items, Arg& out, Scratch& scratch) {
  auto& list = scratch.bools.emplace_front(new bool[items.size]);
  for (size_t i = 0; i < items.size; ++i) {
    if (!PyBool_Check(items.data[i])) return false;
    list[i] = items.data[i] == Py_True;
  }
  out = Arg(std::span<const bool>(list.get(), items.size));
  return true;
}

bool convert_list(const Type& type, PyObject* o, Strictness strictness, Arg& out,
                  Scratch& scratch) {
  if (type.kind == Kind::integer) return int_list(type, o, strictness, out, scratch);
  const Items items(o);
  if (!items.valid) return false;
  switch (type.kind) {
    case Kind::tensor:
      return tensor_list(type, items, out, scratch);
    case Kind::floating:
      return double_list(items, out, scratch);
    case Kind::scalar:
      return scalar_list(items, out, scratch);
    case Kind::boolean:
      return bool_list(items, out, scratch);
    default:
      return false;
  }
}

template <typename T>
bool instance(PyObject* o, Arg& out) {
  if (!nb::isinstance<T>(o)) return false;
  out = Arg(*nb::inst_ptr<T>(o));
  return true;
}

template <typename T>
bool enumerator(PyObject* o, Arg& out) {
  if (!nb::isinstance<T>(o)) return false;
  out = Arg(nb::cast<T>(nb::handle(o)));
  return true;
}

bool to_string_argument(PyObject* o, Arg& out) {
  if (!PyUnicode_Check(o)) return false;
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(o, &size);
  if (!text) throw nb::python_error();
  out = Arg(std::string_view(text, static_cast<size_t>(size)));
  return true;
}

}  // namespace

bool is_foreign_array(PyObject* o) {
  return !as_tensor(o) && !PyLong_Check(o) && !PyFloat_Check(o) &&
         PyObject_HasAttrString(o, "__dlpack__");
}

bool convert(const Type& type, PyObject* o, Strictness strictness, Arg& out, Scratch& scratch) {
  if (o == Py_None) {
    out = Arg(std::nullopt);
    return type.optional;
  }
  if (type.list) return convert_list(type, o, strictness, out, scratch);
  switch (type.kind) {
    case Kind::tensor:
      if (const Tensor* t = as_tensor(o)) {
        out = Arg(*t);
        return true;
      }
      return strictness == Strictness::converts && !type.writes &&
             to_number(o, Strictness::exact, out, scratch);
    case Kind::scalar:
      return to_number(o, strictness, out, scratch);
    case Kind::integer: {
      int64_t v = 0;
      const bool ok = to_int(o, strictness, v);
      out = Arg(v);
      return ok;
    }
    case Kind::floating: {
      double v = 0;
      const bool ok = to_double(o, strictness, v);
      out = Arg(v);
      return ok;
    }
    case Kind::boolean:
      out = Arg(o == Py_True);
      return PyBool_Check(o);
    case Kind::string:
      return to_string_argument(o, out);
    case Kind::dtype: {
      const auto t = as_dtype(o);
      if (t) out = Arg(*t);
      return t.has_value();
    }
    case Kind::layout:
      return enumerator<Layout>(o, out);
    case Kind::memory_format:
      return enumerator<MemoryFormat>(o, out);
    case Kind::device:
      if (to_string_argument(o, out)) {
        out = Arg(Device(std::string_view(static_cast<const char*>(out.pointer), out.count)));
        return true;
      }
      return instance<Device>(o, out);
    case Kind::generator:
      return instance<Generator>(o, out);
    case Kind::storage:
      return instance<Storage>(o, out);
  }
  return false;
}

// --- results -------------------------------------------------------------------------------------

namespace {

nb::object number(const Scalar& s) {
  switch (s.kind()) {
    case Scalar::Kind::boolean:
      return nb::bool_(s.to_bool());
    case Scalar::Kind::integer:
      return nb::int_(s.to_int());
    case Scalar::Kind::floating:
      return nb::float_(s.to_double());
    default:
      return nb::steal(PyComplex_FromDoubles(s.to_double(), s.imag()));
  }
}

struct ToPython {
  nb::object operator()(std::monostate) const { return nb::none(); }
  nb::object operator()(Tensor& t) const { return wrapped(std::move(t)); }
  nb::object operator()(Scalar& s) const { return number(s); }
  nb::object operator()(int64_t v) const { return nb::int_(v); }
  nb::object operator()(double v) const { return nb::float_(v); }
  nb::object operator()(bool v) const { return nb::bool_(v); }
  nb::object operator()(std::string& v) const { return nb::str(v.c_str(), v.size()); }
  nb::object operator()(DType t) const { return dtype_object(t); }
  template <typename T>
  nb::object operator()(std::vector<T>& list) const {
    nb::list out;
    for (auto&& v : list) {
      T item = std::move(v);
      out.append((*this)(item));
    }
    return out;
  }
  template <typename T>
  nb::object operator()(T& v) const {
    return nb::cast(std::move(v));
  }
};

}  // namespace

PyObject* to_python(const Value& value) {
  Value::Variant variant = value.variant();
  return std::visit(ToPython{}, variant).release().ptr();
}

std::string kind_of(PyObject* o, int depth) {
  if (o == Py_None) return "NoneType";
  if (as_tensor(o)) return "Tensor";
  const Items items(o);
  if (!items.valid && is_foreign_array(o))
    return std::string(Py_TYPE(o)->tp_name) + " (primset.from_dlpack makes a Tensor of it)";
  if (!items.valid) return Py_TYPE(o)->tp_name;
  // A list may hold itself, and any number of kinds.
  constexpr size_t kMostKinds = 4;
  constexpr int kDeepest = 4;
  std::vector<std::string> kinds;
  for (size_t i = 0; i < items.size && depth < kDeepest && kinds.size() < kMostKinds; ++i) {
    std::string kind = kind_of(items.data[i], depth + 1);
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(std::move(kind));
  }
  std::string text;
  for (const std::string& kind : kinds) text += (text.empty() ? "" : ", ") + kind;
  return (PyTuple_Check(o) ? "Tuple[" : "List[") + text + "]";
}

}  // namespace primset::python
