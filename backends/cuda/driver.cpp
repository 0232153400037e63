#include "backends/cuda/driver.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string_view>

namespace primset_cuda {
namespace {

// Every allocation of the driver is so aligned.
constexpr uint32_t kMemoryAlignment = 256;
constexpr int kUsualGroup = 256;
// Volta: before it, threads of a warp could not diverge inside a kernel's synchronisation.
constexpr int kOldestCapability = 7;

// All that the interface has: what the hardware lacks, kernels make of what it has.
constexpr uint64_t kDTypes = PRIMSET_DTYPES_ALL;
constexpr uint32_t kFeatures = PRIMSET_FEATURE_F64 | PRIMSET_FEATURE_I64 | PRIMSET_FEATURE_F16 |
                               PRIMSET_FEATURE_ATOMIC_I64 | PRIMSET_FEATURE_ATOMIC_F32_ADD |
                               PRIMSET_FEATURE_INT8 | PRIMSET_FEATURE_INT16 |
                               PRIMSET_FEATURE_BALLOT | PRIMSET_FEATURE_IN_ORDER;
// PTX says so of fma.rn, div.rn and sqrt.rn; nothing is flushed unless an instruction asks for it.
constexpr uint32_t kNumerics = PRIMSET_NUMERIC_FUSED_FMA | PRIMSET_NUMERIC_EXACT_DIV_F32 |
                               PRIMSET_NUMERIC_EXACT_DIV_F64 | PRIMSET_NUMERIC_KEEP_NAN_INF;

// What came with sm_80.
constexpr uint32_t kFeatures80 = PRIMSET_FEATURE_ASYNC_COPY | PRIMSET_FEATURE_MATRIX;
constexpr uint32_t kFeatures90 = PRIMSET_FEATURE_CACHE_POLICIES;
// What sm_90 alone has.
constexpr uint32_t kHopperFeatures = PRIMSET_FEATURE_GROUP_MATRIX;

// So that what a feature brings can be measured, and kernels of older architectures tried on
// Hopper.
bool wants(const char* setting) {
  const char* wanted = std::getenv(setting);
  return wanted == nullptr || std::string_view(wanted) != "0";
}

uint32_t features(int major, int minor) {
  uint32_t f = kFeatures;
  if (major >= 8) f |= kFeatures80;
  if (major >= 9) f |= kFeatures90;
  if (major >= 9 && wants("PRIMSET_CUDA_EARLY_START")) f |= PRIMSET_FEATURE_EARLY_START;
  if (major == 9 && minor == 0 && wants("PRIMSET_CUDA_WGMMA")) f |= kHopperFeatures;
  return f;
}

// The newest architecture that compilers know and this device runs: PTX for an older one runs on
// every newer one.
std::string sm_name(int major, int minor) {
  static constexpr int kKnown[] = {70, 72, 75, 80, 86, 87, 89, 90, 100, 103, 120, 121};
  int best = kKnown[0];
  for (int known : kKnown)
    if (known <= 10 * major + minor) best = known;
  return "sm_" + std::to_string(best);
}

// False when kernels cannot run on it.
bool describe(const DriverApi& cu, int ordinal, PhysicalDevice& d) {
  PRIMSET_CUDA(cu, cuDeviceGet, &d.handle, ordinal);
  const auto attribute = [&](DeviceAttribute a) {
    int value = 0;
    PRIMSET_CUDA(cu, cuDeviceGetAttribute, &value, a, d.handle);
    return value;
  };
  const auto limit = [&](DeviceAttribute a) { return static_cast<uint32_t>(attribute(a)); };
  const int major = attribute(kComputeCapabilityMajor), minor = attribute(kComputeCapabilityMinor);
  if (major < kOldestCapability) return false;
  d.memory_pools = attribute(kMemoryPoolsSupported) != 0;
  d.sm = sm_name(major, minor);

  primset_device_properties& p = d.properties;
  p.kernel_format = PRIMSET_FORMAT_PTX;
  PRIMSET_CUDA(cu, cuDeviceGetName, p.name, sizeof(p.name), d.handle);
  size_t bytes = 0;
  PRIMSET_CUDA(cu, cuDeviceTotalMem_v2, &bytes, d.handle);
  p.memory_bytes = bytes;
  p.dtypes = kDTypes;
  p.features = features(major, minor);
  p.numerics = kNumerics;
  p.memory_alignment = kMemoryAlignment;
  p.max_param_bytes = kMaxParamBytes;
  p.threads = limit(kMultiprocessorCount);
  p.max_group_threads = limit(kMaxThreadsPerBlock);
  p.group_threads = std::min<uint32_t>(kUsualGroup, std::bit_floor(p.max_group_threads));
  p.group_memory = limit(kMaxSharedMemoryPerBlock);  // what a kernel may declare
  p.large_group_memory = limit(kMaxSharedMemoryPerBlockOptin);
  p.min_subgroup = p.max_subgroup = limit(kWarpSize);
  p.max_groups[0] = limit(kMaxGridDimX);
  p.max_groups[1] = limit(kMaxGridDimY);
  p.max_groups[2] = limit(kMaxGridDimZ);
  p.llvm_triple = "nvptx64-nvidia-cuda";
  p.llvm_features = "";
  return true;
}

}  // namespace

Driver::Driver(const primset_host* host) : DeviceList(host, "cuda") {
  if (!cu_.load()) {
    tell("no libcuda.so.1; no devices");
    return;
  }
  const Result result = cu_.cuInit(0);
  if (result == kErrorNoDevice || result == kErrorStubLibrary) {
    tell("no GPU on this machine; no devices");
    return;
  }
  check(cu_, result, "cuInit");
  PRIMSET_CUDA(cu_, cuDriverGetVersion, &version_);
  int count = 0;
  PRIMSET_CUDA(cu_, cuDeviceGetCount, &count);
  for (int i = 0; i < count; ++i)
    if (PhysicalDevice device; describe(cu_, i, device)) devices_.push_back(device);
}

}  // namespace primset_cuda
