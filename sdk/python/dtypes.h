// primset.float32, primset.int64, …: one Python object a dtype.
#ifndef PRIMSET_SDK_PYTHON_DTYPES_H_
#define PRIMSET_SDK_PYTHON_DTYPES_H_

#include <nanobind/nanobind.h>
#include <primset/dtype.h>

#include <optional>

namespace primset::python {

// What a Python dtype object holds; its address is the dtype's identity.
struct DTypeObject {
  DType dtype;
};

void define_dtypes(nanobind::module_& m);

nanobind::object dtype_object(DType t);  // new reference
std::optional<DType> as_dtype(nanobind::handle object);
// As above, also from a name ("f32", "float32"); throws Error{type}.
DType to_dtype(nanobind::handle object);

}  // namespace primset::python

#endif  // PRIMSET_SDK_PYTHON_DTYPES_H_
