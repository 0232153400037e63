#include "sdk/runtime/plugin/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <primset/error.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "sdk/base/printable.h"
#include "sdk/runtime/plugin/boundary.h"
#include "sdk/runtime/plugin/required_members.h"
#include "sdk/runtime/plugin/status.h"

namespace primset::plugin {
namespace {

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr int kStays = RTLD_NODELETE;
#else
constexpr int kStays = 0;
#endif

constexpr size_t kMaxNameBytes = 64;
constexpr size_t kMaxLogLineBytes = 8 << 10;

// The oldest ABI version this SDK still speaks.
constexpr uint32_t kOldestVersion = 1;

[[noreturn]] void fail(std::string_view where, std::string text) {
  throw Error(ErrorCode::plugin, fmt::format("{}: {}", where, text));
}

// Of a C string that may have no end.
bool is_plugin_name(const char* text) {
  const std::string_view s(text, strnlen(text, kMaxNameBytes + 1));
  if (s.size() > kMaxNameBytes) return false;
  if (s.empty() || s[0] < 'a' || s[0] > 'z') return false;
  for (char c : s)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
  return true;
}

const char* level_name(uint32_t level) {
  switch (level) {
    case PRIMSET_LOG_DEBUG:
      return "debug";
    case PRIMSET_LOG_INFO:
      return "info";
    case PRIMSET_LOG_WARNING:
      return "warning";
    default:
      return "error";
  }
}

}  // namespace

// --- Host ----------------------------------------------------------------------------------------

LogSink stderr_log() {
  return [](uint32_t level, std::string_view text) {
    if (level >= PRIMSET_LOG_WARNING)
      fmt::print(stderr, "primset: {}: {}\n", level_name(level), text);
  };
}

Host::Host(std::string plugin, const std::filesystem::path& file, LogSink log,
           std::shared_ptr<const runtime::DiskCache> cache)
    : state_{{}, std::move(plugin), std::move(log), std::move(cache), {}} {
  state_.host.struct_size = sizeof(primset_host);
  state_.host.abi_version = PRIMSET_ABI_VERSION;
  state_.host.name = "primset " PRIMSET_VERSION;
  state_.host.log = log_function;
  const runtime::DiskCache* files = state_.cache.get();
  const bool has_folder = files && files->enabled();
  if (has_folder) state_.host.cache_folder = files->folder().c_str();
  if (!has_folder && !(files && files->packs() && files->packs()->may_serve(file))) return;
  state_.host.cache_find = find_function;
  state_.host.cache_store = store_function;
}

namespace {

runtime::Digest digest_of(const void* key, uint64_t bytes) {
  return runtime::sha256({static_cast<const uint8_t*>(key), bytes});
}

}  // namespace

// The callers of both are C: what fails here is a cache that has nothing.
uint32_t Host::find_function(const primset_host* host, const void* key, uint64_t key_bytes,
                             primset_cache_found found, void* context) {
  const auto* state = reinterpret_cast<const State*>(host);
  try {
    const auto entry = state->cache->load(state->plugin, digest_of(key, key_bytes));
    if (!entry || entry->damaged) return 0;
    found(context, entry->bytes.data(), entry->bytes.size());
    return 1;
  } catch (...) {
    return 0;
  }
}

void Host::store_function(const primset_host* host, const void* key, uint64_t key_bytes,
                          const void* data, uint64_t bytes) {
  const auto* state = reinterpret_cast<const State*>(host);
  try {
    state->cache->store(state->plugin, digest_of(key, key_bytes),
                        {static_cast<const uint8_t*>(data), bytes});
  } catch (...) {
  }
}

Host::~Host() {
  for (uint32_t level = 0; level < state_.limits.size(); ++level) {
    const std::string notice = state_.limits[level].last_notice();
    if (state_.log && !notice.empty())
      state_.log(level, fmt::format("plugin {}: {}", state_.plugin, notice));
  }
}

void Host::log_function(const primset_host* host, uint32_t level, const char* text) {
  const auto* state = reinterpret_cast<const State*>(host);
  if (!state->log) return;
  level = std::min<uint32_t>(level, PRIMSET_LOG_ERROR);
  // The caller is C: a sink that throws loses its message, nothing else.
  try {
    const size_t bytes = text ? strnlen(text, kMaxLogLineBytes) : 0;
    const LogLimit::Verdict verdict = state->limits[level].admit(bytes, LogLimit::Clock::now());
    if (!verdict.notice.empty())
      state->log(level, fmt::format("plugin {}: {}", state->plugin, verdict.notice));
    if (verdict.admitted) state->log(level, printable(text, kMaxLogLineBytes));
  } catch (...) {
  }
}

// --- the table -----------------------------------------------------------------------------------

void check_table(const primset_plugin* table, std::string_view expected_name,
                 std::string_view where) {
  if (!table) fail(where, "primset_plugin_query returned success but no table");
  if (table->struct_size < sizeof(primset_plugin))
    fail(where, fmt::format("primset_plugin.struct_size is {}; ABI version 1 has {} bytes. Was it "
                            "set to sizeof(primset_plugin)?",
                            table->struct_size, sizeof(primset_plugin)));
  if (table->abi_version < kOldestVersion || table->abi_version > PRIMSET_ABI_VERSION)
    fail(where, fmt::format("speaks plugin ABI version {}; this SDK speaks {} to {}. Rebuild the "
                            "plugin against this SDK's primset/plugin.h, or install an SDK that "
                            "fits the plugin",
                            table->abi_version, kOldestVersion, PRIMSET_ABI_VERSION));
  if (!table->name || !is_plugin_name(table->name))
    fail(where,
         fmt::format(
             "primset_plugin.name is {}; expected [a-z][a-z0-9_]*, at most {} characters",
             table->name ? fmt::format("\"{}\"", printable(table->name, kMaxNameBytes)) : "NULL",
             kMaxNameBytes));
  if (table->name != expected_name)
    fail(where,
         fmt::format("primset_plugin.name is \"{}\" but the file is named for \"{}\"; rename "
                     "it to lib{}_primset.so",
                     table->name, expected_name, table->name));
  if (!table->version) fail(where, "primset_plugin.version is NULL; expected a string");
  if (!table->vendor) fail(where, "primset_plugin.vendor is NULL; expected a string");
  if (const char* missing = missing_function(*table))
    fail(where, fmt::format("primset_plugin.{} is NULL; the function is required", missing));
}

// --- PluginLibrary -------------------------------------------------------------------------------

PluginLibrary::PluginLibrary(const std::filesystem::path& file, std::string name, LogSink log,
                             std::shared_ptr<const runtime::DiskCache> cache)
    : file_(file), host_(std::move(name), file, std::move(log), std::move(cache)) {
  // NOW: a missing symbol is an error here, not a crash in a launch. LOCAL: a plugin may bring
  // libraries of its own (drivers bring their LLVM) that must not meet ours. Under a sanitizer it
  // stays, since what it leaves behind is named by its own code.
  handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | kStays);
  if (!handle_) {
    const char* reason = dlerror();
    fail(fmt::format("plugin {}", printable(file_.string())),
         fmt::format("cannot be loaded: {}",
                     reason ? printable(std::string_view(reason)) : "unknown reason"));
  }
}

PluginLibrary::~PluginLibrary() {
  if (handle_) dlclose(handle_);
}

const primset_plugin* PluginLibrary::query(std::string_view expected_name) const {
  const std::string where = fmt::format("plugin {}", printable(file_.string()));
  void* symbol = dlsym(handle_, PRIMSET_PLUGIN_QUERY_SYMBOL);
  if (!symbol)
    fail(where, "exports no function " PRIMSET_PLUGIN_QUERY_SYMBOL
                "; define it as primset/plugin.h declares it, with PRIMSET_PLUGIN_EXPORT");
  const auto query_function = reinterpret_cast<primset_plugin_query_fn>(symbol);
  const primset_plugin* table = nullptr;
  primset_status* status = without_exceptions(where, PRIMSET_PLUGIN_QUERY_SYMBOL, [&] {
    return query_function(host_.get(), kOldestVersion, PRIMSET_ABI_VERSION, &table);
  });
  if (status)
    fail(where, fmt::format("primset_plugin_query(ABI versions {} to {}): {}", kOldestVersion,
                            PRIMSET_ABI_VERSION, take_message(status)));
  check_table(table, expected_name, where);
  return table;
}

}  // namespace primset::plugin
