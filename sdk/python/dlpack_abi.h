// The structs of DLPack 1.1, which other libraries' tensors are exchanged through. Their layout is
// fixed by that standard: https://dmlc.github.io/dlpack/latest/c_api.html
#ifndef PRIMSET_SDK_PYTHON_DLPACK_ABI_H_
#define PRIMSET_SDK_PYTHON_DLPACK_ABI_H_

#include <cstdint>

namespace primset::python::dlpack {

enum DeviceType : int32_t { kCpu = 1, kCudaHost = 3, kExternal = 12 };
struct Device {
  int32_t type;
  int32_t id;
};
struct DataType {
  uint8_t code;  // DTypeInfo::dlpack_code
  uint8_t bits;
  uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};

// What a capsule named "dltensor" holds.
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed* self);
};

// What a capsule named "dltensor_versioned" holds.
struct Version {
  uint32_t major, minor;
};
inline constexpr uint64_t kReadOnly = 1, kIsCopied = 2;
struct ManagedVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedVersioned* self);
  uint64_t flags;
  Tensor tensor;
};

}  // namespace primset::python::dlpack

#endif  // PRIMSET_SDK_PYTHON_DLPACK_ABI_H_
