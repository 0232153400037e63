// What the fake driver knows: contexts, memory, streams and all that was made of them.
#ifndef PRIMSET_BACKENDS_CUDA_TESTING_FAKE_WORLD_H_
#define PRIMSET_BACKENDS_CUDA_TESTING_FAKE_WORLD_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/driver_api.h"
#include "backends/cuda/testing/fake_driver.h"
#include "backends/cuda/testing/fake_ptx.h"

namespace primset_cuda {

struct ContextTag {
  int device;
  int retained = 0;
  Result sticky = kSuccess;
};
using Work = std::vector<std::function<void()>>;
struct StreamTag {
  Context context;
  std::deque<std::function<void()>> work;
  uint64_t given = 0, done = 0;
  bool captures = false;
  Work captured;
};
struct GraphTag {
  Work work;
};
struct GraphExecTag {
  Context context;
  Work work;
};
struct EventTag {
  Context context;
  Stream stream = nullptr;  // null: not recorded, reached
  uint64_t mark = 0;
};
struct ModuleTag {
  Context context;
  std::string ptx;
  std::map<std::string, std::unique_ptr<FunctionTag>> functions;
};
// Workgroup memory of a kernel whose launches bring it.
inline constexpr int kLargeSharedBytes = 232448;

struct FunctionTag {
  Module module;
  std::string name;
  fake_cuda::Entry entry;
  unsigned most_shared_bytes = 0;  // that a launch may bring
};
struct LinkStateTag {
  char* log = nullptr;
  size_t log_bytes = 0;
  std::string ptx, cubin;
};

}  // namespace primset_cuda

namespace fake_cuda {

using namespace primset_cuda;

inline constexpr Result kInvalidValue = 1, kInvalidContext = 201, kCaptureUnsupported = 900;

struct Memory {
  size_t bytes;
  Context context;
  std::unique_ptr<char[]> storage;
};
struct Failure {
  Result result;
  int skip;
  bool sticky;
};

struct World {
  std::recursive_mutex mutex;
  std::vector<std::unique_ptr<ContextTag>> contexts;
  std::map<DevicePointer, Memory> memory;
  std::map<uintptr_t, Memory> locked;  // page-locked host memory
  std::set<std::unique_ptr<StreamTag>> streams;
  std::set<std::unique_ptr<EventTag>> events;
  std::set<std::unique_ptr<ModuleTag>> modules;
  std::set<std::unique_ptr<LinkStateTag>> links;
  std::set<std::unique_ptr<GraphTag>> graphs;
  std::set<std::unique_ptr<GraphExecTag>> executables;
  std::map<std::string, Failure> failures;
  std::vector<std::string> violations, calls;
  bool pools = true, capturing = false, peers = true;
  // Whose memory a device reads and writes beside its own: (device, peer), of contexts and of
  // pools.
  std::set<std::pair<int, int>> mapped_contexts, mapped_pools;
  int version = 13000, dependent_launches = 0;
};
World& world();
extern thread_local Context t_current;
extern thread_local int t_capture_mode;

Result report_violation(const std::string& text, Result result = kInvalidValue);

// --- handles -------------------------------------------------------------------------------------

template <typename T>
auto find(std::set<std::unique_ptr<T>>& all, T* handle) {
  return std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.get() == handle; });
}
template <typename T>
bool lives(std::set<std::unique_ptr<T>>& all, T* handle) {
  return find(all, handle) != all.end();
}

// Makes one and gives its handle.
template <typename T, typename... Parts>
Result make(std::set<std::unique_ptr<T>>& all, T** handle, Parts&&... parts) {
  auto made = std::make_unique<T>(std::forward<Parts>(parts)...);
  *handle = made.get();
  all.insert(std::move(made));
  return kSuccess;
}

// Begins every function: notes the call, and answers an injected failure.
struct Call {
  explicit Call(const char* name);
  // For functions that work in the thread's context.
  Call& in_context(const char* name);
  // For functions that no capture may see.
  Call& at_once(const char* name);
  // For functions that release something: they do so on a lost device too.
  Call& releases(const char* name);
  // For functions that take a handle of the thread's context.
  template <typename T>
  Call& takes(const char* name, std::set<std::unique_ptr<T>>& all, T* handle) {
    if (result != kSuccess) return *this;
    if (!lives(all, handle)) {
      result = report_violation(std::string(name) + ": no such handle");
    } else if constexpr (requires { handle->context; }) {
      if (handle->context != t_current)
        result =
            report_violation(std::string(name) + ": a handle of another context", kInvalidContext);
    }
    return *this;
  }
  // Ends those that destroy a handle.
  template <typename T>
  Result erase(std::set<std::unique_ptr<T>>& all, T* handle) {
    if (result == kSuccess) all.erase(find(all, handle));
    return result;
  }
  std::lock_guard<std::recursive_mutex> lock;
  Result result = kSuccess;
};

// --- memory and streams --------------------------------------------------------------------------

// True when [at, at + bytes) lies in one living piece of memory.
template <typename Key>
bool inside(const std::map<Key, Memory>& all, Key at, size_t bytes) {
  auto it = all.upper_bound(at);
  if (it == all.begin()) return false;
  --it;
  return at >= it->first && at + bytes <= it->first + it->second.bytes;
}
// False, reporting a violation, when the bytes are no memory of a device.
bool on_device(const char* function, DevicePointer at, size_t bytes);
inline char* host(DevicePointer at) {
  return reinterpret_cast<char*>(at);
}

// Work that waits for its turn; part of the graph while the stream is captured.
void give(Stream stream, std::function<void()> work);
void step(Stream stream);
void run_until(Stream stream, uint64_t mark);
bool reached(Event event);
void run_until(Event event);
// Complains of what a graph cannot do again: it reads or writes the host's memory of now, or waits.
bool is_captured(const char* function, Stream stream);

}  // namespace fake_cuda

#define FAKE(name) extern "C" FAKE_CUDA_EXPORT Result name

#endif  // PRIMSET_BACKENDS_CUDA_TESTING_FAKE_WORLD_H_
