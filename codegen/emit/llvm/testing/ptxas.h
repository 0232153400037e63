// For tests: PTX assembled by ptxas, where that is installed.
#ifndef PRIMSET_CODEGEN_EMIT_LLVM_TESTING_PTXAS_H_
#define PRIMSET_CODEGEN_EMIT_LLVM_TESTING_PTXAS_H_

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace primset::emit {

inline bool has_ptxas() {
  return std::system("PATH=$PATH:/usr/local/cuda/bin command -v ptxas > /dev/null") == 0;
}

struct Assembled {
  bool ok = false;
  std::string said;  // registers and memory of the kernel among it
};

inline Assembled assemble(const std::string& ptx, const std::string& arch) {
  const auto folder = std::filesystem::temp_directory_path();
  const std::string base = folder / ("primset_ptx_test_" + std::to_string(getpid()));
  std::ofstream(base + ".ptx") << ptx;
  const std::string command = "PATH=$PATH:/usr/local/cuda/bin ptxas -v -arch=" + arch + " -o " +
                              base + ".cubin " + base + ".ptx > " + base + ".log 2>&1";
  const int status = std::system(command.c_str());
  std::ifstream log(base + ".log");
  const std::string said(std::istreambuf_iterator<char>(log), {});
  for (const char* suffix : {".ptx", ".cubin", ".log"}) std::filesystem::remove(base + suffix);
  return {status == 0, said};
}

}  // namespace primset::emit

#endif  // PRIMSET_CODEGEN_EMIT_LLVM_TESTING_PTXAS_H_
