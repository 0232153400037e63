// Element types as the CUDA toolkit's libraries name them, cudaDataType.
#ifndef PRIMSET_BACKENDS_CUDA_LIBRARIES_DATA_TYPE_H_
#define PRIMSET_BACKENDS_CUDA_LIBRARIES_DATA_TYPE_H_

namespace primset_cuda {

enum class DataType : int {
  f32 = 0,
  f64 = 1,
  f16 = 2,
  i8 = 3,
  c64 = 4,
  c128 = 5,
  i32 = 10,
  bf16 = 14,
};

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_LIBRARIES_DATA_TYPE_H_
