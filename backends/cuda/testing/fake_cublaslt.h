// A libcublasLt.so.13 for tests, on the driver of fake_driver.h: it checks how it is called and
// computes products in host memory, as they are described to it, when it is the stream's turn. What
// is wrong joins the driver's violations.
#ifndef PRIMSET_BACKENDS_CUDA_TESTING_FAKE_CUBLASLT_H_
#define PRIMSET_BACKENDS_CUDA_TESTING_FAKE_CUBLASLT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backends/cuda/testing/fake_driver.h"

namespace fake_cublaslt {

// A product as the library was told of it: D = op(A) op(B), column-major, plus a bias if it has
// one.
struct Product {
  int type = 0, result_type = 0, compute = 0, scale = 0;
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  int64_t lda = 0, ldb = 0, ldd = 0;
  int64_t batch = 1, stride_a = 0, stride_b = 0, stride_d = 0;
  bool bias = false;

  bool operator==(const Product&) const = default;
};

// What a heuristic was asked for.
struct Preference {
  uint64_t max_workspace_bytes = 0, implementations = ~uint64_t{0};
  uint32_t reduction_schemes = 7;
  uint32_t align_a = 256, align_b = 256, align_c = 256, align_d = 256;
};

FAKE_CUDA_EXPORT void reset();
// The call of `function` after `skip` more returns `status`.
FAKE_CUDA_EXPORT void fail(const std::string& function, int status, int skip = 0);
// What cublasLtGetVersion answers.
FAKE_CUDA_EXPORT void set_version(size_t version);
// From now on no heuristic finds anything.
FAKE_CUDA_EXPORT void find_nothing();
// Bytes of workspace that products need from now on.
FAKE_CUDA_EXPORT void need_workspace(size_t bytes);
// Handles, descriptors, layouts and preferences that exist: "" when there are none.
FAKE_CUDA_EXPORT std::string leaks();
FAKE_CUDA_EXPORT size_t descriptors();
// The products given since this was asked last.
FAKE_CUDA_EXPORT std::vector<Product> products();
// What heuristics were asked since this was asked last.
FAKE_CUDA_EXPORT std::vector<Preference> questions();

}  // namespace fake_cublaslt

#endif  // PRIMSET_BACKENDS_CUDA_TESTING_FAKE_CUBLASLT_H_
