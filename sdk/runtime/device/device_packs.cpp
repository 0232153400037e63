#include "sdk/runtime/device/device_packs.h"

#include <fmt/format.h>
#include <primset/error.h>
#include <primset/pack.h>

#include "codegen/emit/emitter.h"
#include "sdk/base/printable.h"
#include "sdk/runtime/cache/kernel_cache.h"
#include "sdk/runtime/cache/shared_cache.h"
#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/device/target.h"

namespace primset {
namespace runtime {

PackIdentity pack_identity(const plugin::PluginDevice& device, const kir::TargetModel& target) {
  return {std::string(device.plugin().name()), device.title(), emit::emitter_version(),
          describe(target)};
}

std::vector<PackEntry> pack_entries(const DiskCache& cache, const PackIdentity& identity) {
  std::vector<PackEntry> out;
  for (const std::string& kind : {std::string(kKernelKind), identity.plugin}) {
    for (const Digest& key : cache.keys_of(kind)) {
      auto found = cache.load(kind, key);
      if (found && !found->damaged) out.push_back({pack_name(kind, key), std::move(found->bytes)});
    }
  }
  return out;
}

void open_packs(const plugin::PluginDevice& device, const kir::TargetModel& target) {
  const std::filesystem::path& plugin = device.plugin().file();
  KernelPacks* packs = shared_cache()->packs();
  if (packs->may_serve(plugin)) packs->open_for(pack_identity(device, target), plugin);
}

}  // namespace runtime

void use_pack(const std::string& file, Device device) {
  using namespace runtime;
  const CallScope scope;
  DeviceState& state = device_state(device);
  if (state.is_meta() || !state.has_kernels())
    throw Error(ErrorCode::value, fmt::format("use_pack: {} takes no kernels", device.to_string()));
  const std::string why =
      shared_cache()->packs()->add(file, pack_identity(state.plugin(), state.target()));
  if (!why.empty())
    throw Error(ErrorCode::value, fmt::format("use_pack: {}: {}", printable(file), why));
}

}  // namespace primset
