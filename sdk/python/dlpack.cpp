#include <primset/device.h>

#include <algorithm>
#include <memory>

#include "sdk/python/dlpack_abi.h"
#include "sdk/python/exchange.h"
#include "sdk/python/tensor_type.h"

namespace nb = nanobind;

namespace primset::python {
namespace {

dlpack::DataType to_dlpack_type(DType t) {
  return {info(t).dlpack_code, static_cast<uint8_t>(bits(t)), 1};
}

DType from_dlpack_type(dlpack::DataType t) {
  if (t.lanes == 1) {
    for (int code = 0; code < kDTypeCodes; ++code) {
      const auto candidate = static_cast<DType>(code);
      if (info(candidate).bits == 0) continue;
      const dlpack::DataType d = to_dlpack_type(candidate);
      if (d.code == t.code && d.bits == t.bits) return candidate;
    }
  }
  throw Error(ErrorCode::type, "from_dlpack: no dtype holds DLPack's type code " +
                                   std::to_string(t.code) + " of " + std::to_string(t.bits) +
                                   " bits and " + std::to_string(t.lanes) + " lanes");
}

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

bool reads_as_cpu(dlpack::Device d) {
  return d.type == dlpack::kCpu || d.type == dlpack::kCudaHost;
}

// Other libraries fill the struct in; what cannot be true is refused here. Whether the memory is
// there only they know.
void check_claims(const dlpack::Tensor& d) {
  constexpr int32_t kMostDims = 64;
  constexpr uint64_t kMostBytes = uint64_t{1} << 47;  // of a process's address space
  if (d.ndim < 0 || d.ndim > kMostDims)
    throw Error(ErrorCode::value, "from_dlpack: " + std::to_string(d.ndim) +
                                      " dims; expected 0 to " + std::to_string(kMostDims));
  if (d.ndim > 0 && !d.shape)
    throw Error(ErrorCode::value, "from_dlpack: " + std::to_string(d.ndim) + " dims and no shape");
  for (int32_t i = 0; i < d.ndim; ++i) {
    if (d.shape[i] < 0)
      throw Error(ErrorCode::value, "from_dlpack: the size of dim " + std::to_string(i) + " is " +
                                        std::to_string(d.shape[i]));
  }
  const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(d.data));
  if (d.byte_offset > kMostBytes || address + d.byte_offset > kMostBytes)
    throw Error(ErrorCode::value, "from_dlpack: a byte offset of " + std::to_string(d.byte_offset) +
                                      " leads out of the address space");
}

template <typename M>
Tensor imported(M* m) {
  const dlpack::Tensor& d = m->tensor;
  std::shared_ptr<M> owner(m, [](M* p) {
    if (p->deleter) p->deleter(p);
  });
  if (!reads_as_cpu(d.device))
    throw Error(ErrorCode::runtime, "from_dlpack: the tensor is on a device of DLPack's type " +
                                        std::to_string(d.device.type) +
                                        "; only CPU memory (1) can be taken over");
  check_claims(d);
  const DType dtype = from_dlpack_type(d.dtype);
  const std::span<const int64_t> sizes(d.shape, static_cast<size_t>(d.ndim));
  std::vector<int64_t> strides(sizes.size());
  if (d.strides)
    std::copy_n(d.strides, sizes.size(), strides.begin());
  else if (const Tensor dense = Tensor::empty(sizes, dtype, primset::Device::meta()); d.ndim > 0)
    std::ranges::copy(dense.strides(), strides.begin());
  if (std::ranges::find(sizes, 0) != sizes.end())
    return Tensor::empty_strided(sizes, strides, dtype, primset::Device::cpu());
  if (!d.data) throw Error(ErrorCode::value, "from_dlpack: elements and no memory: data is null");
  void* data = static_cast<char*>(d.data) + d.byte_offset;
  return Tensor::from_memory(data, sizes, strides, dtype, primset::Device::cpu(),
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
