#include "backends/common/spirv_module.h"

#include <algorithm>
#include <cstring>

#include "backends/common/status.h"

namespace primset_backend {
namespace {

constexpr uint32_t kMagic = 0x07230203;
constexpr uint64_t kHeaderBytes = 20;
constexpr size_t kMostOfLog = 4000;

}  // namespace

std::string_view spirv_of(const primset_module_desc& desc) {
  uint32_t magic = 0;
  if (desc.size >= kHeaderBytes) std::memcpy(&magic, desc.data, sizeof(magic));
  if (magic != kMagic || desc.size % 4 != 0)
    throw BackendError(PRIMSET_LOAD_FAILED,
                       std::to_string(desc.size) + " bytes that are no SPIR-V module");
  return {static_cast<const char*>(desc.data), desc.size};
}

std::string build_log_text(std::string log) {
  log.resize(std::min(log.find('\0'), log.size()));
  if (log.size() > kMostOfLog) log = log.substr(0, kMostOfLog) + "...";
  log.resize(log.find_last_not_of(" \n\r\t") + 1);
  return log.empty() ? "the compiler says nothing more" : log;
}

KernelArguments::KernelArguments(const primset_module_desc& desc)
    : pointer_count_(desc.pointer_count) {
  const uint64_t block = desc.param_bytes - uint64_t{8} * desc.pointer_count;
  uint64_t end = 0;
  for (uint32_t i = 0; i < desc.scalar_count; ++i) {
    const uint32_t bytes = desc.scalar_sizes[i];
    if (bytes != 4 && bytes != 8)
      throw BackendError(PRIMSET_INVALID_ARGUMENT,
                         "a scalar of " + std::to_string(bytes) + " bytes; expected 4 or 8");
    const uint64_t offset = (end + bytes - 1) / bytes * bytes;
    scalars_.push_back({static_cast<uint32_t>(offset), bytes});
    end = offset + bytes;
  }
  if (end > block)
    throw BackendError(PRIMSET_INVALID_ARGUMENT, "scalars of " + std::to_string(end) +
                                                     " bytes in a parameter block with " +
                                                     std::to_string(block) + " for them");
}

}  // namespace primset_backend
