// The buffer protocol: NumPy arrays, array.array, bytes and memoryviews. And tensors from nested
// lists.
#include <nanobind/stl/string.h>
#include <primset/detail/call.h>
#include <primset/device.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "sdk/python/convert.h"
#include "sdk/python/dtypes.h"
#include "sdk/python/errors.h"
#include "sdk/python/exchange.h"
#include "sdk/python/gil.h"
#include "sdk/python/tensor_type.h"

namespace nb = nanobind;

namespace primset::python {
namespace {

// --- formats (the struct module's letters) -------------------------------------------------------

constexpr std::pair<DType, const char*> kFormats[] = {
    {DType::boolean, "?"}, {DType::u8, "B"},   {DType::i8, "b"},  {DType::i16, "h"},
    {DType::u16, "H"},     {DType::i32, "i"},  {DType::u32, "I"}, {DType::i64, "q"},
    {DType::u64, "Q"},     {DType::f16, "e"},  {DType::f32, "f"}, {DType::f64, "d"},
    {DType::c64, "Zf"},    {DType::c128, "Zd"}};

// Null for what the struct module does not know.
const char* format_of(DType t) {
  for (const auto& [dtype, format] : kFormats) {
    if (dtype == t) return format;
  }
  return nullptr;
}

// Letters whose width is the machine's are told apart by the item's size.
std::optional<DType> dtype_of_format(std::string_view format, Py_ssize_t itemsize) {
  if (!format.empty() && (format[0] == '@' || format[0] == '=' || format[0] == '<' ||
                          (format[0] == '>' && itemsize == 1)))
    format.remove_prefix(1);
  if (format == "Zf" || format == "F") return DType::c64;
  if (format == "Zd" || format == "D") return DType::c128;
  if (format.size() != 1) return std::nullopt;
  const char c = format[0];
  if (c == '?') return DType::boolean;
  if (c == 'e') return DType::f16;
  if (c == 'f') return DType::f32;
  if (c == 'd') return DType::f64;
  const bool is_signed = std::string_view("bhilqn").find(c) != std::string_view::npos;
  if (!is_signed && std::string_view("BcHILQN").find(c) == std::string_view::npos)
    return std::nullopt;
  constexpr std::array kSigned = {DType::i8, DType::i16, DType::i32, DType::i64};
  constexpr std::array kUnsigned = {DType::u8, DType::u16, DType::u32, DType::u64};
  const int log = std::countr_zero(static_cast<uint64_t>(itemsize));
  if (log > 3) return std::nullopt;
  return (is_signed ? kSigned : kUnsigned)[static_cast<size_t>(log)];
}

// --- in ------------------------------------------------------------------------------------------

// Lets go of a buffer wherever the last tensor dies. After the interpreter's end nobody is left to
// take it back.
void release(Py_buffer* view) {
  if (!Py_IsInitialized() || interpreter_is_ending()) return;
  const HeldGil gil;
  PyBuffer_Release(view);
  delete view;
}

struct View {
  std::shared_ptr<Py_buffer> buffer;
  DType dtype = DType::f32;
  std::vector<int64_t> sizes, strides;
  int64_t numel = 1;
};

View view_of(nb::handle source, bool writable) {
  View v;
  auto* raw = new Py_buffer;
  const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(source.ptr(), raw, flags)) {
    delete raw;
    throw nb::python_error();
  }
  v.buffer = std::shared_ptr<Py_buffer>(raw, &release);
  const auto dtype = dtype_of_format(raw->format ? raw->format : "B", raw->itemsize);
  if (!dtype)
    throw Error(ErrorCode::type,
                std::string("from_buffer: no dtype holds the format '") + raw->format + "'");
  v.dtype = *dtype;
  for (int i = 0; i < raw->ndim; ++i) {
    v.sizes.push_back(raw->shape[i]);
    v.numel *= raw->shape[i];
    if (raw->strides[i] % raw->itemsize != 0)
      throw Error(ErrorCode::value, "from_buffer: a stride of " + std::to_string(raw->strides[i]) +
                                        " bytes is no multiple of the element's " +
                                        std::to_string(raw->itemsize));
    v.strides.push_back(raw->strides[i] / raw->itemsize);
  }
  return v;
}

Tensor on_memory_of(nb::handle source) {
  const View v = view_of(source, true);
  if (v.numel == 0) return Tensor::empty_strided(v.sizes, v.strides, v.dtype, Device::cpu());
  return Tensor::from_memory(v.buffer->buf, v.sizes, v.strides, v.dtype, Device::cpu(),
                             {[owner = v.buffer]() mutable { owner.reset(); }, {}});
}

Tensor copy_of_buffer(nb::handle source) {
  const View v = view_of(source, false);
  Tensor out = Tensor::empty(v.sizes, v.dtype, Device::cpu());
  const auto bytes = static_cast<Py_ssize_t>(v.numel) * v.buffer->itemsize;
  if (bytes && PyBuffer_ToContiguous(out.data_ptr(), v.buffer.get(), bytes, 'C'))
    throw nb::python_error();
  return out;
}

// --- nested lists --------------------------------------------------------------------------------

// Of the dtype that is asked for, if one is.
struct Numbers {
  std::optional<DType> asked;
  std::vector<int64_t> sizes;
  std::vector<Scalar> values;
  Scalar::Kind kind = Scalar::Kind::boolean;
  bool any = false;

