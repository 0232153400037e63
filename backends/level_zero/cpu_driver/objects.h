// The objects behind Level Zero's handles, and which of them commands still use. A handle is the
// object's address; one that was destroyed, or is of another kind, is no object's.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_OBJECTS_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_OBJECTS_H_

#include <level_zero/ze_api.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace primset_cpu_driver {

struct Object {
  virtual ~Object() = default;
  std::atomic<int> uses = 0;  // by commands that are not complete
};

// A command's use of an object, from when the command is given until it is complete.
class Use {
 public:
  explicit Use(std::shared_ptr<Object> object) : object_(std::move(object)) { ++object_->uses; }
  Use(Use&& other) noexcept = default;
  Use& operator=(Use&& other) = delete;
  ~Use() {
    if (object_) --object_->uses;
  }

 private:
  std::shared_ptr<Object> object_;
};

// All objects that live. Any thread.
class Objects {
 public:
  void add(std::shared_ptr<Object> object);
  std::shared_ptr<Object> find(const void* handle);
  std::shared_ptr<Object> remove(const void* handle);

 private:
  std::mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<Object>> all_;
};
Objects& objects();

// The handle of a new object.
template <typename Handle, typename T>
ze_result_t give_out(std::shared_ptr<T> object, Handle* out) {
  *out = reinterpret_cast<Handle>(static_cast<Object*>(object.get()));
  objects().add(std::move(object));
  return ZE_RESULT_SUCCESS;
}

// Null where the handle is none of a T.
template <typename T, typename Handle>
std::shared_ptr<T> find(Handle handle) {
  return std::dynamic_pointer_cast<T>(objects().find(reinterpret_cast<const void*>(handle)));
}

// Destroys the object of a handle; one that commands use stays, where the test is strict.
ze_result_t destroy(const void* handle, const char* function);

}  // namespace primset_cpu_driver

// Finds the T of a handle as `name`, or returns from the function.
#define PRIMSET_CPU_DRIVER_FIND(T, name, handle)                           \
  const std::shared_ptr<T> name = ::primset_cpu_driver::find<T>(handle);   \
  if (!name)                                                               \
  return ::primset_cpu_driver::refuse(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, \
                                      "%s: %s is no handle of a live %s", __func__, #handle, #T)

// A function that the loader looks for: it fills one table. The members that are not set are null,
// and the loader answers ZE_RESULT_ERROR_UNSUPPORTED_FEATURE for them.
#define PRIMSET_CPU_DRIVER_TABLE(function, table)                                    \
  extern "C" __attribute__((visibility("default"))) ze_result_t ZE_APICALL function( \
      ze_api_version_t version, table* t)
#define PRIMSET_CPU_DRIVER_CHECK_TABLE(version, t)                                \
  if (ZE_MAJOR_VERSION(version) != 1) return ZE_RESULT_ERROR_UNSUPPORTED_VERSION; \
  if (!(t)) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;                          \
  *(t) = {}

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_OBJECTS_H_
