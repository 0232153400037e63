// What other libraries say of a tensor in a DLPack struct, checked and put in Primset's words.
// Nothing of Python.
#ifndef PRIMSET_SDK_PYTHON_DLPACK_IMPORT_H_
#define PRIMSET_SDK_PYTHON_DLPACK_IMPORT_H_

#include <primset/tensor.h>

#include <span>
#include <vector>

#include "sdk/python/dlpack_abi.h"

namespace primset::python {

dlpack::DataType to_dlpack_type(DType t);
// Throws Error{type} for a type that no dtype is.
DType from_dlpack_type(dlpack::DataType t);

struct ImportedGeometry {
  DType dtype;
  void* data;  // the first element; null only where there is none
  std::span<const int64_t> sizes;
  std::vector<int64_t> strides;  // row-major where the struct has none
  bool empty() const;
};
// Refuses what cannot be true with an Error that names the claim. Whether the memory is there only
// the other library knows.
ImportedGeometry imported_geometry(const dlpack::Tensor& tensor);

}  // namespace primset::python

#endif  // PRIMSET_SDK_PYTHON_DLPACK_IMPORT_H_
