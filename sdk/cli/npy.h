// NumPy's .npy files (format versions 1 to 3). Strict: what is not exactly as the format says is an
// error that names the file and the fault.
#ifndef PRIMSET_SDK_CLI_NPY_H_
#define PRIMSET_SDK_CLI_NPY_H_

#include <primset/tensor.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace primset::cli {

struct NpyArray {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  bool fortran_order = false;
  std::vector<std::byte> data;
};

// bfloat16 is what NumPy writes for it: void of two bytes. Throws Error{corrupt}.
NpyArray parse_npy(std::span<const std::byte> file, const std::string& name);
NpyArray read_npy(const std::filesystem::path& file);
Tensor read_tensor_npy(const std::filesystem::path& file, Device device);

std::vector<std::byte> npy_bytes(const Tensor& tensor);
void write_npy(const std::filesystem::path& file, const Tensor& tensor);

}  // namespace primset::cli

#endif  // PRIMSET_SDK_CLI_NPY_H_
