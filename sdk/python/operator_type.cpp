#include "sdk/python/operator_type.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <primset/detail/mismatch.h>
#include <structmember.h>

#include <memory>
#include <unordered_map>

#include "sdk/python/dtypes.h"
#include "sdk/python/errors.h"

namespace nb = nanobind;

namespace primset::python {
namespace {

// --- the registry --------------------------------------------------------------------------------

// Names in, what was made of them out. Entries live as long as the process. The GIL guards it.
struct Registry {
  std::unordered_map<std::string, std::vector<std::string>> qualified;  // by base name
  std::unordered_map<std::string, std::unique_ptr<const Overload>> overloads;
  std::unordered_map<std::string, std::unique_ptr<const Packet>> packets;

  static Registry& instance() {
    static Registry* registry = new Registry;
    return *registry;
  }

 private:
  Registry() {
    for (std::string& name : operator_names()) {
      std::string base = name.substr(0, name.find('.'));
      qualified[std::move(base)].push_back(std::move(name));
    }
  }
};

// --- the Python types ----------------------------------------------------------------------------

// A callable: an overload, or a packet with or without a bound self.
struct CallableObject {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  const Overload* overload;
  const Packet* packet;
  PyObject* self;
};

PyTypeObject* g_overload_type = nullptr;
PyTypeObject* g_packet_type = nullptr;

CallableObject& callable(PyObject* o) {
  return *reinterpret_cast<CallableObject*>(o);
}

PyObject* call_overload(PyObject* o, PyObject* const* args, size_t nargsf, PyObject* names) {
  return guarded([&] {
    return callable(o).overload->call(
        {args, static_cast<size_t>(PyVectorcall_NARGS(nargsf)), names});
  });
}

PyObject* call_packet_object(PyObject* o, PyObject* const* args, size_t nargsf, PyObject* names) {
  return guarded([&] {
    const CallableObject& c = callable(o);
    const auto n = static_cast<size_t>(PyVectorcall_NARGS(nargsf));
    if (!c.self) return c.packet->call({args, n, names});
    const size_t all = n + (names ? static_cast<size_t>(PyTuple_GET_SIZE(names)) : 0);
    std::vector<PyObject*> with_self{c.self};
    with_self.insert(with_self.end(), args, args + all);
    return c.packet->call({with_self.data(), n + 1, names});
  });
}

PyObject* new_callable(PyTypeObject* type, vectorcallfunc call, const Overload* overload,
                       const Packet* packet, PyObject* self) {
  PyObject* o = type->tp_alloc(type, 0);
  if (!o) return nullptr;
  CallableObject& c = callable(o);
  c.vectorcall = call;
  c.overload = overload;
  c.packet = packet;
  c.self = Py_XNewRef(self);
  return o;
}

void dealloc(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  Py_XDECREF(callable(o).self);
  type->tp_free(o);
  Py_DECREF(type);
}

PyObject* overload_repr(PyObject* o) {
  const Overload& v = *callable(o).overload;
  return PyUnicode_FromFormat("<primset operator %s>", v.signature.schema.c_str());
}

PyObject* packet_repr(PyObject* o) {
  const Packet& p = *callable(o).packet;
  return PyUnicode_FromFormat("<primset operator %s, %zu overload(s)>", p.name.c_str(),
                              p.overloads.size());
}

PyObject* overload_object(const Overload& o) {
  return new_callable(g_overload_type, call_overload, &o, nullptr, nullptr);
}

// primset.ops.add.Tensor; the overload without a name is `default`.
PyObject* packet_getattr(PyObject* o, PyObject* name) {
  const char* text = PyUnicode_AsUTF8(name);
  if (!text) return nullptr;
  for (const Overload* v : callable(o).packet->overloads) {
    if (v->signature.overload == text ||
        (v->signature.overload.empty() && std::string_view(text) == "default"))
      return overload_object(*v);
  }
  PyObject* found = PyObject_GenericGetAttr(o, name);
  if (found || text[0] == '_' || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  return guarded([&]() -> PyObject* {
    const std::string why = detail::unknown_operator(callable(o).packet->name + "." + text);
    PyErr_SetString(PyExc_AttributeError, why.c_str());
    return nullptr;
  });
}

PyObject* overloads_of(PyObject* o, PyObject*) {
  return guarded([&] {
    nb::list names;
    for (const Overload* v : callable(o).packet->overloads)
      names.append(
          nb::str(v->signature.overload.empty() ? "default" : v->signature.overload.c_str()));
    return names.release().ptr();
  });
}

PyObject* schema_of(PyObject* o, void*) {
  return PyUnicode_FromString(callable(o).overload->signature.schema.c_str());
}

PyTypeObject* make_type(PyType_Spec& spec) {
  auto* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!type) throw nb::python_error();
  return type;
}

PyMemberDef kMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(CallableObject, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

void define_types(nb::module_& m) {
  static PyGetSetDef overload_properties[] = {
      {"schema", schema_of, nullptr, "The schema, as ATen spells it.", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyMethodDef packet_methods[] = {
      {"overloads", overloads_of, METH_NOARGS, "The names of the overloads, in ATen's order."},
      {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot overload_slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_repr, reinterpret_cast<void*>(overload_repr)},
      {Py_tp_members, kMembers},
      {Py_tp_getset, overload_properties},
      {Py_tp_doc, const_cast<char*>("One overload of an operator.")},
      {0, nullptr}};
  static PyType_Slot packet_slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_repr, reinterpret_cast<void*>(packet_repr)},
      {Py_tp_getattro, reinterpret_cast<void*>(packet_getattr)},
      {Py_tp_members, kMembers},
      {Py_tp_methods, packet_methods},
      {Py_tp_doc, const_cast<char*>("An operator: the overload follows the arguments.")},
      {0, nullptr}};
  constexpr unsigned flags =
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  static PyType_Spec overload_spec = {"primset.Overload", sizeof(CallableObject), 0, flags,
                                      overload_slots};
  static PyType_Spec packet_spec = {"primset.Operator", sizeof(CallableObject), 0, flags,
                                    packet_slots};
  g_overload_type = make_type(overload_spec);
  g_packet_type = make_type(packet_spec);
  m.attr("Overload") = nb::borrow(reinterpret_cast<PyObject*>(g_overload_type));
  m.attr("Operator") = nb::borrow(reinterpret_cast<PyObject*>(g_packet_type));
}

// --- primset.invoke ------------------------------------------------------------------------------

// By the name as it was passed: "add.Tensor" is an overload, "add" is one if it has no overload
// name, else a packet.
PyObject* callable_named(PyObject* name) {
  static PyObject* cache = PyDict_New();
  if (PyObject* known = PyDict_GetItemWithError(cache, name)) return known;
  if (PyErr_Occurred()) throw nb::python_error();
  if (!PyUnicode_Check(name))
    throw Error(ErrorCode::type, "invoke() expects the name of an operator first, as 'add.Tensor'");
  const std::string text = nb::cast<std::string>(nb::handle(name));
  const Packet* packet = text.find('.') == std::string::npos ? find_packet(text) : nullptr;
  const bool has_default = packet && packet->overloads[0]->signature.overload.empty();
  nb::object made =
      nb::steal(packet && !has_default
                    ? new_callable(g_packet_type, call_packet_object, nullptr, packet, nullptr)
                    : overload_object(overload_named(text)));
  if (PyDict_SetItem(cache, name, made.ptr())) throw nb::python_error();
  return made.ptr();  // the cache holds it
}

PyObject* invoke_function(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  return guarded([&]() -> PyObject* {
    if (n == 0)
      throw Error(ErrorCode::type,
                  "invoke() expects the name of an operator first, as 'add.Tensor'");
    const CallableObject& c = callable(callable_named(args[0]));
    const PythonArguments rest{args + 1, static_cast<size_t>(n) - 1, names};
    return c.overload ? c.overload->call(rest) : c.packet->call(rest);
  });
}

PyMethodDef kInvoke = {
    "invoke", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(invoke_function)),
    METH_FASTCALL | METH_KEYWORDS,
    "invoke(name, *args, **kwargs)\n--\n\n"
    "Calls an operator by ATen's name: invoke(\"add.Tensor\", a, b, alpha=2). A name without an\n"
    "overload picks the overload by the arguments."};

nb::dict describe(const std::string& name) {
  const Operator op(name);
  nb::list dtypes;
  for (int code = 0; code < kDTypeCodes; ++code) {
    if (op.dtypes().contains(static_cast<DType>(code)))
      dtypes.append(dtype_object(static_cast<DType>(code)));
  }
  nb::dict out;
  out["name"] = op.name();
  out["schema"] = op.schema();
  out["family"] = op.family();
  out["implemented"] = op.implemented();
  out["dtypes"] = dtypes;
  return out;
}

}  // namespace

const Overload& overload_named(std::string_view qualified) {
  auto& known = Registry::instance().overloads[std::string(qualified)];
  if (!known) {
    try {
      known = std::make_unique<const Overload>(qualified);
    } catch (...) {
      Registry::instance().overloads.erase(std::string(qualified));
      throw;
    }
  }
  return *known;
}

const Packet* find_packet(std::string_view base) {
  Registry& registry = Registry::instance();
  const std::string key(base);
  const auto names = registry.qualified.find(key);
  if (names == registry.qualified.end()) return nullptr;
  auto& known = registry.packets[key];
  if (!known) {
    auto made = std::make_unique<Packet>();
    made->name = key;
    for (const std::string& name : names->second) made->overloads.push_back(&overload_named(name));
    known = std::move(made);
  }
  return known.get();
}

const Packet& packet_named(std::string_view base) {
  if (const Packet* packet = find_packet(base)) return *packet;
  throw Error(ErrorCode::not_implemented, detail::unknown_operator(base));
}

PyObject* call_packet(const Packet& packet, std::initializer_list<PyObject*> args) {
  return packet.call({args.begin(), args.size(), nullptr});
}

PyObject* bound_method(const Packet& packet, PyObject* self) {
  return new_callable(g_packet_type, call_packet_object, nullptr, &packet, self);
}

void define_operators(nb::module_& m) {
  define_types(m);
  nb::object invoke = nb::steal(PyCFunction_NewEx(&kInvoke, nullptr, nb::str("primset").ptr()));
  m.attr("invoke") = invoke;
  m.def(
      "operators",
      [](bool all) {
        std::vector<std::string> out;
        for (std::string& name : operator_names()) {
          if (all || Operator(name).implemented()) out.push_back(std::move(name));
        }
        return out;
      },
      nb::arg("all") = false,
      "The names of the implemented overloads, as ATen spells them; with all=True those that are\n"
      "only declared, too.");
  m.def("describe", &describe, nb::arg("name"),
        "What is known of an overload: schema, family, dtypes, whether it is implemented.");
  m.def(
      "_packet",
      [](std::string_view base) -> nb::object {
        const Packet* packet = find_packet(base);
        if (!packet) return nb::none();
        return nb::steal(bound_method(*packet, nullptr));
      },
      nb::arg("base"));
  m.def("_unknown", &detail::unknown_operator, nb::arg("name"));
  m.def("_bases", [] {
    std::vector<std::string> out;
    for (const auto& [base, names] : Registry::instance().qualified) out.push_back(base);
    return out;
  });
}

}  // namespace primset::python
