#include "sdk/runtime/plugin/validation/objects.h"

#include <fmt/format.h>

#include <algorithm>

namespace primset::plugin::validation {
namespace {

// handle = number << 8 | kind << 4 | 8: small, odd-looking, never a real address.
constexpr uintptr_t make_handle(uintptr_t number, Kind kind) {
  return number << 8 | static_cast<uintptr_t>(kind) << 4 | 8;
}
constexpr uintptr_t number_of(uintptr_t handle) {
  return handle >> 8;
}
constexpr uintptr_t kind_bits_of(uintptr_t handle) {
  return handle & 0xff;
}

struct OwnStatus {
  primset_status status;  // first: the C side's pointer is a pointer to this
  std::string message;
};

}  // namespace

const char* name(Kind kind) {
  switch (kind) {
    case Kind::device:
      return "device";
    case Kind::stream:
      return "stream";
    case Kind::event:
      return "event";
    case Kind::buffer:
      return "buffer";
    case Kind::module:
      return "module";
    case Kind::recording:
      return "recording";
    case Kind::kernel:
      return "kernel";
  }
  return "?";
}

Objects& Objects::instance() {
  static Objects* objects = new Objects;  // never destroyed: what it holds is in use to the end
  return *objects;
}

uintptr_t Objects::add(ObjectPtr object) {
  const std::lock_guard lock(mutex_);
  object->handle = make_handle(next_++, object->kind);
  const uintptr_t handle = object->handle;
  live_.emplace(handle, std::move(object));
  return handle;
}

ObjectPtr Objects::find(uintptr_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto it = live_.find(handle);
  return it == live_.end() ? nullptr : it->second;
}

ObjectPtr Objects::remove(uintptr_t handle) {
  const std::lock_guard lock(mutex_);
  const auto it = live_.find(handle);
  if (it == live_.end()) return nullptr;
  ObjectPtr object = std::move(it->second);
  live_.erase(it);
  return object;
}

bool Objects::was(uintptr_t handle, Kind kind) const {
  const std::lock_guard lock(mutex_);
  return number_of(handle) > 0 && number_of(handle) < next_ &&
         kind_bits_of(handle) == kind_bits_of(make_handle(0, kind));
}

std::vector<ObjectPtr> Objects::of_device(const Object* device) const {
  std::vector<ObjectPtr> found;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [handle, object] : live_)
      if (object->device.get() == device) found.push_back(object);
  }
  std::sort(found.begin(), found.end(),
            [](const ObjectPtr& a, const ObjectPtr& b) { return a->handle < b->handle; });
  return found;
}

void Objects::add_layer(ValidationLayer* layer) {
  const std::lock_guard lock(mutex_);
  layers_.push_back(layer);
}

void Objects::remove_layer(ValidationLayer* layer) {
  const std::lock_guard lock(mutex_);
  std::erase(layers_, layer);
  std::erase_if(live_, [&](const auto& entry) { return entry.second->layer == layer; });
}

std::vector<ValidationLayer*> Objects::layers() const {
  const std::lock_guard lock(mutex_);
  return layers_;
}

std::string describe(const Object& object) {
  return fmt::format("{} #{}", name(object.kind), number_of(object.handle));
}

std::string describe(const void* handle) {
  if (!handle) return "NULL";
  const auto number = reinterpret_cast<uintptr_t>(handle);
  for (Kind kind : {Kind::device, Kind::stream, Kind::event, Kind::buffer, Kind::module,
                    Kind::kernel, Kind::recording})
    if (Objects::instance().was(number, kind))
      return fmt::format("{} #{}", name(kind), number_of(number));
  return fmt::format("{:#x}", number);
}

primset_status* make_status(uint32_t code, std::string message) {
  auto* own = new OwnStatus{{}, std::move(message)};
  own->status.struct_size = sizeof(primset_status);
  own->status.code = code;
  own->status.message = own->message.c_str();
  own->status.release = [](primset_status* self) { delete reinterpret_cast<OwnStatus*>(self); };
  return &own->status;
}

}  // namespace primset::plugin::validation
