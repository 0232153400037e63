#include <primset/device.h>

#include <memory>

#include "sdk/python/dlpack_abi.h"
#include "sdk/python/dlpack_import.h"
#include "sdk/python/exchange.h"
#include "sdk/python/tensor_type.h"

namespace nb = nanobind;

namespace primset::python {
namespace {

// --- out -----------------------------------------------------------------------------------------

// Keeps the memory alive for a consumer. The consumer may let go of it in any thread, with or
// without the GIL: the last handle goes through the storage's own deleter.
template <typename M>
struct Exported {
  M managed{};
  Tensor tensor;
  std::vector<int64_t> sizes, strides;
};

template <typename M>
M* exported(const Tensor& t) {
  auto e = std::make_unique<Exported<M>>();
  e->tensor = t;
  e->sizes.assign(t.sizes().begin(), t.sizes().end());
  e->strides.assign(t.strides().begin(), t.strides().end());
  void* data = t.numel() == 0 ? nullptr : t.data_ptr();
  e->managed.tensor = {data,
                       {dlpack::kCpu, 0},
                       static_cast<int32_t>(e->sizes.size()),
                       to_dlpack_type(t.dtype()),
                       e->sizes.data(),
                       e->strides.data(),
                       0};
  e->managed.context = e.get();
  e->managed.deleter = [](M* m) { delete static_cast<Exported<M>*>(m->context); };
  return &e.release()->managed;
}

constexpr const char* kName = "dltensor";
constexpr const char* kVersionedName = "dltensor_versioned";

template <typename M>
void capsule_destructor(PyObject* capsule, const char* name) {
  // A consumer renames what it took.
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* m = static_cast<M*>(PyCapsule_GetPointer(capsule, name));
  if (m->deleter) m->deleter(m);
}

template <typename M>
nb::object capsule(M* m, const char* name, PyCapsule_Destructor destructor) {
  PyObject* o = PyCapsule_New(m, name, destructor);
  if (o) return nb::steal(o);
  m->deleter(m);
  throw nb::python_error();
}

// --- in ------------------------------------------------------------------------------------------

template <typename M>
Tensor imported(M* m) {
  std::shared_ptr<M> owner(m, [](M* p) {
    if (p->deleter) p->deleter(p);
  });
  const ImportedGeometry g = imported_geometry(m->tensor);
  if (g.empty()) return Tensor::empty_strided(g.sizes, g.strides, g.dtype, primset::Device::cpu());
  return Tensor::from_memory(g.data, g.sizes, g.strides, g.dtype, primset::Device::cpu(),
                             {[owner]() mutable { owner.reset(); }, {}});
}

Tensor from_capsule(nb::handle o, bool may_be_read_only) {
  PyObject* c = o.ptr();
  if (PyCapsule_IsValid(c, kVersionedName)) {
    auto* m = static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(c, kVersionedName));
    if (m->version.major > 1)
      throw Error(ErrorCode::runtime, "from_dlpack: DLPack version " +
                                          std::to_string(m->version.major) +
                                          " is newer than the 1 that is understood here");
    if ((m->flags & dlpack::kReadOnly) && !may_be_read_only)
      throw Error(ErrorCode::value,
                  "from_dlpack: the memory is read-only, and Primset's tensors can be written; "
                  "pass copy=True");
    PyCapsule_SetName(c, "used_dltensor_versioned");
    return imported(m);
  }
  if (PyCapsule_IsValid(c, kName)) {
    auto* m = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(c, kName));
    PyCapsule_SetName(c, "used_dltensor");
    return imported(m);
  }
  throw Error(ErrorCode::type,
              "from_dlpack: expected an object with __dlpack__, or a DLPack capsule that nobody "
              "took yet");
}

nb::object capsule_of(nb::handle source) {
  if (PyCapsule_CheckExact(source.ptr())) return nb::borrow(source);
  if (!nb::hasattr(source, "__dlpack__"))
    throw Error(ErrorCode::type,
                "from_dlpack: expected an object with __dlpack__, but found one of type " +
                    std::string(Py_TYPE(source.ptr())->tp_name));
  try {
    return source.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(1, 1));
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) throw;
    return source.attr("__dlpack__")();  // a producer from before version 1
  }
}

nb::object from_dlpack(nb::handle source, bool copy) {
  const Tensor t = from_capsule(capsule_of(source), copy);
  return wrapped(copy ? packed_copy(t) : t);
}

}  // namespace

nb::object to_dlpack(const Tensor& t, nb::handle max_version, nb::handle copy) {
  if (t.is_conj() || t.is_neg())
    throw Error(ErrorCode::runtime,
                "__dlpack__: DLPack has no conjugate or negative bit; call resolve_conj() or "
                "resolve_neg() first");
  Tensor source = t;
  uint64_t flags = 0;
  if (!copy.is_none() && nb::cast<bool>(copy)) {
    source = packed_copy(t);
    flags = dlpack::kIsCopied;
  } else if (!t.device().is_cpu()) {
    throw Error(ErrorCode::runtime, "__dlpack__: memory of " + t.device().to_string() +
                                        " is not the CPU's; call cpu() first or pass copy=True");
  }
  const bool versioned = !max_version.is_none() && nb::cast<int>(nb::object(max_version[0])) >= 1;
  if (!versioned)
    return capsule(exported<dlpack::Managed>(source), kName,
                   [](PyObject* c) { capsule_destructor<dlpack::Managed>(c, kName); });
  auto* m = exported<dlpack::ManagedVersioned>(source);
  m->version = {1, 1};
  m->flags = flags;
  return capsule(m, kVersionedName, [](PyObject* c) {
    capsule_destructor<dlpack::ManagedVersioned>(c, kVersionedName);
  });
}

nb::tuple dlpack_device(const Tensor& t) {
  const Device d = t.device();
  return nb::make_tuple(static_cast<int>(d.is_cpu() ? dlpack::kCpu : dlpack::kExternal), d.index());
}

void define_dlpack(nb::module_& m) {
  m.def("from_dlpack", &from_dlpack, nb::arg("source"), nb::kw_only(), nb::arg("copy") = false,
        nb::sig("def from_dlpack(source: typing.Any, *, copy: bool = False) -> Tensor"),
        "A tensor on the memory of another library's tensor, without a copy: strides, offset and\n"
        "address stay. The memory lives as long as either tensor does.");
}

}  // namespace primset::python
