// Operators as Python callables: one overload (primset.ops.add.Tensor), and all overloads of a name
// (primset.ops.add), which picks one as ATen does.
#ifndef PRIMSET_SDK_PYTHON_OPERATOR_TYPE_H_
#define PRIMSET_SDK_PYTHON_OPERATOR_TYPE_H_

#include <nanobind/nanobind.h>
#include <primset/invoke.h>

#include <span>
#include <string_view>
#include <vector>

#include "sdk/python/convert.h"
#include "sdk/python/signature.h"

namespace primset::python {

// The arguments of a Python call, as vectorcall passes them.
struct PythonArguments {
  PyObject* const* positional = nullptr;
  size_t count = 0;
  PyObject* keywords =
      nullptr;  // a tuple of names, or null; their values follow the positional ones

  size_t named() const { return keywords ? static_cast<size_t>(PyTuple_GET_SIZE(keywords)) : 0; }
  PyObject* name(size_t k) const { return PyTuple_GET_ITEM(keywords, static_cast<Py_ssize_t>(k)); }
};

class Overload {
 public:
  explicit Overload(std::string_view qualified) : op(qualified), signature(op.schema()) {}

  // New reference; throws.
  PyObject* call(const PythonArguments& arguments) const;
  // The same, when the arguments fit; null and no Python error when they do not.
  PyObject* try_call(const PythonArguments& arguments, Strictness strictness) const;

  const Operator op;
  const Signature signature;

 private:
  bool bind(const PythonArguments& arguments, Strictness strictness, std::span<detail::Arg> out,
            Scratch& scratch) const;
  PyObject* run(const PythonArguments& arguments, std::span<const detail::Arg> args) const;
  PyObject* result(Tensor t, const PythonArguments& arguments) const;
};

// All overloads of a name, in ATen's order.
struct Packet {
  std::string name;
  std::vector<const Overload*> overloads;

  PyObject* call(const PythonArguments& arguments) const;
};

// Each made once, when first asked for. Throw Error{not_implemented} for a name that is not known.
const Overload& overload_named(std::string_view qualified);
const Packet& packet_named(std::string_view base);
// Null when there is none.
const Packet* find_packet(std::string_view base);

// A literal as a template argument: the operator's name.
template <size_t N>
struct Name {
  constexpr Name(const char (&s)[N]) {  // NOLINT: "add" is a Name
    for (size_t i = 0; i < N; ++i) text[i] = s[i];
  }
  char text[N];
};

template <Name kName>
const Packet& packet() {
  static const Packet& p = packet_named(kName.text);
  return p;
}

// primset.invoke, primset.operators, and what primset.ops is made of.
void define_operators(nanobind::module_& m);
// packet(args...) for tensor methods and operators; new reference.
PyObject* call_packet(const Packet& packet, std::initializer_list<PyObject*> args);
// The Python object that calls `packet`, bound to `self`; new reference.
PyObject* bound_method(const Packet& packet, PyObject* self);

}  // namespace primset::python

#endif  // PRIMSET_SDK_PYTHON_OPERATOR_TYPE_H_
