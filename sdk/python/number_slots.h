// What a + b, a < b, -a and the like do on tensors.
#ifndef PRIMSET_SDK_PYTHON_NUMBER_SLOTS_H_
#define PRIMSET_SDK_PYTHON_NUMBER_SLOTS_H_

#include <Python.h>

namespace primset::python {

// For nanobind's type_slots: numbers, comparisons and the buffer protocol.
const PyType_Slot* tensor_slots();

}  // namespace primset::python

#endif  // PRIMSET_SDK_PYTHON_NUMBER_SLOTS_H_
