#include "sdk/python/tensor_type.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <primset/detail/mismatch.h>

#include "sdk/python/dtypes.h"
#include "sdk/python/errors.h"
#include "sdk/python/exchange.h"
#include "sdk/python/number_slots.h"
#include "sdk/python/operator_type.h"

namespace nb = nanobind;

namespace primset::python {
namespace {

PyTypeObject* g_tensor_type = nullptr;

nb::tuple tuple_of(std::span<const int64_t> values) {
  nb::object out = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(out.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(values[i]));
  return nb::borrow<nb::tuple>(out);
}

// Scalars have the bits of an i64.
nb::object number(const Tensor& t) {
  const Scalar s = t.item();
  if (t.dtype() == DType::u64) return nb::int_(static_cast<uint64_t>(s.to_int()));
  return nb::steal(to_python(Value(s)));
}

nb::object item(const Tensor& t) {
  if (t.numel() != 1)
    throw Error(ErrorCode::runtime, "a Tensor with " + std::to_string(t.numel()) +
                                        " elements cannot be converted to Scalar");
  return number(t);
}

// Nested lists of numbers.
nb::object to_list(const Tensor& t, size_t depth, int64_t offset) {
  if (depth == t.sizes().size()) return number(t.as_strided({}, {}, offset));
  nb::list out;
  for (int64_t i = 0; i < t.sizes()[depth]; ++i)
    out.append(to_list(t, depth + 1, offset + i * t.strides()[depth]));
  return out;
}

nb::object to_list(const Tensor& t) {
  const Tensor host = packed_copy(t);
  return to_list(host, 0, 0);
}

// An operator as a method: t.relu(), t.sum(dim=1).
nb::object method(nb::handle self, const char* name) {
  const Packet* packet = name[0] == '_' && name[1] == '_' ? nullptr : find_packet(name);
  if (!packet)
    throw nb::attribute_error((std::string("'Tensor' object has no attribute '") + name +
                               "', and " + detail::unknown_operator(name))
                                  .c_str());
  return nb::steal(bound_method(*packet, self.ptr()));
}

// Operators that read as attributes: t.T, t.real.
template <Name kName>
nb::object property(nb::handle self) {
  return nb::steal(call_packet(packet<kName>(), {self.ptr()}));
}

nb::object to(nb::handle self, const nb::args& args, const nb::kwargs& kwargs) {
  if (args.size() == 1 && kwargs.empty()) {
    if (nb::isinstance<Device>(args[0]))
      return wrapped(as_tensor(self.ptr())->to(nb::cast<Device>(args[0])));
    if (nb::isinstance<nb::str>(args[0]))
      return wrapped(as_tensor(self.ptr())->to(Device(nb::cast<std::string>(args[0]))));
  }
  return nb::steal(bound_method(packet<"to">(), self.ptr()))(*args, **kwargs);
}

bool truth(const Tensor& t) {
  if (t.numel() != 1)
    throw Error(ErrorCode::runtime,
                "Boolean value of Tensor with " +
                    std::string(t.numel() == 0 ? "no values" : "more than one value") +
                    " is ambiguous");
  return t.item().to_bool();
}

Tensor from_storage(const Storage& storage, nb::handle dtype, const std::vector<int64_t>& size,
                    const std::vector<int64_t>& stride, int64_t offset, bool conj, bool neg) {
  return Tensor::view_of(storage, to_dtype(dtype), size, stride, offset, conj, neg);
}

void define_geometry(nb::class_<Tensor>& type) {
  type.def_prop_ro(
          "shape", [](const Tensor& t) { return tuple_of(t.sizes()); },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def(
          "size", [](const Tensor& t) { return tuple_of(t.sizes()); },
          nb::sig("def size(self) -> tuple[int, ...]"))
      .def(
          "size", [](const Tensor& t, int64_t dim) { return t.size(dim); }, nb::arg("dim"))
      .def(
          "stride", [](const Tensor& t) { return tuple_of(t.strides()); },
          nb::sig("def stride(self) -> tuple[int, ...]"), "Strides in elements.")
      .def(
          "stride", [](const Tensor& t, int64_t dim) { return t.stride(dim); }, nb::arg("dim"))
      .def("storage_offset", &Tensor::storage_offset, "In elements.")
      .def_prop_ro("ndim", &Tensor::dim)
      .def("dim", &Tensor::dim)
      .def("numel", &Tensor::numel)
      .def_prop_ro(
          "dtype", [](const Tensor& t) { return dtype_object(t.dtype()); },
          nb::sig("def dtype(self) -> _primset.dtype"))
      .def_prop_ro("device", &Tensor::device)
      .def_prop_ro("layout", &Tensor::layout, "strided, or sparse_coo, sparse_csr and so on.")
      .def_prop_ro("itemsize", [](const Tensor& t) { return byte_size(t.dtype()); })
      .def("is_conj", &Tensor::is_conj)
      .def("is_neg", &Tensor::is_neg)
      .def("is_contiguous", &Tensor::is_contiguous,
           nb::arg("memory_format") = MemoryFormat::contiguous)
      .def("__len__", [](const Tensor& t) {
        if (t.dim() == 0) throw nb::type_error("len() of a 0-d tensor");
        return t.size(0);
      });
}

void define_data(nb::class_<Tensor>& type) {
  type.def(
          "data_ptr", [](const Tensor& t) { return reinterpret_cast<uintptr_t>(t.data_ptr()); },
          "The CPU address of the first element, after waiting for the device.")
      .def("storage", &Tensor::storage)
      .def("is_alias_of", &Tensor::is_alias_of, nb::arg("other"),
           "Whether both are on the same Storage.")
      .def("item", &item, nb::sig("def item(self) -> bool | int | float | complex"))
      .def(
          "tolist", [](const Tensor& t) { return to_list(t); },
          nb::sig("def tolist(self) -> typing.Any"))
      .def("cpu", &Tensor::cpu)
      .def("pin_memory", &Tensor::pin_memory, nb::arg("device"))
      .def("is_pinned", &Tensor::is_pinned)
      .def("to", &to, nb::sig("def to(self, *args: typing.Any, **kwargs: typing.Any) -> Tensor"),
           "to(device), or any overload of the operator: to(dtype), to(other).")
      .def(
          "numpy",
          [](nb::handle self) { return nb::module_::import_("numpy").attr("asarray")(self); },
          nb::sig("def numpy(self) -> typing.Any"), "A NumPy array on the same memory.")
      .def(
          "__dlpack__",
          [](const Tensor& t, nb::handle, nb::handle max_version, nb::handle, nb::handle copy) {
            return to_dlpack(t, max_version, copy);
          },
          nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
          nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none(),
          nb::sig("def __dlpack__(self, *, stream: typing.Any = None, "
                  "max_version: tuple[int, int] | None = None, "
                  "dl_device: tuple[int, int] | None = None, copy: bool | None = None) "
                  "-> typing.Any"))
      .def("__dlpack_device__", &dlpack_device,
           nb::sig("def __dlpack_device__(self) -> tuple[int, int]"));
}

void define_views(nb::class_<Tensor>& type) {
  type.def_prop_ro(
          "T", [](nb::handle self) { return property<"numpy_T">(self); },
          nb::sig("def T(self) -> Tensor"))
      .def_prop_ro(
          "mT", [](nb::handle self) { return property<"mT">(self); },
          nb::sig("def mT(self) -> Tensor"))
      .def_prop_ro(
          "real", [](nb::handle self) { return property<"real">(self); },
          nb::sig("def real(self) -> Tensor"))
      .def_prop_ro(
          "imag", [](nb::handle self) { return property<"imag">(self); },
          nb::sig("def imag(self) -> Tensor"));
}

void define_conversions(nb::class_<Tensor>& type) {
  type.def("__repr__", [](const Tensor& t) { return to_string(t); })
      .def("__bool__", &truth)
      .def("__int__", [](const Tensor& t) { return nb::int_(item(t)); })
      .def("__float__", [](const Tensor& t) { return nb::float_(item(t)); })
      .def(
          "__complex__",
          [](const Tensor& t) {
            const Scalar s = t.item();
            return nb::steal(PyComplex_FromDoubles(s.to_double(), s.imag()));
          },
          nb::sig("def __complex__(self) -> complex"))
      .def("__index__",
           [](const Tensor& t) {
             if (t.numel() != 1 || !t.item().is_integral())
               throw nb::type_error("only integer tensors of a single element can be an index");
             return nb::int_(number(t));
           })
      .def("__getattr__", &method, nb::sig("def __getattr__(self, name: str) -> Operator"));
}

void define_storage(nb::module_& m) {
  nb::class_<Storage>(m, "Storage",
                      "Memory of one device. Tensors on one Storage are views of each other.")
      .def_prop_ro("device", &Storage::device)
      .def_prop_ro("nbytes", &Storage::byte_size)
      .def("data_ptr",
           [](const Storage& s) { return reinterpret_cast<uintptr_t>(s.host_address()); })
      .def("is_foreign", &Storage::is_foreign)
      .def(
          "__eq__", [](const Storage& a, const Storage& b) { return a == b; }, nb::is_operator())
      .def("__hash__", [](const Storage& s) { return reinterpret_cast<intptr_t>(s.impl()) >> 4; });
}

}  // namespace

PyObject* wrap(Tensor t) {
  if (!t.defined()) return Py_NewRef(Py_None);
  nb::object o = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject*>(g_tensor_type)));
  if (!o.is_valid()) throw nb::python_error();
  new (nb::inst_ptr<void>(o)) Tensor(std::move(t));
  nb::inst_mark_ready(o);
  return o.release().ptr();
}

