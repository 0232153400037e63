// The parts that module.cpp puts together.
#ifndef PRIMSET_SDK_PYTHON_MODULE_PARTS_H_
#define PRIMSET_SDK_PYTHON_MODULE_PARTS_H_

#include <nanobind/nanobind.h>

namespace primset::python {

void define_devices(nanobind::module_& m);     // devices, generators, formats
void define_statistics(nanobind::module_& m);  // statistics, options
void define_graph(nanobind::module_& m);

}  // namespace primset::python

#endif  // PRIMSET_SDK_PYTHON_MODULE_PARTS_H_
