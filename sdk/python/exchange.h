// Tensors from other libraries and back without copies: DLPack and the buffer protocol.
#ifndef PRIMSET_SDK_PYTHON_EXCHANGE_H_
#define PRIMSET_SDK_PYTHON_EXCHANGE_H_

#include <nanobind/nanobind.h>
#include <primset/tensor.h>

namespace primset::python {

// primset.from_dlpack
void define_dlpack(nanobind::module_& m);
// primset.from_buffer, primset.tensor
void define_buffers(nanobind::module_& m);

// Row-major memory of the CPU's with the same values.
Tensor packed_copy(const Tensor& t);

// Tensor.__dlpack__: a new capsule that keeps the memory alive.
nanobind::object to_dlpack(const Tensor& t, nanobind::handle max_version, nanobind::handle copy);
// Tensor.__dlpack_device__
nanobind::tuple dlpack_device(const Tensor& t);

// bf_getbuffer and bf_releasebuffer of Tensor.
int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept;
void release_buffer(PyObject* self, Py_buffer* view);

}  // namespace primset::python

#endif  // PRIMSET_SDK_PYTHON_EXCHANGE_H_
