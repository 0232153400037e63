// A library for tests with the functions of cuFFT, cuBLAS, cuSOLVER and cuDNN that the plugin
// calls, on the driver of fake_driver.h: it checks how it is called, and computes on the host, by
// LAPACK, when it is the stream's turn. What is wrong joins the driver's violations.
#ifndef PRIMSET_BACKENDS_CUDA_TESTING_FAKE_TOOLKIT_H_
#define PRIMSET_BACKENDS_CUDA_TESTING_FAKE_TOOLKIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backends/cuda/testing/fake_driver.h"

namespace fake_toolkit {

// False where the machine has no LAPACK: linear algebra cannot be tested there.
FAKE_CUDA_EXPORT bool has_lapack();

FAKE_CUDA_EXPORT void reset();
// The call of `function` after `skip` more returns `status`.
FAKE_CUDA_EXPORT void fail(const std::string& function, int status, int skip = 0);
// What the functions say that tell a version; by default those of CUDA 13.
FAKE_CUDA_EXPORT void set_versions(int cufft, int cublas, int cusolver);
FAKE_CUDA_EXPORT void set_cudnn_version(size_t version);
// Names of the functions called since this was asked last, without those that ask for sizes.
FAKE_CUDA_EXPORT std::vector<std::string> calls();
// Bytes of workspace that plans of cuFFT and cuDNN need from now on.
FAKE_CUDA_EXPORT void need_workspace(size_t bytes);
// Handles, plans and parameters that exist: "" when there are none.
FAKE_CUDA_EXPORT std::string leaks();
FAKE_CUDA_EXPORT size_t plans();

}  // namespace fake_toolkit

#endif  // PRIMSET_BACKENDS_CUDA_TESTING_FAKE_TOOLKIT_H_
