// The fake driver's modules, kernels and launches.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

#include "backends/cuda/testing/fake_world.h"
#include "backends/cuda/testing/ptx_interpreter.h"

using namespace primset_cuda;
using namespace fake_cuda;

namespace {

const std::string kCubinMagic = "FAKECUBIN";

void add_bias(unsigned groups, const std::string& params) {
  DevicePointer in = 0, out = 0;
  int32_t bias = 0;
  std::memcpy(&in, params.data(), 8);
  std::memcpy(&out, params.data() + 8, 8);
  std::memcpy(&bias, params.data() + 16, 4);
  const size_t bytes = size_t{4} * groups;
  if (!on_device("add_bias", in, bytes) || !on_device("add_bias", out, bytes)) return;
  for (unsigned g = 0; g < groups; ++g) {
    int32_t value = 0;
    std::memcpy(&value, host(in + 4 * g), 4);
    value += bias;
    std::memcpy(host(out + 4 * g), &value, 4);
  }
}

// A kernel that the plugin brings.
void run_own(const std::string& ptx, const std::string& name, unsigned groups, unsigned threads,
             const std::string& params) {
  try {
    PtxKernel(ptx, name).run(groups, threads, params, [&](uint64_t at, size_t bytes) {
      return on_device(name.c_str(), at, bytes);
    });
  } catch (const std::exception& e) {
    report_violation(name + ": " + e.what());
  }
}

// For assemble_ptx: what is compiled is kept, for the machine it says.
void keep_ptx(const std::string& ptx) {
  const char* folder = std::getenv("FAKE_CUDA_PTX");
  if (!folder) return;
  const std::string file =
      std::string(folder) + "/" + std::to_string(std::hash<std::string>()(ptx));
  const std::string temporary = file + "." + std::to_string(getpid());
  std::ofstream(temporary) << ptx;
  std::rename(temporary.c_str(), (file + ".ptx").c_str());
}
// The parameter block of a launch's `extra` list.
bool read_extra(void** extra, std::string& params) {
  const void* buffer = nullptr;
  const size_t* bytes = nullptr;
  for (; *extra != kLaunchParamEnd; extra += 2) {
    if (*extra == kLaunchParamBufferPointer) buffer = extra[1];
    if (*extra == kLaunchParamBufferSize) bytes = static_cast<const size_t*>(extra[1]);
  }
  if (!buffer || !bytes) return false;
  params.assign(static_cast<const char*>(buffer), *bytes);
  return true;
}

}  // namespace

FAKE(cuLinkCreate_v2)(unsigned count, int* options, void** values, LinkState* state) {
  Call call(__func__);
  if (call.in_context(__func__).result != kSuccess) return call.result;
  auto made = std::make_unique<LinkStateTag>();
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == kJitErrorLogBuffer) made->log = static_cast<char*>(values[i]);
    if (options[i] == kJitErrorLogBufferSizeBytes)
      made->log_bytes = reinterpret_cast<size_t>(values[i]);
  }
  *state = made.get();
  world().links.insert(std::move(made));
  return kSuccess;
}
FAKE(cuLinkAddData_v2)(LinkState state, int type, void* data, size_t bytes, const char*, unsigned,
                       int*, void**) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().links, state);
  if (call.result != kSuccess) return call.result;
  if (type != kJitInputPtx) return report_violation("cuLinkAddData: not PTX");
  const auto* text = static_cast<const char*>(data);
  if (bytes == 0 || text[bytes - 1] != '\0')
    return report_violation("cuLinkAddData: no NUL at the end");
  state->ptx.assign(text, bytes - 1);
  if (is_ptx(state->ptx)) {
    keep_ptx(state->ptx);
    return kSuccess;
  }
  if (state->log) std::snprintf(state->log, state->log_bytes, "fake: this is no PTX");
  return kErrorInvalidPtx;
}
FAKE(cuLinkComplete)(LinkState state, void** cubin, size_t* bytes) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().links, state);
  if (call.result != kSuccess) return call.result;
  state->cubin = kCubinMagic + state->ptx;
  *cubin = state->cubin.data();
  *bytes = state->cubin.size() + 1;
  return kSuccess;
}
FAKE(cuLinkDestroy)(LinkState state) {
  Call call(__func__);
  call.takes(__func__, world().links, state);
  return call.erase(world().links, state);
}
FAKE(cuModuleLoadData)(Module* module, const void* image) {
  Call call(__func__);
  if (call.in_context(__func__).result != kSuccess) return call.result;
  const std::string text(static_cast<const char*>(image));
  if (!text.starts_with(kCubinMagic)) return kErrorInvalidImage;
  return make(world().modules, module, t_current, text.substr(kCubinMagic.size()));
}
FAKE(cuModuleUnload)(Module module) {
  Call call(__func__);
  call.releases(__func__).takes(__func__, world().modules, module);
  return call.erase(world().modules, module);
}
FAKE(cuModuleGetFunction)(Function* function, Module module, const char* name) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().modules, module);
  if (call.result != kSuccess) return call.result;
  const std::optional<Entry> entry = find_entry(module->ptx, name);
  if (!entry) return kErrorNotFound;
  auto& made = module->functions[name];
  if (!made) made = std::make_unique<FunctionTag>(module, name, *entry);
  *function = made.get();
  return kSuccess;
}
FAKE(cuFuncSetAttribute)(Function function, int attribute, int value) {
  Call call(__func__);
  if (call.in_context(__func__).result != kSuccess) return call.result;
  if (!lives(world().modules, function->module))
    return report_violation("a kernel of an unloaded module");
  if (attribute != kMaxDynamicSharedSizeBytes)
    return report_violation("an attribute that nobody sets");
  if (value < 0 || value > kLargeSharedBytes)
    return report_violation("more shared memory than there is");
  function->most_shared_bytes = static_cast<unsigned>(value);
  return kSuccess;
}

FAKE(cuLaunchKernelEx)(const LaunchConfig* config, Function function, void** params, void** extra) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().streams, config->stream);
  if (call.result != kSuccess) return call.result;
  if (!lives(world().modules, function->module))
    return report_violation("a launch of an unloaded kernel");
  if (std::ranges::count(config->groups, 0u) != 0) return report_violation("a launch of no groups");
  const Entry& entry = function->entry;
  if (entry.threads[0] != 0 && !std::ranges::equal(entry.threads, config->threads))
    return report_violation(function->name + ": launched with other threads than .reqntid says");
  std::string block;
  if (params || !read_extra(extra, block))
    return report_violation("a launch without a parameter block");
  if (config->shared_bytes > function->most_shared_bytes)
    return report_violation("a launch with more shared memory than was asked for");
  if (block.size() != entry.param_bytes)
    return report_violation(function->name + ": a parameter block of " +
                            std::to_string(block.size()) + " bytes; the kernel declares " +
                            std::to_string(entry.param_bytes));
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    const LaunchAttribute& a = config->attributes[i];
    if (a.id != kProgrammaticStreamSerialization || a.value.allowed != 1)
      return report_violation("a launch with an attribute that nobody sets");
    if (!entry.waits_first)
      return report_violation(function->name + ": starts early and touches memory before it waits");
    ++world().dependent_launches;
  }
  give(config->stream, [groups = config->groups[0], threads = config->threads[0], block,
                        name = function->name, ptx = function->module->ptx] {
    if (name == "add_bias") add_bias(groups, block);
    if (name.starts_with("primset_")) run_own(ptx, name, groups, threads, block);
  });
  return kSuccess;
}
