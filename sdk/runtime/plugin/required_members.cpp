#include "sdk/runtime/plugin/required_members.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace primset::plugin {
namespace {

// A function pointer by position, so that one loop checks every table and tells the member by name.
struct Required {
  const char* name;
  size_t offset;
};

#define PRIMSET_REQUIRED(member) {#member, offsetof(primset_plugin, member)}
constexpr Required kPlugin[] = {
    PRIMSET_REQUIRED(release),
    PRIMSET_REQUIRED(device_count),
    PRIMSET_REQUIRED(device_open),
    PRIMSET_REQUIRED(device_close),
    PRIMSET_REQUIRED(device_properties),
    PRIMSET_REQUIRED(device_extension),
    PRIMSET_REQUIRED(memory_alloc),
    PRIMSET_REQUIRED(memory_free),
    PRIMSET_REQUIRED(copy_in),
    PRIMSET_REQUIRED(copy_out),
    PRIMSET_REQUIRED(copy),
    PRIMSET_REQUIRED(fill),
    PRIMSET_REQUIRED(stream_create),
    PRIMSET_REQUIRED(stream_destroy),
    PRIMSET_REQUIRED(stream_synchronize),
    PRIMSET_REQUIRED(event_create),
    PRIMSET_REQUIRED(event_destroy),
    PRIMSET_REQUIRED(event_record),
    PRIMSET_REQUIRED(event_query),
    PRIMSET_REQUIRED(event_synchronize),
    PRIMSET_REQUIRED(stream_wait_event),
    PRIMSET_REQUIRED(module_load),
    PRIMSET_REQUIRED(module_unload),
    PRIMSET_REQUIRED(module_kernel),
    PRIMSET_REQUIRED(launch),
};
#undef PRIMSET_REQUIRED

constexpr Required kHostMemory[] = {
    {"address", offsetof(primset_host_memory, address)},
    {"import", offsetof(primset_host_memory, import)},
};
constexpr Required kPinnedMemory[] = {
    {"alloc", offsetof(primset_pinned_memory, alloc)},
    {"free", offsetof(primset_pinned_memory, free)},
    {"copy_in", offsetof(primset_pinned_memory, copy_in)},
    {"copy_out", offsetof(primset_pinned_memory, copy_out)},
};
constexpr Required kPeerCopies[] = {
    {"reachable", offsetof(primset_peer_copies, reachable)},
    {"wait_event", offsetof(primset_peer_copies, wait_event)},
    {"copy", offsetof(primset_peer_copies, copy)},
};
constexpr Required kDeviceAddresses[] = {
    {"address", offsetof(primset_device_addresses, address)},
};
constexpr Required kPrimitives[] = {
    {"find", offsetof(primset_primitives, find)},
};
constexpr Required kRecordings[] = {
    {"begin", offsetof(primset_recordings, begin)},
    {"end", offsetof(primset_recordings, end)},
    {"play", offsetof(primset_recordings, play)},
    {"destroy", offsetof(primset_recordings, destroy)},
};

struct Extension {
  std::string_view id;
  const char* table;
  size_t bytes;
  std::span<const Required> members;
};
constexpr Extension kExtensions[] = {
    {PRIMSET_EXT_HOST_MEMORY, "primset_host_memory", sizeof(primset_host_memory), kHostMemory},
    {PRIMSET_EXT_PINNED_MEMORY, "primset_pinned_memory", sizeof(primset_pinned_memory),
     kPinnedMemory},
    {PRIMSET_EXT_PEER_COPY, "primset_peer_copies", sizeof(primset_peer_copies), kPeerCopies},
    {PRIMSET_EXT_DEVICE_ADDRESS, "primset_device_addresses", sizeof(primset_device_addresses),
     kDeviceAddresses},
    {PRIMSET_EXT_PRIMITIVES, "primset_primitives", sizeof(primset_primitives), kPrimitives},
    {PRIMSET_EXT_RECORDING, "primset_recordings", sizeof(primset_recordings), kRecordings},
};

const char* first_null(const void* table, std::span<const Required> members) {
  for (const Required& member : members) {
    void* function = nullptr;
    std::memcpy(&function, static_cast<const char*>(table) + member.offset, sizeof(function));
    if (!function) return member.name;
  }
  return nullptr;
}

}  // namespace

const char* missing_function(const primset_plugin& table) {
  return first_null(&table, kPlugin);
}

std::string extension_fault(const void* table, std::string_view id) {
  for (const Extension& extension : kExtensions) {
    if (extension.id != id) continue;
    uint32_t bytes = 0;  // struct_size is the first member of every table
    std::memcpy(&bytes, table, sizeof(bytes));
    if (bytes < extension.bytes)
      return fmt::format("{}.struct_size is {}; expected at least {}", extension.table, bytes,
                         extension.bytes);
    const char* missing = first_null(table, extension.members);
    return missing
               ? fmt::format("{}.{} is NULL; the function is required", extension.table, missing)
               : std::string();
  }
  return {};
}

}  // namespace primset::plugin