  void add(PyObject* o) {
    Scalar s;
    if (const Tensor* t = as_tensor(o)) {
      s = t->item();
    } else if (PyBool_Check(o)) {
      s = Scalar(o == Py_True);
    } else if (PyComplex_Check(o)) {
      s = std::complex<double>(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o));
    } else if (PyIndex_Check(o)) {
      s = integer(o);
    } else {
      const double v = PyFloat_AsDouble(o);
      if (v == -1 && PyErr_Occurred()) no_number(o);
      s = v;
    }
    require_fits(s);
    kind = std::max(kind, s.kind());
    any = true;
    values.push_back(s);
  }

  // Integers beyond 63 bits are what u64 and floating dtypes make of them.
  Scalar integer(PyObject* o) const {
    const nb::object index = nb::steal(PyNumber_Index(o));
    if (!index.is_valid()) throw nb::python_error();
    int overflow = 0;
    const int64_t v = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    if (!overflow) return v;
    if (asked && overflow > 0 && *asked == DType::u64) {
      const unsigned long long bits = PyLong_AsUnsignedLongLong(index.ptr());
      if (!PyErr_Occurred()) return static_cast<int64_t>(bits);
      PyErr_Clear();
    } else if (asked && (is_floating(*asked) || is_complex(*asked) || is_bool(*asked))) {
      return PyLong_AsDouble(index.ptr());
    }
    PyErr_Format(
        PyExc_OverflowError,
        "tensor: %.80R is beyond what %s holds; name a floating dtype for it, or uint64 for "
        "numbers up to 2**64 - 1",
        index.ptr(), asked ? info(*asked).torch_name.data() : "int64");
    throw nb::python_error();
  }

  // As ATen's, but of floats: they become infinite where they are too great.
  void require_fits(const Scalar& s) const {
    if (!asked || is_bool(*asked) || is_complex(*asked)) return;
    if (s.is_complex()) {
      PyErr_Format(PyExc_TypeError, "tensor: complex numbers are no elements of dtype %s",
                   info(*asked).torch_name.data());
      throw nb::python_error();
    }
    if (!is_integral(*asked)) return;
    const int bits = static_cast<int>(primset::bits(*asked));
    const bool is_signed = is_signed_integer(*asked);
    const double end = std::ldexp(1.0, is_signed ? bits - 1 : bits), x = s.to_double();
    const double least = is_signed ? -end : s.is_integral() ? 1 - end : 0;
    const bool whole = bits == 64 && s.is_integral();
    if (whole || (x >= least && (bits == 64 ? x < end : x <= end - 1))) return;
    throw Error(ErrorCode::runtime, std::string("value cannot be converted to type ") +
                                        std::string(info(*asked).torch_name) + " without overflow");
  }

  void walk(PyObject* o, size_t depth) {
    if (!PyList_Check(o) && !PyTuple_Check(o)) {
      if (depth != sizes.size()) ragged(depth);
      return add(o);
    }
    const Py_ssize_t n = PySequence_Size(o);
    if (depth == sizes.size() && values.empty() && !any)
      sizes.push_back(n);
    else if (depth >= sizes.size() || sizes[depth] != n)
      ragged(depth);
    for (Py_ssize_t i = 0; i < n; ++i) walk(PySequence_Fast_GET_ITEM(o, i), depth + 1);
  }

  [[noreturn]] static void ragged(size_t depth) {
    throw Error(ErrorCode::value, "tensor: the lists at dimension " + std::to_string(depth) +
                                      " have different lengths");
  }

  [[noreturn]] static void no_number(PyObject* o) {
    PyErr_Format(PyExc_TypeError, "tensor: expected numbers or lists of them, but found type '%s'",
                 Py_TYPE(o)->tp_name);
    throw nb::python_error();
  }

  DType dtype() const {
    if (!any) return DType::f32;
    switch (kind) {
      case Scalar::Kind::boolean:
        return DType::boolean;
      case Scalar::Kind::integer:
        return DType::i64;
      case Scalar::Kind::floating:
        return DType::f32;
      default:
        return DType::c64;
    }
  }

  template <typename T, typename F>
  Tensor pack(F f) const {
    std::vector<T> out;
    out.reserve(values.size());
    for (const Scalar& s : values) out.push_back(f(s));
    return Tensor::of(std::span<const T>(out), sizes, Device::cpu());
  }

  // At full precision; the caller converts to what was asked for.
  Tensor tensor() const {
    switch (any ? kind : Scalar::Kind::floating) {
      case Scalar::Kind::boolean: {
        Tensor t = Tensor::empty(sizes, DType::boolean, Device::cpu());
        auto* p = static_cast<bool*>(t.data_ptr());
        for (const Scalar& s : values) *p++ = s.to_bool();
        return t;
      }
      case Scalar::Kind::integer:
        return pack<int64_t>([](const Scalar& s) { return s.to_int(); });
      case Scalar::Kind::floating:
        return pack<double>([](const Scalar& s) { return s.to_double(); });
      default:
        return pack<std::complex<double>>([](const Scalar& s) { return s.to_complex(); });
    }
  }
};

