// The plugin on the fake driver with the fake toolkit, for tests.
#ifndef PRIMSET_BACKENDS_CUDA_TESTING_TOOLKIT_FIXTURE_H_
#define PRIMSET_BACKENDS_CUDA_TESTING_TOOLKIT_FIXTURE_H_

#include <cstdlib>
#include <memory>
#include <string>

#include "backends/cuda/testing/fake_toolkit.h"
#include "backends/cuda/testing/native_call.h"
#include "backends/cuda/testing/plugin_fixture.h"

namespace primset::plugin {

class Toolkit : public CudaDevice {
 protected:
  static constexpr const char* kSettings[] = {"PRIMSET_CUFFT", "PRIMSET_CUBLAS", "PRIMSET_CUSOLVER",
                                              "PRIMSET_CUDNN"};

  void SetUp() override {
    for (const char* setting : kSettings) setenv(setting, PRIMSET_FAKE_TOOLKIT, 1);
    setenv("PRIMSET_CUDA_TUNING", kTakeAll, 1);
    fake_toolkit::reset();
    CudaDevice::SetUp();
  }
  void TearDown() override {
    CudaDevice::TearDown();
    EXPECT_EQ(fake_toolkit::leaks(), "");
    for (const char* setting : kSettings) unsetenv(setting);
    unsetenv("PRIMSET_CUDA_TUNING");
  }

  // Sizes for which the libraries are no faster are taken, too.
  static constexpr const char* kTakeAll =
      "fft.points=1,fft.real_points=1,fft.from_half_points=1,fft.rough_points=1,linalg.elements=0,"
      "convolution.products=1,attention.products=1";
};

}  // namespace primset::plugin

#endif  // PRIMSET_BACKENDS_CUDA_TESTING_TOOLKIT_FIXTURE_H_
