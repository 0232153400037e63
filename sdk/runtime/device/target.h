// What codegen may know of a device, from what its plugin says.
#ifndef PRIMSET_SDK_RUNTIME_DEVICE_TARGET_H_
#define PRIMSET_SDK_RUNTIME_DEVICE_TARGET_H_

#include <primset/plugin.h>

#include <optional>
#include <string>

#include "codegen/kernel/ir/target_model.h"

namespace primset::runtime {

// Empty for a device that takes no kernels (PRIMSET_FORMAT_NONE).
std::optional<kir::TargetModel> target_model(const primset_device_properties& properties);
// "spirv_vulkan", "none"
std::string format_name(uint32_t kernel_format);
// All that decides what an emitter makes of a kernel, as text: part of the disk cache's key.
std::string describe(const kir::TargetModel& target);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_DEVICE_TARGET_H_
