// What the parts of the fake toolkit share.
#ifndef PRIMSET_BACKENDS_CUDA_TESTING_FAKE_TOOLKIT_WORLD_H_
#define PRIMSET_BACKENDS_CUDA_TESTING_FAKE_TOOLKIT_WORLD_H_

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/testing/fake_toolkit.h"

namespace fake_toolkit {

struct World {
  std::recursive_mutex mutex;
  std::map<std::string, std::pair<int, int>> failures;
  std::vector<std::string> calls;
  int cufft = 12000, cublas = 13, cusolver = 12000;
  size_t cudnn = 91300;
  size_t workspace_bytes = 4096;
  // Handles, by what they are; a handle's stream.
  std::set<std::pair<std::string, const void*>> living;
  std::map<const void*, primset_cuda::Stream> streams;
  size_t plans = 0;
};
World& world();

// Begins every function: notes the call and answers an injected failure.
struct Call {
  explicit Call(const char* name, bool noted = true);
  // Complains of a handle that does not live.
  Call& takes(const char* kind, const void* handle);
  // Complains of memory that the device does not have.
  Call& reads(const void* at, size_t bytes);
  Call& needs(bool right, const char* what);
  // Work on a handle's stream; false when it cannot be given.
  bool give(const void* handle, std::function<void()> work);

  std::lock_guard<std::recursive_mutex> lock;
  const char* name;
  int status = 0;
};

// Answers of calls that are wrong: no library's own.
inline constexpr int kWrongCall = 77;

template <typename Handle>
int make_handle(const char* function, const char* kind, Handle* out) {
  Call call(function);
  if (call.status != 0) return call.status;
  *out = reinterpret_cast<Handle>(new char);
  world().living.emplace(kind, *out);
  return 0;
}
template <typename Handle>
int destroy_handle(const char* function, const char* kind, Handle handle) {
  Call call(function);
  if (call.takes(kind, handle).status != 0) return call.status;
  world().living.erase({kind, handle});
  world().streams.erase(handle);
  delete reinterpret_cast<char*>(handle);
  return 0;
}
template <typename Handle>
int set_stream(const char* function, const char* kind, Handle handle, primset_cuda::Stream stream) {
  Call call(function);
  if (call.takes(kind, handle).status != 0) return call.status;
  world().streams[handle] = stream;
  return 0;
}

}  // namespace fake_toolkit

#define FAKE_TOOLKIT(name) extern "C" FAKE_CUDA_EXPORT int name

#endif  // PRIMSET_BACKENDS_CUDA_TESTING_FAKE_TOOLKIT_WORLD_H_
