// Binding and calling one overload, and choosing one of several.
#include <primset/detail/mismatch.h>

#include <array>

#include "sdk/python/errors.h"
#include "sdk/python/gil.h"
#include "sdk/python/operator_type.h"
#include "sdk/python/tensor_type.h"

namespace nb = nanobind;

namespace primset::python {
namespace {

using detail::Arg;

constexpr size_t kInlineArguments = 24;

std::string utf8(PyObject* o) {
  const char* text = PyUnicode_AsUTF8(o);
  if (!text) throw nb::python_error();
  return text;
}

// Interned names are mostly the same object; others compare as text.
int find_parameter(const Signature& s, PyObject* name) {
  for (size_t i = 0; i < s.parameters.size(); ++i) {
    if (s.parameters[i].interned == name) return static_cast<int>(i);
  }
  for (size_t i = 0; i < s.parameters.size(); ++i) {
    if (PyUnicode_Compare(s.parameters[i].interned, name) == 0) return static_cast<int>(i);
  }
  return -1;
}

// What is wrong with the value itself, told with the argument that it was given for.
[[noreturn]] void throw_named(const Signature& s, const Parameter& p, PyObject* value) {
  try {
    throw;
  } catch (const nb::python_error& e) {
    if (!e.matches(PyExc_OverflowError)) throw;
  } catch (const Error& e) {
    throw Error(e.code(), s.base + ": " + e.what() + " in argument '" + p.name + "'");
  }
  PyErr_Format(PyExc_OverflowError,
               "%s: argument '%s' is %.80R, which no 64-bit integer holds; expected -2**63 to "
               "2**63 - 1",
               s.base.c_str(), p.name.c_str(), value);
  throw nb::python_error();
}

class Binder {
 public:
  Binder(const Signature& s, const PythonArguments& given, Strictness strictness,
         std::span<Arg> out, Scratch& scratch)
      : s_(s), given_(given), strictness_(strictness), out_(out), scratch_(scratch) {}

  bool bind() {
    if (given_.count > s_.positional) return false;
    for (size_t i = 0; i < given_.count; ++i) {
      if (!put(i, given_.positional[i])) return false;
    }
    for (size_t k = 0; k < given_.named(); ++k) {
      const int i = find_parameter(s_, given_.name(k));
      if (i < 0 || out_[static_cast<size_t>(i)].kind != Arg::Kind::absent) return false;
      if (!put(static_cast<size_t>(i), given_.positional[given_.count + k])) return false;
    }
    for (size_t i = given_.count; i < out_.size(); ++i) {
      if (out_[i].kind == Arg::Kind::absent && s_.parameters[i].fallback.empty()) return false;
    }
    return true;
  }

 private:
  bool put(size_t i, PyObject* value) {
    try {
      return convert(s_.parameters[i], value, strictness_, out_[i], scratch_);
    } catch (...) {
      throw_named(s_, s_.parameters[i], value);
    }
  }

  const Signature& s_;
  const PythonArguments& given_;
  const Strictness strictness_;
  const std::span<Arg> out_;
  Scratch& scratch_;
};

bool may_stand_for(PyObject* value, const Parameter& parameter) {
  Arg out;
  Scratch scratch;
  try {
    return convert(parameter, value, Strictness::converts, out, scratch);
  } catch (const std::exception&) {
    return true;  // it fits in kind; what else is wrong was said already
  }
}

// Why none of them takes the arguments.
Error mismatch(const std::string& name, std::span<const Overload* const> overloads,
               const PythonArguments& given) {
  detail::GivenArguments seen;
  seen.positional = given.count;
  for (size_t k = 0; k < given.named(); ++k) seen.keywords.push_back(utf8(given.name(k)));
  for (size_t i = 0; i < given.count + given.named(); ++i)
    seen.kinds.push_back(kind_of(given.positional[i]));
  seen.fits = [&](size_t overload, size_t parameter, size_t value) {
    return may_stand_for(given.positional[value],
                         overloads[overload]->signature.parameters[parameter]);
  };
  std::vector<Operator> operators;
  for (const Overload* o : overloads) operators.push_back(o->op);
  return detail::mismatch(name, operators, seen);
}

}  // namespace

bool Overload::bind(const PythonArguments& arguments, Strictness strictness, std::span<Arg> out,
                    Scratch& scratch) const {
  return Binder(signature, arguments, strictness, out, scratch).bind();
}

PyObject* Overload::try_call(const PythonArguments& arguments, Strictness strictness) const {
  Arg few[kInlineArguments];
  std::vector<Arg> many;
  const size_t n = signature.parameters.size();
  if (n > kInlineArguments) many.resize(n);
  const std::span<Arg> args = n > kInlineArguments ? std::span(many) : std::span(few, n);
  Scratch scratch;
  if (!bind(arguments, strictness, args, scratch)) return nullptr;
  return run(arguments, args);
}

PyObject* Overload::call(const PythonArguments& arguments) const {
  if (PyObject* o = try_call(arguments, Strictness::converts)) return o;
  const Overload* const only[] = {this};
  throw mismatch(std::string(op.name()), only, arguments);
}

// What was written is returned as the very object that was passed.
PyObject* Overload::result(Tensor t, const PythonArguments& arguments) const {
  if (signature.writes) {
    for (size_t i = 0; i < arguments.count + arguments.named(); ++i) {
      const Tensor* given = as_tensor(arguments.positional[i]);
      if (given && given->is_same(t)) return Py_NewRef(arguments.positional[i]);
    }
  }
  return wrap(std::move(t));
}

PyObject* Overload::run(const PythonArguments& arguments, std::span<const Arg> args) const {
  const auto& returns = signature.returns;
  auto is_tensor = [](const Type& t) { return t.kind == Kind::tensor && !t.list; };
  if (returns.size() == 1 && is_tensor(returns[0])) {
    Tensor t;
    {
      const ReleasedGil released;
      t = detail::call_tensor(op, args);
    }
    return result(std::move(t), arguments);
  }
  std::vector<Value> values;
  {
    const ReleasedGil released;
    values = detail::call_values(op, args);
  }
  auto one = [&](Value& v) {
    if (v.is<Tensor>()) return result(v.tensor(), arguments);
    return to_python(v);
  };
  if (values.empty()) return Py_NewRef(Py_None);
  if (values.size() == 1) return one(values[0]);
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  if (!tuple.is_valid()) throw nb::python_error();
  for (size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), one(values[i]));
  return tuple.release().ptr();
}

// The first overload that takes the arguments as they are, else the first that takes them
// converted. Overloads with out= are meant only where it is given, which their missing arguments
// see to.
PyObject* Packet::call(const PythonArguments& arguments) const {
  if (overloads.size() == 1) return overloads[0]->call(arguments);
  for (const Strictness strictness : {Strictness::exact, Strictness::converts}) {
    for (const Overload* o : overloads) {
      if (PyObject* result = o->try_call(arguments, strictness)) return result;
    }
  }
  throw mismatch(name, overloads, arguments);
}

}  // namespace primset::python
