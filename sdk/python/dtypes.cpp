#include "sdk/python/dtypes.h"

#include <nanobind/stl/string.h>
#include <primset/error.h>

#include <array>
#include <string>

namespace nb = nanobind;

namespace primset::python {
namespace {

std::array<PyObject*, kDTypeCodes> g_objects{};  // by code; the module holds them
PyTypeObject* g_dtype_type = nullptr;

std::string torch_name(const DTypeObject& o) {
  return std::string(info(o.dtype).torch_name);
}

}  // namespace

void define_dtypes(nb::module_& m) {
  nb::class_<DTypeObject> type(m, "dtype", "The type of a tensor's elements.");
  g_dtype_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  type.def_prop_ro("name", &torch_name, "As PyTorch spells it: \"float32\".")
      .def_prop_ro(
          "itemsize", [](const DTypeObject& o) { return byte_size(o.dtype); }, "Bytes an element.")
      .def_prop_ro("is_floating_point",
                   [](const DTypeObject& o) { return primset::is_floating(o.dtype); })
      .def_prop_ro("is_complex", [](const DTypeObject& o) { return primset::is_complex(o.dtype); })
      .def("__repr__", [](const DTypeObject& o) { return "primset." + torch_name(o); })
      // Each dtype is one object, so that `is`, == and dict keys agree; a pickle is its name.
      .def("__reduce__", [](const DTypeObject& o) { return torch_name(o); });
  nb::list all;
  for (int code = 0; code < kDTypeCodes; ++code) {
    const auto t = static_cast<DType>(code);
    if (info(t).bits == 0) continue;
    nb::object o = nb::cast(DTypeObject{t});
    m.attr(torch_name(DTypeObject{t}).c_str()) = o;
    all.append(o);
    g_objects[static_cast<size_t>(code)] = o.ptr();
  }
  m.attr("_dtypes") = all;
}

nb::object dtype_object(DType t) {
  return nb::borrow(g_objects[static_cast<size_t>(t)]);
}

std::optional<DType> as_dtype(nb::handle object) {
  if (Py_TYPE(object.ptr()) != g_dtype_type) return std::nullopt;
  return nb::inst_ptr<DTypeObject>(object)->dtype;
}

DType to_dtype(nb::handle object) {
  if (auto t = as_dtype(object)) return *t;
  if (nb::isinstance<nb::str>(object)) {
    if (auto t = dtype_from_name(nb::cast<std::string>(object))) return *t;
  }
  throw Error(ErrorCode::type, "expected a primset.dtype or the name of one, but found " +
                                   nb::cast<std::string>(nb::repr(object)));
}

}  // namespace primset::python
