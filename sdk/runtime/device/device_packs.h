// The packs of kernels (sdk/runtime/cache/kernel_packs.h) of open devices.
#ifndef PRIMSET_SDK_RUNTIME_DEVICE_DEVICE_PACKS_H_
#define PRIMSET_SDK_RUNTIME_DEVICE_DEVICE_PACKS_H_

#include <vector>

#include "codegen/kernel/ir/target_model.h"
#include "sdk/runtime/cache/disk_cache.h"
#include "sdk/runtime/cache/kernel_pack.h"
#include "sdk/runtime/plugin/device.h"

namespace primset::runtime {

// What a pack must be made by and for to hold kernels of this device.
PackIdentity pack_identity(const plugin::PluginDevice& device, const kir::TargetModel& target);
// What a cache holds for devices of the identity's plugin.
std::vector<PackEntry> pack_entries(const DiskCache& cache, const PackIdentity& identity);
// Takes up the packs that PRIMSET_PACK names and that lie beside the plugin, where they are for the
// device.
void open_packs(const plugin::PluginDevice& device, const kir::TargetModel& target);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_DEVICE_DEVICE_PACKS_H_
