// The plugin's own kernels: that they assemble. What they do is seen in linalg/linalg_test.cpp,
// whose fake driver interprets them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "backends/cuda/kernels/matrix_kernels_ptx.h"
#include "backends/cuda/testing/ptx_interpreter.h"

namespace primset_cuda {
namespace {

TEST(MatrixKernels, TheirTextAssembles) {
  if (std::system("ptxas --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no ptxas here";
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / "primset_matrix_kernels.ptx";
  std::ofstream(file) << matrix_kernels_ptx();
  for (const char* sm : {"sm_75", "sm_90"}) {
    const std::string command = "ptxas -arch=" + std::string(sm) + " -o /dev/null " + file.string();
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
  std::filesystem::remove(file);
}

TEST(MatrixKernels, TheInterpreterRefusesOtherMemory) {
  uint32_t word = 0;
  const fake_cuda::PtxKernel kernel(matrix_kernels_ptx(), "primset_count");
  const uint64_t block[] = {1, reinterpret_cast<uint64_t>(&word), 4, 7};
  const std::string params(reinterpret_cast<const char*>(block), sizeof(block));
  kernel.run(1, kMatrixKernelThreads, params, [](uint64_t, size_t) { return true; });
  EXPECT_EQ(word, 7u) << "of one thread; the others end";
  EXPECT_THROW(kernel.run(1, kMatrixKernelThreads, params, [](uint64_t, size_t) { return false; }),
               std::runtime_error);
}

}  // namespace
}  // namespace primset_cuda