Tensor converted(const Tensor& t, DType dtype) {
  if (t.dtype() == dtype) return t;
  static const Operator to("_to_copy");
  const detail::Arg args[] = {t, dtype};
  return detail::call_tensor(to, args);
}

Device device_argument(nb::handle device) {
  if (device.is_none()) return current_device();
  if (nb::isinstance<Device>(device)) return nb::cast<Device>(device);
  if (nb::isinstance<nb::str>(device)) return Device(nb::cast<std::string>(device));
  PyErr_Format(PyExc_TypeError,
               "tensor(): argument 'device' must be Device or str, not %s; str(device) may name it",
               Py_TYPE(device.ptr())->tp_name);
  throw nb::python_error();
}

nb::object tensor(nb::handle data, nb::handle dtype, nb::handle device) {
  Tensor t;
  DType natural;
  if (const Tensor* given = as_tensor(data.ptr())) {
    t = packed_copy(*given);
    natural = t.dtype();
  } else if (PyObject_CheckBuffer(data.ptr())) {
    t = copy_of_buffer(data);
    natural = t.dtype();
  } else if (is_foreign_array(data.ptr())) {
    const nb::object shared = nb::module_::import_("primset").attr("from_dlpack")(data);
    t = packed_copy(*as_tensor(shared.ptr()));
    natural = t.dtype();
  } else {
    Numbers numbers;
    if (!dtype.is_none()) numbers.asked = to_dtype(dtype);
    numbers.walk(data.ptr(), 0);
    t = numbers.tensor();
    natural = numbers.dtype();
  }
  t = converted(t, dtype.is_none() ? natural : to_dtype(dtype));
  return wrapped(t.to(device_argument(device)));
}

}  // namespace

Tensor packed_copy(const Tensor& t) {
  Tensor out = Tensor::empty(t.sizes(), t.dtype(), Device::cpu());
  t.copy_to_host(out.data_ptr(), static_cast<uint64_t>(out.numel()) * byte_size(out.dtype()));
  return out;
}

// --- out -----------------------------------------------------------------------------------------

// 0, or -1 with a Python error.
int fill_view(PyObject* self, Py_buffer* view, int flags) {
  const Tensor& t = *as_tensor(self);
  const char* format = format_of(t.dtype());
  const char* why = !format ? "NumPy and the buffer protocol have no type for this dtype"
                    : !t.device().is_cpu()      ? "the tensor is not on the CPU; call cpu() first"
                    : t.is_conj() || t.is_neg() ? "call resolve_conj() or resolve_neg() first"
                    : !(flags & PyBUF_ND) || (!(flags & PyBUF_STRIDES) && !t.is_contiguous())
                        ? "the tensor is not contiguous"
                        : nullptr;
  if (why) {
    PyErr_SetString(PyExc_BufferError, why);
    return -1;
  }
  const auto rank = static_cast<size_t>(t.dim());
  auto dims = std::make_unique<Py_ssize_t[]>(2 * rank + 1);
  const auto itemsize = static_cast<Py_ssize_t>(byte_size(t.dtype()));
  for (size_t i = 0; i < rank; ++i) {
    dims[i] = t.sizes()[i];
    dims[rank + i] = t.strides()[i] * itemsize;
  }
  view->buf = t.data_ptr();
  view->len = t.numel() * itemsize;
  view->readonly = 0;
  view->itemsize = itemsize;
  view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
  view->ndim = static_cast<int>(rank);
  view->shape = dims.get();
  view->strides = flags & PyBUF_STRIDES ? dims.get() + rank : nullptr;
  view->suboffsets = nullptr;
  view->internal = dims.release();
  view->obj = Py_NewRef(self);
  return 0;
}

// Called by Python, which no exception may reach.
int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  view->obj = nullptr;
  try {
    return fill_view(self, view, flags);
  } catch (...) {
    set_error_from_current_exception();
    return -1;
  }
}

void release_buffer(PyObject*, Py_buffer* view) {
  delete[] static_cast<Py_ssize_t*>(view->internal);
}

void define_buffers(nb::module_& m) {
  m.def(
      "from_buffer", [](nb::handle source) { return wrapped(on_memory_of(source)); },
      nb::arg("source"), nb::sig("def from_buffer(source: typing.Any) -> Tensor"),
      "A tensor on the memory of an object with the buffer protocol (NumPy arrays, array.array,\n"
      "bytearray, memoryview), without a copy. The object must be writable.");
  m.def("tensor", &tensor, nb::arg("data"), nb::arg("dtype") = nb::none(), nb::kw_only(),
        nb::arg("device") = nb::none(),
        nb::sig("def tensor(data: typing.Any, dtype: dtype | None = None, *, "
                "device: Device | str | None = None) -> Tensor"),
        "A new tensor with a copy of the data: numbers in nested lists, an array, or a tensor.");
}

}  // namespace primset::python