const Tensor* as_tensor(PyObject* o) {
  if (Py_TYPE(o) != g_tensor_type && !PyType_IsSubtype(Py_TYPE(o), g_tensor_type)) return nullptr;
  return nb::inst_ptr<Tensor>(nb::handle(o));
}

void define_tensor(nb::module_& m) {
  define_storage(m);
  nb::class_<Tensor> type(m, "Tensor", nb::type_slots(tensor_slots()),
                          "A handle to memory of a device with a dtype, sizes and strides.");
  g_tensor_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  define_geometry(type);
  define_data(type);
  define_views(type);
  define_conversions(type);
  define_indexing(type);
  type.def_static("from_storage", &from_storage, nb::arg("storage"), nb::arg("dtype"),
                  nb::arg("size"), nb::arg("stride"), nb::arg("storage_offset") = 0,
                  nb::arg("conj") = false, nb::arg("neg") = false,
                  nb::sig("def from_storage(storage: Storage, dtype: _primset.dtype, size: "
                          "collections.abc.Sequence[int], stride: "
                          "collections.abc.Sequence[int], storage_offset: int = 0, conj: bool = "
                          "False, neg: bool = False) -> Tensor"),
                  "A tensor on `storage` with this geometry; strides and offset count elements.");
}

}  // namespace primset::python
