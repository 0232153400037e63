// The target model of a device, from the properties that its plugin reports.
#ifndef PRIMSET_SDK_RUNTIME_DEVICE_TARGET_H_
#define PRIMSET_SDK_RUNTIME_DEVICE_TARGET_H_

#include <primset/plugin.h>

#include <optional>
#include <string>

#include "codegen/kernel/ir/target_model.h"

namespace primset::runtime {

// nullopt: the device takes no kernels (PRIMSET_FORMAT_NONE).
std::optional<kir::TargetModel> target_model(const primset_device_properties& properties);
// "spirv_vulkan", "none"
std::string format_name(uint32_t kernel_format);
// Everything in a target model that emitted code depends on, as text: part of the kernel cache's
// key.
std::string describe(const kir::TargetModel& target);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_DEVICE_TARGET_H_
