#include "sdk/runtime/cache/kernel_packs.h"

#include <fmt/format.h>
#include <primset/plugin.h>

#include <algorithm>
#include <system_error>

#include "sdk/base/printable.h"

namespace primset::runtime {
namespace fs = std::filesystem;
namespace {

// Files beside libacme_primset.so that are called libacme_primset.pack, or
// libacme_primset.a100.pack.
std::vector<fs::path> beside(const fs::path& plugin_file) {
  std::vector<fs::path> out;
  const std::string stem = plugin_file.stem().string();
  std::error_code error;
  for (fs::directory_iterator it(plugin_file.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    const fs::path& file = it->path();
    const std::string name = file.filename().string();
    if (file.extension() == ".pack" && name.starts_with(stem + '.')) out.push_back(file);
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

std::vector<fs::path> KernelPacks::candidates(const fs::path& plugin_file) const {
  if (settings_.off) return {};
  std::vector<fs::path> out = settings_.named;
  if (!plugin_file.empty()) std::ranges::copy(beside(plugin_file), std::back_inserter(out));
  return out;
}

bool KernelPacks::may_serve(const fs::path& plugin_file) const {
  return !candidates(plugin_file).empty();
}

KernelPacks::Pack KernelPacks::known(const fs::path& file) const {
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find(packs_, file, [](const Pack& p) { return p->file(); });
  return at == packs_.end() ? nullptr : *at;
}

KernelPacks::Opened KernelPacks::open(const fs::path& file) const {
  Opened out{known(file), {}};
  if (!out.pack) out.pack = KernelPack::open(file, out.refusal);
  return out;
}

void KernelPacks::use(Pack pack, const PackIdentity& here) {
  if (known(pack->file())) return;
  tell(PRIMSET_LOG_INFO, fmt::format("pack {}: {} kernels for {}", printable(pack->file().string()),
                                     pack->size(), printable(here.device)));
  const std::lock_guard lock(mutex_);
  packs_.push_back(std::move(pack));
}

void KernelPacks::open_for(const PackIdentity& here, const fs::path& plugin_file) {
  bool found = false;
  std::vector<std::pair<fs::path, std::string>> of_other_devices;
  for (const fs::path& file : candidates(plugin_file)) {
    auto [pack, refusal] = open(file);
    if (pack && pack->identity().plugin != here.plugin) continue;
    const bool is_named = std::ranges::count(settings_.named, file) != 0;
    if (pack) refusal = difference(pack->identity(), here);
    if (refusal.empty()) {
      use(std::move(pack), here);
      found = true;
    } else if (!pack || pack->identity().build != here.build) {
      refuse(file, refusal);
    } else if (is_named) {
      of_other_devices.emplace_back(file, refusal);
    }
  }
  // Where one of several is for this device, the others are for others.
  if (found) return;
  for (const auto& [file, why] : of_other_devices) refuse(file, why);
}

std::string KernelPacks::add(const fs::path& file, const PackIdentity& here) {
  auto [pack, refusal] = open(file);
  if (pack) refusal = difference(pack->identity(), here);
  if (refusal.empty()) use(std::move(pack), here);
  return refusal;
}

std::optional<std::vector<uint8_t>> KernelPacks::find(std::string_view kind,
                                                      const Digest& key) const {
  std::vector<Pack> packs;
  {
    const std::lock_guard lock(mutex_);
    packs = packs_;
  }
  if (packs.empty()) return std::nullopt;
  const Digest name = pack_name(kind, key);
  for (const Pack& pack : packs) {
    std::string damage;
    if (auto content = pack->find(name, damage)) return content;
    if (!damage.empty()) refuse(pack->file(), damage);
  }
  return std::nullopt;
}

void KernelPacks::refuse(const fs::path& file, std::string_view why) const {
  tell(PRIMSET_LOG_ERROR,
       fmt::format("pack {} is not used: {}. Kernels are compiled instead; `primset pack` makes a "
                   "new one, and PRIMSET_PACK=off does without",
                   printable(file.string()), why));
}

void KernelPacks::tell(uint32_t level, std::string_view text) const {
  if (settings_.log) settings_.log(level, text);
}

}  // namespace primset::runtime
