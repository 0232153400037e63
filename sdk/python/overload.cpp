// Binding and calling one overload, and choosing one of several.
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

class Binder {
 public:
  Binder(const Signature& s, const PythonArguments& given, Strictness strictness,
         std::span<Arg> out, Scratch& scratch, std::string* why)
      : s_(s), given_(given), strictness_(strictness), out_(out), scratch_(scratch), why_(why) {}

  bool bind() {
    if (given_.count > s_.positional)
      return fail([&] {
        return s_.base + "() takes " + std::to_string(s_.positional) +
               " positional argument(s) but " + std::to_string(given_.count) +
               " was/were given. Declaration: " + s_.schema;
      });
    for (size_t i = 0; i < given_.count; ++i) {
      if (!put(i, given_.positional[i])) return false;
    }
    const size_t named =
        given_.keywords ? static_cast<size_t>(PyTuple_GET_SIZE(given_.keywords)) : 0;
    for (size_t k = 0; k < named; ++k) {
      if (!put_named(PyTuple_GET_ITEM(given_.keywords, static_cast<Py_ssize_t>(k)),
                     given_.positional[given_.count + k]))
        return false;
    }
    for (size_t i = given_.count; i < out_.size(); ++i) {
      if (out_[i].kind == Arg::Kind::absent && s_.parameters[i].fallback.empty())
        return fail([&] {
          return s_.base + "() is missing value for argument '" + s_.parameters[i].name +
                 "'. Declaration: " + s_.schema;
        });
    }
    return true;
  }

 private:
  template <typename Text>
  bool fail(Text text) {
    if (why_) *why_ = text();
    return false;
  }
  bool put(size_t i, PyObject* value) {
    if (convert(s_.parameters[i], value, strictness_, out_[i], scratch_)) return true;
    return fail([&] {
      return s_.base + "() Expected a value of type '" + s_.parameters[i].text +
             "' for argument '" + s_.parameters[i].name + "' but instead found type '" +
             kind_of(value) + "'. Position: " + std::to_string(i) + ". Declaration: " + s_.schema;
    });
  }
  bool put_named(PyObject* name, PyObject* value) {
    const int i = find_parameter(s_, name);
    if (i < 0)
      return fail([&] {
        return "Unknown keyword argument '" + utf8(name) + "' for operator '" + s_.base +
               (s_.overload.empty() ? "" : "." + s_.overload) + "'. Schema: " + s_.schema;
      });
    if (out_[static_cast<size_t>(i)].kind != Arg::Kind::absent)
      return fail(
          [&] { return s_.base + "() got multiple values for argument '" + utf8(name) + "'"; });
    return put(static_cast<size_t>(i), value);
  }

  const Signature& s_;
  const PythonArguments& given_;
  const Strictness strictness_;
  const std::span<Arg> out_;
  Scratch& scratch_;
  std::string* const why_;
};

}  // namespace

bool Overload::bind(const PythonArguments& arguments, Strictness strictness, std::span<Arg> out,
                    Scratch& scratch, std::string* why) const {
  return Binder(signature, arguments, strictness, out, scratch, why).bind();
}

std::string Overload::mismatch(const PythonArguments& arguments) const {
  std::vector<Arg> args(signature.parameters.size());
  Scratch scratch;
  std::string why;
  bind(arguments, Strictness::converts, args, scratch, &why);
  return why;
}

PyObject* Overload::try_call(const PythonArguments& arguments, Strictness strictness) const {
  Arg few[kInlineArguments];
  std::vector<Arg> many;
  const size_t n = signature.parameters.size();
  if (n > kInlineArguments) many.resize(n);
  const std::span<Arg> args = n > kInlineArguments ? std::span(many) : std::span(few, n);
  Scratch scratch;
  if (!bind(arguments, strictness, args, scratch, nullptr)) return nullptr;
  return run(arguments, args);
}

PyObject* Overload::call(const PythonArguments& arguments) const {
  if (PyObject* o = try_call(arguments, Strictness::converts)) return o;
  throw Error(ErrorCode::type, mismatch(arguments));
}

// What was written is returned as the very object that was passed.
PyObject* Overload::result(Tensor t, const PythonArguments& arguments) const {
  if (signature.writes) {
    const size_t named =
        arguments.keywords ? static_cast<size_t>(PyTuple_GET_SIZE(arguments.keywords)) : 0;
    for (size_t i = 0; i < arguments.count + named; ++i) {
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
  std::string reasons;
  for (const Overload* o : overloads) reasons += "\n  " + o->mismatch(arguments);
  throw Error(ErrorCode::type, "no overload of " + name + " takes these arguments:" + reasons);
}

}  // namespace primset::python
