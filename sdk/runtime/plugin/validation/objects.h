// The validation layer's own handles. A handle is a number that is never used twice, so that a
// stale one is always recognised; its object has the plugin's handle.
#ifndef PRIMSET_SDK_RUNTIME_PLUGIN_VALIDATION_OBJECTS_H_
#define PRIMSET_SDK_RUNTIME_PLUGIN_VALIDATION_OBJECTS_H_

#include <primset/plugin.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "sdk/runtime/plugin/hazards.h"
#include "sdk/runtime/plugin/validation/timeline.h"

namespace primset::plugin {
class ValidationLayer;
}

namespace primset::plugin::validation {

enum class Kind : uint8_t { device = 1, stream, event, buffer, module, kernel, recording };
const char* name(Kind kind);

// What `data` of a primitive that the layer hands out points to.
struct WrappedPrimitive {
  primset_primitive inner;
  std::string name;
};

struct Object;

// The optional tables of a device as the layer hands them out.
struct Extensions {
  const primset_host_memory* inner_host_memory = nullptr;
  const primset_device_addresses* inner_addresses = nullptr;
  const primset_primitives* inner_primitives = nullptr;
  const primset_recordings* inner_recordings = nullptr;
  const primset_pinned_memory* inner_pinned = nullptr;
  const primset_peer_copies* inner_peers = nullptr;
  primset_host_memory host_memory{};
  primset_device_addresses addresses{};
  primset_primitives primitives{};
  primset_recordings recordings{};
  primset_pinned_memory pinned_memory{};
  primset_peer_copies peers{};
  // Guarded by the device's mutex:
  std::vector<std::unique_ptr<WrappedPrimitive>> found;
  std::map<uintptr_t, std::shared_ptr<Object>> pinned;  // memory of alloc by its address
  std::set<uintptr_t> reachable;                        // the handles of peers
};

struct Object {
  Kind kind = Kind::device;
  uintptr_t handle = 0;
  void* inner = nullptr;
  ValidationLayer* layer = nullptr;
  std::shared_ptr<Object> device;  // null for a device itself
  std::mutex mutex;                // guards `owner`
  std::thread::id owner;           // who is inside a [stream] or [device] call
  uint32_t depth = 0;

  // By kind.
  uint64_t bytes = 0;                           // buffer, pinned memory
  uint32_t pointer_count = 0, param_bytes = 0;  // module, kernel
  std::shared_ptr<Object> module;               // kernel
  uintptr_t kernel = 0;                         // module: its kernel's handle, or 0
  HazardTracker hazards;                        // stream
  primset_device_properties properties{};       // device
  Extensions extensions;                        // device
  Progress progress;                            // stream
  Mark mark;                                    // event
  Uses uses;                                    // buffer, pinned memory, module
  bool records = false;                         // stream
  std::vector<uintptr_t> recorded;              // stream that records, recording: what it uses
};
using ObjectPtr = std::shared_ptr<Object>;

// All live objects of all layers in the process.
class Objects {
 public:
  static Objects& instance();

  // Gives the object its handle and keeps it.
  uintptr_t add(ObjectPtr object);
  ObjectPtr find(uintptr_t handle) const;
  // Forgets it; null when it is not there.
  ObjectPtr remove(uintptr_t handle);
  // True for a number that was a handle of this kind once.
  bool was(uintptr_t handle, Kind kind) const;
  // The live objects of a device, in the order of their making.
  std::vector<ObjectPtr> of_device(const Object* device) const;

  void add_layer(ValidationLayer* layer);
  void remove_layer(ValidationLayer* layer);
  // For a finding about a handle that nobody knows: no layer can be told from it.
  std::vector<ValidationLayer*> layers() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<uintptr_t, ObjectPtr> live_;
  std::vector<ValidationLayer*> layers_;
  uintptr_t next_ = 1;
};

// "buffer #12"
std::string describe(const Object& object);
// "0xdeadbeef", "NULL" or, for a known number, "buffer #12"
std::string describe(const void* handle);

primset_status* make_status(uint32_t code, std::string message);

}  // namespace primset::plugin::validation

#endif  // PRIMSET_SDK_RUNTIME_PLUGIN_VALIDATION_OBJECTS_H_
