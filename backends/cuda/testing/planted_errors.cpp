// Kernels that break a rule on purpose, run through the plugin: what a sanitizer of the device must
// find before its silence about our own kernels means anything. sanitize_device runs it.
#include <primset/error.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/runtime/plugin/loader.h"

namespace {

using primset::plugin::DeviceBuffer;

constexpr const char* kHelp = R"(Runs a kernel with an error in it on a CUDA device.
  primset_cuda_planted_errors write_past_end | race [DEVICE]

write_past_end   32 threads store just behind the end of a buffer (for memcheck)
race             two warps exchange values through shared memory without a barrier (for racecheck)

The plugin's folder is in PRIMSET_PLUGIN_PATH. Exit codes: 0 the kernel ran, whatever it did;
1 it could not be run; 2 wrong arguments.
)";

constexpr uint32_t kThreads = 64;
constexpr uint64_t kBytes = 4 * kThreads;

// Each takes the buffer's address and stores to it.
constexpr const char* kHead = R"(.version 6.3
.target sm_70
.address_size 64
.visible .entry planted(.param .u64 planted_out)
.reqntid 64, 1, 1
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<4>;
  .shared .align 4 .b8 cells[256];
  ld.param.u64 %rd1, [planted_out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
)";
constexpr const char* kWritePastEnd = R"(
  st.global.u32 [%rd1 + 256], %r1;
  ret;
}
)";
constexpr const char* kRace = R"(
  mov.u32 %r2, cells;
  shl.b32 %r3, %r1, 2;
  add.u32 %r3, %r2, %r3;
  st.shared.u32 [%r3], %r1;
  xor.b32 %r4, %r1, 32;
  shl.b32 %r4, %r4, 2;
  add.u32 %r4, %r2, %r4;
  ld.shared.u32 %r4, [%r4];
  st.global.u32 [%rd1], %r4;
  ret;
}
)";

primset_module_desc describe(const std::vector<uint64_t>& words, size_t size) {
  primset_module_desc desc{};
  desc.struct_size = sizeof(desc);
  desc.format = PRIMSET_FORMAT_PTX;
  desc.data = words.data();
  desc.size = size;
  desc.entry = "planted";
  desc.group_size[0] = kThreads;
  desc.group_size[1] = desc.group_size[2] = 1;
  desc.pointer_count = 1;
  desc.param_bytes = 8;
  return desc;
}

void run(const std::string& text, const std::string& device_name) {
  primset::plugin::Registry registry(primset::plugin::LoaderOptions{});
  const auto device = registry.open(device_name);
  const auto stream = device->create_stream();
  std::vector<uint64_t> words(text.size() / 8 + 1, 0);  // with the closing zero, aligned to 8
  std::memcpy(words.data(), text.data(), text.size());
  const auto module = device->load_module(describe(words, text.size() + 1));
  const DeviceBuffer buffer = device->alloc(kBytes);
  const primset_binding binding{buffer.handle(), 0, kBytes, PRIMSET_ACCESS_WRITE, 0};
  primset_launch launch{};
  launch.struct_size = sizeof(launch);
  launch.kernel = module.kernel();
  launch.groups[0] = launch.groups[1] = launch.groups[2] = 1;
  launch.binding_count = 1;
  launch.bindings = &binding;
  stream.launch(launch);
  std::vector<uint8_t> out(kBytes);
  stream.copy_out(buffer.handle(), 0, out.data(), kBytes);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc > 1 ? argv[1] : "";
  const char* body = kind == "write_past_end" ? kWritePastEnd : kind == "race" ? kRace : nullptr;
  if (kind == "--help" || kind == "-h") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (!body || argc > 3) {
    std::fputs(kHelp, stderr);
    return 2;
  }
  try {
    run(std::string(kHead) + body, argc > 2 ? argv[2] : "cuda:0");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "primset_cuda_planted_errors: %s\n", e.what());
    return 1;
  }
  return 0;
}
