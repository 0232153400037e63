// Small kernels for tests of back ends, in the formats that need no compiler.
#ifndef PRIMSET_BACKENDS_COMMON_TESTING_KERNELS_H_
#define PRIMSET_BACKENDS_COMMON_TESTING_KERNELS_H_

#include <primset/plugin.h>

#include <cstdint>
#include <string>
#include <vector>

namespace primset_backend_test {

struct TestKernel {
  std::vector<uint64_t> words;  // aligned to 8, as module_load asks
  uint64_t size = 0;
  std::string entry;
  uint32_t pointer_count = 0;
  uint32_t param_bytes = 0;
  std::vector<uint32_t> scalar_sizes;  // where a format has each scalar as an argument

  primset_module_desc desc(uint32_t format) const;
};

// out[g] = in[g] + bias for every workgroup g. Pointers: in, out; scalars: i32 bias, then padding
// up to param_bytes (at least 24). Empty where the test has no kernel of this format for this
// machine.
TestKernel add_bias(uint32_t format, uint32_t param_bytes = 24);

// A native image of these code bytes, entry at their first byte.
TestKernel native_image(const std::vector<uint8_t>& code);

}  // namespace primset_backend_test

#endif  // PRIMSET_BACKENDS_COMMON_TESTING_KERNELS_H_
