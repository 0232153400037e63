// Reads what OpenCL does not tell of a kernel: which of its parameters are pointers, and where to.
#include <cstring>
#include <set>

#include "backends/level_zero/cpu_driver/module.h"

namespace primset_cpu_driver {
namespace {

// From SPIR-V's specification.
constexpr uint32_t kMagic = 0x07230203, kHeaderWords = 5;
constexpr uint32_t kOpEntryPoint = 15, kOpExecutionMode = 16, kOpTypePointer = 32, kOpFunction = 54,
                   kOpFunctionParameter = 55, kOpFunctionEnd = 56;
constexpr uint32_t kModeSubgroupSize = 35, kStorageWorkgroup = 4;

struct Reader {
  std::map<uint32_t, std::string> names;  // of the functions that are entry points
  std::map<uint32_t, uint32_t> storage;   // of pointer types
  std::map<uint32_t, uint32_t> subgroup;  // of functions
  uint32_t function = 0;
  KernelInterface current;
  std::map<std::string, KernelInterface> found;

  Parameter parameter(uint32_t type) const {
    const auto at = storage.find(type);
    if (at == storage.end()) return Parameter::value;
    return at->second == kStorageWorkgroup ? Parameter::workgroup_memory : Parameter::pointer;
  }

  void read(uint32_t op, const uint32_t* words) {
    switch (op) {
      case kOpEntryPoint:
        names[words[2]] = reinterpret_cast<const char*>(words + 3);
        break;
      case kOpExecutionMode:
        if (words[2] == kModeSubgroupSize) subgroup[words[1]] = words[3];
        break;
      case kOpTypePointer:
        storage[words[1]] = words[2];
        break;
      case kOpFunction:
        function = words[2];
        current = {};
        break;
      case kOpFunctionParameter:
        current.parameters.push_back(parameter(words[1]));
        break;
      case kOpFunctionEnd:
        if (!names.contains(function)) break;
        current.required_subgroup = subgroup.contains(function) ? subgroup[function] : 0;
        found[names[function]] = current;
        break;
      default:
        break;
    }
  }
};

}  // namespace

std::map<std::string, KernelInterface> entry_points(const std::vector<uint32_t>& spirv) {
  if (spirv.size() < kHeaderWords || spirv[0] != kMagic) return {};
  Reader reader;
  for (size_t i = kHeaderWords; i < spirv.size();) {
    const uint32_t count = spirv[i] >> 16;
    if (count == 0 || i + count > spirv.size()) return {};
    reader.read(spirv[i] & 0xffff, spirv.data() + i);
    i += count;
  }
  return reader.found;
}

}  // namespace primset_cpu_driver
