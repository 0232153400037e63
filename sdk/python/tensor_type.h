// primset.Tensor and primset.Storage.
#ifndef PRIMSET_SDK_PYTHON_TENSOR_TYPE_H_
#define PRIMSET_SDK_PYTHON_TENSOR_TYPE_H_

#include <nanobind/nanobind.h>
#include <primset/tensor.h>

namespace primset::python {

void define_tensor(nanobind::module_& m);
// The methods that are about indexing; define_tensor calls it.
void define_indexing(nanobind::class_<Tensor>& type);

// A new Python object; None for an undefined tensor.
PyObject* wrap(Tensor t);
inline nanobind::object wrapped(Tensor t) {
  return nanobind::steal(wrap(std::move(t)));
}
// The tensor in a Python object; null when it is none.
const Tensor* as_tensor(PyObject* o);

}  // namespace primset::python

#endif  // PRIMSET_SDK_PYTHON_TENSOR_TYPE_H_
