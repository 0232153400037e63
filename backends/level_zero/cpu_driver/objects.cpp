#include "backends/level_zero/cpu_driver/objects.h"

#include "backends/level_zero/cpu_driver/settings.h"

namespace primset_cpu_driver {

void Objects::add(std::shared_ptr<Object> object) {
  const std::lock_guard lock(mutex_);
  all_[object.get()] = std::move(object);
}

std::shared_ptr<Object> Objects::find(const void* handle) {
  const std::lock_guard lock(mutex_);
  const auto at = all_.find(handle);
  return at == all_.end() ? nullptr : at->second;
}

std::shared_ptr<Object> Objects::remove(const void* handle) {
  const std::lock_guard lock(mutex_);
  const auto at = all_.find(handle);
  if (at == all_.end()) return nullptr;
  std::shared_ptr<Object> object = std::move(at->second);
  all_.erase(at);
  return object;
}

Objects& objects() {
  static auto* const all = new Objects;  // outlives the threads of lists that were not destroyed
  return *all;
}

ze_result_t destroy(const void* handle, const char* function) {
  const std::shared_ptr<Object> object = objects().find(handle);
  if (!object) return refuse(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "%s: no live object", function);
  if (settings().strict && object->uses > 0)
    return refuse(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "%s: commands still use it", function);
  objects().remove(handle);
  return ZE_RESULT_SUCCESS;
}

}  // namespace primset_cpu_driver
