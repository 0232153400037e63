#include "sdk/runtime/plugin/validation/scope.h"

#include <fmt/format.h>

#include <utility>

namespace primset::plugin::validation {

Scope::~Scope() {
  if (!entered_) return;
  const std::lock_guard lock(entered_->mutex);
  if (--entered_->depth == 0) entered_->owner = {};
}

void Scope::fail(std::string text) {
  std::string finding = fmt::format("{}: {}", function_, text);
  if (layer_) {
    layer_->add_finding(finding);
  } else {
    // An unknown handle names no layer: it is everybody's finding.
    for (ValidationLayer* layer : Objects::instance().layers()) layer->add_finding(finding);
  }
  if (!message_.empty()) message_ += "; ";
  message_ += finding;
}

void Scope::not_recording(const ObjectPtr& stream) {
  if (stream && stream->records)
    fail(fmt::format("{} records; expected recordings.end first", describe(*stream)));
}

bool Scope::required(const void* pointer, std::string_view argument) {
  if (!pointer) fail(fmt::format("{} is NULL", argument));
  return pointer != nullptr;
}

ObjectPtr Scope::get(Kind kind, const void* handle, std::string_view argument) {
  if (!handle) {
    fail(fmt::format("{} is NULL; expected a {}", argument, name(kind)));
    return nullptr;
  }
  const auto number = reinterpret_cast<uintptr_t>(handle);
  ObjectPtr object = Objects::instance().find(number);
  if (!object || object->kind != kind) {
    const bool stale = !object && Objects::instance().was(number, kind);
    fail(fmt::format("{} is {}, {}", argument, describe(handle),
                     stale    ? "which was released already"
                     : object ? fmt::format("not a {}", name(kind))
                              : fmt::format("which never was a {} of this plugin", name(kind))));
    return nullptr;
  }
  layer_ = object->layer;
  const ObjectPtr device = kind == Kind::device ? object : object->device;
  if (device_ && device_ != device) {
    fail(fmt::format("{} is {} of {}, but the call is about {}", argument, describe(*object),
                     describe(*device), describe(*device_)));
    return nullptr;
  }
  device_ = device;
  return object;
}

ObjectPtr Scope::enter(Kind kind, const void* handle, std::string_view argument) {
  ObjectPtr object = get(kind, handle, argument);
  if (!object) return nullptr;
  bool overlaps = false;
  {
    const std::lock_guard lock(object->mutex);
    overlaps = object->depth > 0 && object->owner != std::this_thread::get_id();
    object->owner = std::this_thread::get_id();
    ++object->depth;
  }
  entered_ = object;
  if (overlaps) {
    fail(fmt::format("{} is in use by another thread; calls on one {} never overlap",
                     describe(*object), name(kind)));
    return nullptr;
  }
  return object;
}

ObjectPtr Scope::get_of_peer(Kind kind, const void* handle, std::string_view argument) {
  const ObjectPtr own = std::move(device_);
  device_ = nullptr;
  ObjectPtr object = get(kind, handle, argument);
  const ObjectPtr device = std::exchange(device_, own);
  if (!object || !own) return object;
  layer_ = own->layer;
  if (device == own)
    fail(fmt::format("{} is {} of {} itself; expected one of a peer", argument, describe(*object),
                     describe(*own)));
  else if (device->layer != own->layer)
    fail(fmt::format("{} is {} of another plugin", argument, describe(*object)));
  else
    return object;
  return nullptr;
}

ObjectPtr Scope::within(ObjectPtr buffer, uint64_t offset, uint64_t bytes,
                        std::string_view argument) {
  if (buffer && (offset > buffer->bytes || bytes > buffer->bytes - offset)) {
    fail(fmt::format("{} is {} of {} bytes; the range of {} bytes at offset {} leaves it", argument,
                     describe(*buffer), buffer->bytes, bytes, offset));
    return nullptr;
  }
  return buffer;
}

ObjectPtr Scope::place(primset_buffer buffer, uint64_t offset, uint64_t bytes,
                       std::string_view argument) {
  if (bytes == 0 && !buffer) return nullptr;
  return within(get(Kind::buffer, buffer, argument), offset, bytes, argument);
}

ObjectPtr Scope::place_of_peer(primset_buffer buffer, uint64_t offset, uint64_t bytes,
                               std::string_view argument) {
  if (bytes == 0 && !buffer) return nullptr;
  return within(get_of_peer(Kind::buffer, buffer, argument), offset, bytes, argument);
}

primset_status* Scope::refuse() const {
  return make_status(PRIMSET_INVALID_ARGUMENT, message_);
}

primset_status* Scope::stop() {
  if (!ok()) return refuse();
  return layer_ ? layer_->fault(function_) : nullptr;
}

primset_status* Scope::result(primset_status* status) {
  if (!status) return nullptr;
  if (status->struct_size < sizeof(primset_status) || !status->release || !status->message ||
      status->code == PRIMSET_OK || status->code > PRIMSET_INTERNAL)
    fail(fmt::format("the plugin returned a status that breaks the rules (struct_size {}, code {})",
                     status->struct_size, status->code));
  return status;
}

}  // namespace primset::plugin::validation
