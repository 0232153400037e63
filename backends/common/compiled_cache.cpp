#include "backends/common/compiled_cache.h"

#include <cstddef>

namespace primset_backend {
namespace {

// Hosts older than the members have a shorter struct.
bool has_cache(const primset_host* host) {
  return host && host->struct_size >= offsetof(primset_host, cache_store) + sizeof(void*) &&
         host->cache_find && host->cache_store;
}

void copy_out(void* context, const void* data, uint64_t bytes) {
  const auto* from = static_cast<const char*>(data);
  static_cast<std::vector<char>*>(context)->assign(from, from + bytes);
}

}  // namespace

CompiledCache::CompiledCache(const primset_host* host, std::string target)
    : host_(host),
      target_(std::move(target)),
      on_(has_cache(host)),
      stores_(on_ && host->cache_folder) {}

std::string CompiledCache::key_of(std::string_view text) const {
  return target_ + '\n' + std::string(text);
}

std::vector<char> CompiledCache::find(std::string_view text) const {
  std::vector<char> data;
  if (!on()) return data;
  const std::string key = key_of(text);
  host_->cache_find(host_, key.data(), key.size(), copy_out, &data);
  return data;
}

void CompiledCache::store(std::string_view text, std::string_view compiled) const {
  if (!stores()) return;
  const std::string key = key_of(text);
  host_->cache_store(host_, key.data(), key.size(), compiled.data(), compiled.size());
}

}  // namespace primset_backend
