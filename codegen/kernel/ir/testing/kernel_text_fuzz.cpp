// libFuzzer: arbitrary text as a kernel. Whatever parses prints, to a text that parses to the same;
// the verifier judges it for a CPU and for a GPU that can do everything.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "codegen/kernel/ir/testing/fuzz_targets.h"
#include "codegen/kernel/ir/text.h"
#include "codegen/kernel/verifier/verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace primset::kir;
  const std::optional<Kernel> kernel = kernel_of(data, size);
  if (!kernel) return 0;
  const std::string text = print(*kernel);
  if (print(parse(text)) != text) std::abort();
  verify(*kernel, cpu_target(Format::native_image));
  verify(*kernel, gpu_target(Format::ptx));
  verify(*kernel, gpu_target(Format::spirv_vulkan));
  return 0;
}
