// A call of a native primitive for tests: numbers in, numbers out.
#ifndef PRIMSET_BACKENDS_CUDA_TESTING_NATIVE_CALL_H_
#define PRIMSET_BACKENDS_CUDA_TESTING_NATIVE_CALL_H_

#include <primset/plugin.h>

#include <complex>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sdk/runtime/plugin/loader.h"

namespace primset_cuda_test {

using Number = std::complex<double>;
using Numbers = std::vector<Number>;
using Sizes = std::vector<int64_t>;

// Normally distributed; of real dtypes without imaginary parts.
Numbers random_values(uint32_t dtype, int64_t count, uint32_t seed);
int64_t product_of(const Sizes& sizes);
// Of the type that holds its parts, and of one with such parts.
uint32_t real_dtype(uint32_t dtype);
uint32_t complex_dtype(uint32_t dtype);
bool is_complex_dtype(uint32_t dtype);
// How far off results of O(1) may be.
double tolerance(uint32_t dtype);

class NativeCall {
 public:
  explicit NativeCall(std::string name) : name_(std::move(name)) {}
  NativeCall(const NativeCall&) = delete;
  NativeCall& operator=(const NativeCall&) = delete;

  // Values in row-major order; they lie `strides` apart, dense by default, from element `first` on.
  NativeCall& operand(uint32_t dtype, Sizes sizes, Numbers values, Sizes strides = {},
                      int64_t first = 0);
  NativeCall& result(uint32_t dtype, Sizes sizes, Sizes strides = {}, int64_t first = 0);
  NativeCall& flag(const char* attribute, bool value);
  NativeCall& number(const char* attribute, int64_t value);
  NativeCall& real(const char* attribute, double value);
  NativeCall& dims(const char* attribute, Sizes values);

  // What the device says of the call; nullopt when it leaves it to kernels.
  std::optional<primset_primitive> find(primset::plugin::PluginDevice& device);
  // Fills memory for the call; run() does so itself.
  void make_memory(primset::plugin::PluginDevice& device,
                   const primset::plugin::StreamHandle& stream);
  void enqueue(const primset::plugin::StreamHandle& stream, const primset_primitive& primitive);
  std::vector<Numbers> read_results(const primset::plugin::StreamHandle& stream);
  // The results. Throws what the plugin says.
  std::vector<Numbers> run(primset::plugin::PluginDevice& device,
                           const primset::plugin::StreamHandle& stream);

 private:
  struct Tensor {
    uint32_t dtype;
    Sizes sizes, strides;
    int64_t first;
    Numbers values;
    primset::plugin::DeviceBuffer memory;
  };
  primset_primitive_call& call();

  std::string name_;
  std::deque<Tensor> operands_, results_;
  std::deque<Sizes> lists_;
  std::vector<primset_attr> attributes_;
  std::vector<primset_tensor> operand_table_, result_table_;
  primset_primitive_call call_{};
};

}  // namespace primset_cuda_test

#endif  // PRIMSET_BACKENDS_CUDA_TESTING_NATIVE_CALL_H_
