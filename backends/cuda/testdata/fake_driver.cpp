#include "backends/cuda/testdata/fake_driver.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "backends/cuda/driver_api.h"
#include "backends/cuda/testdata/fake_ptx.h"

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
struct FunctionTag {
  Module module;
  std::string name;
  fake_cuda::Entry entry;
};
struct LinkStateTag {
  char* log = nullptr;
  size_t log_bytes = 0;
  std::string ptx, cubin;
};

}  // namespace primset_cuda

namespace fake_cuda {
namespace {

using namespace primset_cuda;

constexpr Result kInvalidValue = 1, kInvalidContext = 201, kCaptureUnsupported = 900;
constexpr size_t kMemory = size_t{64} << 30;
const std::string kCubinMagic = "FAKECUBIN";

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
  std::vector<std::string> complaints, calls;
  bool pools = true, capturing = false;
  int version = 13000;
};
World& world() {
  static World* instance = new World;  // the plugin may call while the process ends
  return *instance;
}
thread_local Context t_current = nullptr;
thread_local int t_capture_mode = 0;

Result complain(const std::string& text, Result result = kInvalidValue) {
  world().complaints.push_back(text);
  if (const char* folder = std::getenv("FAKE_CUDA_PTX"))
    std::ofstream(std::string(folder) + "/complaints", std::ios::app) << text << std::endl;
  return result;
}

template <typename T>
auto find(std::set<std::unique_ptr<T>>& all, T* handle) {
  return std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.get() == handle; });
}
template <typename T>
bool lives(std::set<std::unique_ptr<T>>& all, T* handle) {
  return find(all, handle) != all.end();
}

// Begins every function: notes the call, and answers an injected failure.
struct Call {
  explicit Call(const char* name) : lock(world().mutex) {
    world().calls.emplace_back(name);
    const auto it = world().failures.find(name);
    if (it == world().failures.end() || it->second.skip-- > 0) return;
    result = it->second.result;
    if (it->second.sticky && t_current) t_current->sticky = result;
    world().failures.erase(it);
  }
  // For functions that work in the thread's context.
  Call& in_context(const char* name) {
    if (result != kSuccess) return *this;
    if (!t_current)
      result = complain(std::string(name) + " without a current context", kInvalidContext);
    else
      result = t_current->sticky;
    return *this;
  }
  // For functions that no capture may see.
  Call& at_once(const char* name) {
    if (result == kSuccess && !outside_capture(name)) result = kCaptureUnsupported;
    return *this;
  }
  // For functions that release something: they do so on a lost device too.
  Call& releases(const char* name) {
    in_context(name);
    if (t_current && result == t_current->sticky) result = kSuccess;
    return *this;
  }
  // For functions that take a handle of the thread's context.
  template <typename T>
  Call& takes(const char* name, std::set<std::unique_ptr<T>>& all, T* handle) {
    if (result != kSuccess) return *this;
    if (!lives(all, handle)) {
      result = complain(std::string(name) + ": no such handle");
    } else if constexpr (requires { handle->context; }) {
      if (handle->context != t_current)
        result = complain(std::string(name) + ": a handle of another context", kInvalidContext);
    }
    return *this;
  }
  std::lock_guard<std::recursive_mutex> lock;
  Result result = kSuccess;
};

// True when [at, at + bytes) lies in one living piece of memory.
template <typename Key>
bool inside(const std::map<Key, Memory>& all, Key at, size_t bytes) {
  auto it = all.upper_bound(at);
  if (it == all.begin()) return false;
  --it;
  return at >= it->first && at + bytes <= it->first + it->second.bytes;
}
bool on_device(const char* function, DevicePointer at, size_t bytes) {
  if (inside(world().memory, at, bytes)) return true;
  complain(std::string(function) + ": " + std::to_string(bytes) + " bytes at " +
           std::to_string(at) + " are no device memory");
  return false;
}
char* host(DevicePointer at) {
  return reinterpret_cast<char*>(at);
}

void give(Stream stream, std::function<void()> work) {
  if (stream->captures) return stream->captured.push_back(std::move(work));
  stream->work.push_back(std::move(work));
  ++stream->given;
}
void step(Stream stream) {
  const std::function<void()> work = std::move(stream->work.front());
  stream->work.pop_front();
  work();
  ++stream->done;
}
void run_until(Stream stream, uint64_t mark) {
  while (stream->done < mark) step(stream);
}
bool reached(Event event) {
  return !event->stream || !lives(world().streams, event->stream) ||
         event->stream->done >= event->mark;
}
void run_until(Event event) {
  if (!reached(event)) run_until(event->stream, event->mark);
}

// What a graph cannot do again: it reads or writes the host's memory of now, or waits.
bool is_captured(const char* function, Stream stream) {
  if (!stream->captures) return false;
  complain(std::string(function) + " on a stream that is captured", kCaptureUnsupported);
  return true;
}

// Both ends are checked when the work is given and again when it is done.
Result give_copy(const char* function, Stream stream, DevicePointer to, DevicePointer from,
                 size_t bytes) {
  if (!on_device(function, to, bytes) || !on_device(function, from, bytes)) return kInvalidValue;
  if (to < from + bytes && from < to + bytes)
    return complain(std::string(function) + ": the ranges overlap");
  give(stream, [=] {
    if (on_device(function, to, bytes) && on_device(function, from, bytes))
      std::memcpy(host(to), host(from), bytes);
  });
  return kSuccess;
}

template <typename T>
Result give_fill(const char* function, Stream stream, DevicePointer to, T value, size_t count) {
  if (to % sizeof(T) != 0) return complain(std::string(function) + ": the address is not aligned");
  if (!on_device(function, to, sizeof(T) * count)) return kInvalidValue;
  give(stream, [=] {
    if (!on_device(function, to, sizeof(T) * count)) return;
    for (size_t i = 0; i < count; ++i) std::memcpy(host(to) + sizeof(T) * i, &value, sizeof(T));
  });
  return kSuccess;
}

void add_bias(unsigned groups, const std::string& params) {
  DevicePointer in = 0, out = 0;
  int32_t bias = 0;
  std::memcpy(&in, params.data(), 8);
  std::memcpy(&out, params.data() + 8, 8);
  std::memcpy(&bias, params.data() + 16, 4);
  const size_t bytes = size_t{4} * groups;
  if (!on_device("add_bias", in, bytes) || !on_device("add_bias", out, bytes)) return;
  for (unsigned g = 0; g < groups; ++g) {
    int32_t value = 0;
    std::memcpy(&value, host(in + 4 * g), 4);
    value += bias;
    std::memcpy(host(out + 4 * g), &value, 4);
  }
}

// For assemble_ptx: what is compiled is kept, for the machine it says.
void keep_ptx(const std::string& ptx) {
  const char* folder = std::getenv("FAKE_CUDA_PTX");
  if (!folder) return;
  const std::string file =
      std::string(folder) + "/" + std::to_string(std::hash<std::string>()(ptx));
  const std::string temporary = file + "." + std::to_string(getpid());
  std::ofstream(temporary) << ptx;
  std::rename(temporary.c_str(), (file + ".ptx").c_str());
}
int compute_capability() {
  const char* sm = std::getenv("FAKE_CUDA_SM");
  return sm ? std::atoi(sm) : 90;
}

// The parameter block of a launch's `extra` list.
bool read_extra(void** extra, std::string& params) {
  const void* buffer = nullptr;
  const size_t* bytes = nullptr;
  for (; *extra != kLaunchParamEnd; extra += 2) {
    if (*extra == kLaunchParamBufferPointer) buffer = extra[1];
    if (*extra == kLaunchParamBufferSize) bytes = static_cast<const size_t*>(extra[1]);
  }
  if (!buffer || !bytes) return false;
  params.assign(static_cast<const char*>(buffer), *bytes);
  return true;
}

Result allocate(DevicePointer* out, size_t bytes, Context context) {
  if (bytes == 0) return complain("an allocation of no bytes");
  if (bytes > kMemory) return kErrorOutOfMemory;
  // As aligned as the driver's.
  std::unique_ptr<char[]> storage(new char[bytes + 256]);
  const auto first = reinterpret_cast<uintptr_t>(storage.get());
  *out = (first + 255) / 256 * 256;
  world().memory[*out] = {bytes, context, std::move(storage)};
  return kSuccess;
}

Result release_memory(const char* function, DevicePointer address) {
  if (world().memory.erase(address) == 1) return kSuccess;
  return complain(std::string(function) + ": " + std::to_string(address) + " is no memory");
}

}  // namespace

// --- control -------------------------------------------------------------------------------------

void reset(int devices) {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  w.links.clear();
  w.executables.clear();
  w.graphs.clear();
  w.modules.clear();
  w.events.clear();
  w.streams.clear();
  w.memory.clear();
  w.locked.clear();
  w.failures.clear();
  w.complaints.clear();
  w.calls.clear();
  w.contexts.clear();
  for (int i = 0; i < devices; ++i) w.contexts.push_back(std::make_unique<ContextTag>(i));
  w.pools = true;
  w.capturing = false;
  w.version = 13000;
  t_current = nullptr;
  t_capture_mode = 0;
}

void fail(const std::string& function, int result, int skip, bool sticky) {
  const std::lock_guard lock(world().mutex);
  world().failures[function] = {result, skip, sticky};
}
std::vector<std::string> complaints() {
  const std::lock_guard lock(world().mutex);
  return world().complaints;
}
std::vector<std::string> calls() {
  const std::lock_guard lock(world().mutex);
  return std::exchange(world().calls, {});
}

std::string leftovers() {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  size_t retained = 0;
  for (const auto& context : w.contexts) retained += static_cast<size_t>(context->retained);
  std::string text;
  const auto add = [&](const char* what, size_t count) {
    if (count > 0) text += std::to_string(count) + " " + what + " ";
  };
  add("contexts", retained);
  add("memory", w.memory.size());
  add("page-locked memory", w.locked.size());
  add("streams", w.streams.size());
  add("events", w.events.size());
  add("modules", w.modules.size());
  add("link states", w.links.size());
  add("graphs", w.graphs.size());
  add("executable graphs", w.executables.size());
  return text;
}

void set_memory_pools(bool have) {
  world().pools = have;
}
void set_version(int version) {
  world().version = version;
}
int current_device() {
  return t_current ? t_current->device : -1;
}
void set_current_device(int device) {
  t_current = device < 0 ? nullptr : world().contexts.at(static_cast<size_t>(device)).get();
}
void set_capturing(bool capturing) {
  world().capturing = capturing;
}
int thread_capture_mode() {
  return t_capture_mode;
}

void complain_of(const std::string& text) {
  const std::lock_guard lock(world().mutex);
  complain(text);
}
bool is_memory(const char* function, DevicePointer at, size_t bytes) {
  const std::lock_guard lock(world().mutex);
  return on_device(function, at, bytes);
}
bool give_work(const char* function, Stream stream, std::function<void()> work) {
  Call call(function);
  call.in_context(function).takes(function, world().streams, stream);
  if (call.result == kSuccess) give(stream, std::move(work));
  return call.result == kSuccess;
}
bool outside_capture(const char* function) {
  const std::lock_guard lock(world().mutex);
  if (!world().capturing || t_capture_mode == kCaptureModeRelaxed) return true;
  complain(std::string(function) + " while a graph is captured");
  return false;
}

}  // namespace fake_cuda

using namespace primset_cuda;
using namespace fake_cuda;

// --- the driver's functions ----------------------------------------------------------------------

#define FAKE(name) extern "C" FAKE_CUDA_EXPORT Result name

FAKE(cuInit)(unsigned flags) {
  const Call call(__func__);
  if (world().contexts.empty()) reset();
  return flags == 0 ? call.result : complain("cuInit: flags");
}
FAKE(cuDriverGetVersion)(int* version) {
  *version = world().version;
  return kSuccess;
}
FAKE(cuGetErrorName)(Result error, const char** text) {
  switch (error) {
    case kErrorOutOfMemory:
      *text = "CUDA_ERROR_OUT_OF_MEMORY";
      return kSuccess;
    case kErrorIllegalAddress:
      *text = "CUDA_ERROR_ILLEGAL_ADDRESS";
      return kSuccess;
    case kErrorInvalidPtx:
      *text = "CUDA_ERROR_INVALID_PTX";
      return kSuccess;
    default:
      return kInvalidValue;
  }
}
FAKE(cuDeviceGetCount)(int* count) {
  const Call call(__func__);
  *count = static_cast<int>(world().contexts.size());
  return call.result;
}
FAKE(cuDeviceGet)(Device* device, int ordinal) {
  *device = ordinal;
  return kSuccess;
}
FAKE(cuDeviceGetName)(char* name, int length, Device device) {
  std::snprintf(name, static_cast<size_t>(length), "Fake GPU %d", device);
  return kSuccess;
}
FAKE(cuDeviceGetAttribute)(int* value, DeviceAttribute attribute, Device) {
  const std::map<DeviceAttribute, int> known = {
      {kMaxThreadsPerBlock, 1024},
      {kMaxGridDimX, INT32_MAX},
      {kMaxGridDimY, 65535},
      {kMaxGridDimZ, 65535},
      {kMaxSharedMemoryPerBlock, 49152},
      {kWarpSize, 32},
      {kMultiprocessorCount, 132},
      {kComputeCapabilityMajor, compute_capability() / 10},
      {kComputeCapabilityMinor, compute_capability() % 10}};
  *value = attribute == kMemoryPoolsSupported ? world().pools : known.at(attribute);
  return kSuccess;
}
FAKE(cuDeviceTotalMem_v2)(size_t* bytes, Device) {
  *bytes = kMemory;
  return kSuccess;
}
FAKE(cuDevicePrimaryCtxRetain)(Context* context, Device device) {
  const Call call(__func__);
  if (call.result != kSuccess) return call.result;
  *context = world().contexts.at(static_cast<size_t>(device)).get();
  ++(*context)->retained;
  return kSuccess;
}
FAKE(cuDevicePrimaryCtxRelease_v2)(Device device) {
  const Call call(__func__);
  ContextTag& context = *world().contexts.at(static_cast<size_t>(device));
  if (context.retained == 0) return complain("a context was released once too often");
  --context.retained;
  return kSuccess;
}
FAKE(cuCtxGetCurrent)(Context* context) {
  *context = t_current;
  return kSuccess;
}
FAKE(cuCtxSetCurrent)(Context context) {
  const Call call(__func__);
  if (context && context->retained == 0) return complain("a context that nobody retains was set");
  t_current = context;
  return call.result;
}

// --- memory

FAKE(cuMemAlloc_v2)(DevicePointer* address, size_t bytes) {
  const Result result = Call(__func__).in_context(__func__).at_once(__func__).result;
  return result == kSuccess ? allocate(address, bytes, t_current) : result;
}
FAKE(cuMemFree_v2)(DevicePointer address) {
  const Result result = Call(__func__).releases(__func__).result;
  return result == kSuccess ? release_memory(__func__, address) : result;
}
FAKE(cuMemAllocAsync)(DevicePointer* address, size_t bytes, Stream stream) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().streams, stream);
  call.at_once(__func__);
  if (!world().pools) complain("cuMemAllocAsync on a device without pools");
  return call.result == kSuccess ? allocate(address, bytes, t_current) : call.result;
}
FAKE(cuMemFreeAsync)(DevicePointer address, Stream stream) {
  Call call(__func__);
  call.releases(__func__).takes(__func__, world().streams, stream);
  return call.result == kSuccess ? release_memory(__func__, address) : call.result;
}
FAKE(cuMemHostAlloc)(void** address, size_t bytes, unsigned) {
  Call call(__func__);
  if (call.in_context(__func__).result != kSuccess) return call.result;
  Memory memory{bytes, t_current, std::unique_ptr<char[]>(new char[bytes])};
  *address = memory.storage.get();
  world().locked[reinterpret_cast<uintptr_t>(*address)] = std::move(memory);
  return kSuccess;
}
FAKE(cuMemFreeHost)(void* address) {
  Call call(__func__);
  if (call.releases(__func__).result != kSuccess) return call.result;
  if (world().locked.erase(reinterpret_cast<uintptr_t>(address)) == 1) return kSuccess;
  return complain("cuMemFreeHost: no such memory");
}

// Page-locked memory is read when the work is done, other memory when it is given: so the driver's
// manual has it.
FAKE(cuMemcpyHtoDAsync_v2)(DevicePointer to, const void* from, size_t bytes, Stream stream) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().streams, stream);
  if (call.result != kSuccess) return call.result;
  if (is_captured("cuMemcpyHtoDAsync", stream)) return kCaptureUnsupported;
  if (!on_device("cuMemcpyHtoDAsync", to, bytes)) return kInvalidValue;
  const bool locked = inside(world().locked, reinterpret_cast<uintptr_t>(from), bytes);
  if (!locked) std::memcpy(host(to), from, bytes);
  give(stream, [=] {
    if (locked && on_device("cuMemcpyHtoDAsync", to, bytes)) std::memcpy(host(to), from, bytes);
  });
  return kSuccess;
}
FAKE(cuMemcpyDtoHAsync_v2)(void* to, DevicePointer from, size_t bytes, Stream stream) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().streams, stream);
  if (call.result != kSuccess) return call.result;
  if (is_captured("cuMemcpyDtoHAsync", stream)) return kCaptureUnsupported;
  if (!on_device("cuMemcpyDtoHAsync", from, bytes)) return kInvalidValue;
  give(stream, [=] {
    if (on_device("cuMemcpyDtoHAsync", from, bytes)) std::memcpy(to, host(from), bytes);
  });
  return kSuccess;
}
FAKE(cuMemcpyDtoDAsync_v2)(DevicePointer to, DevicePointer from, size_t bytes, Stream stream) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().streams, stream);
  return call.result == kSuccess ? give_copy("cuMemcpyDtoDAsync", stream, to, from, bytes)
                                 : call.result;
}
FAKE(cuMemsetD8Async)(DevicePointer to, unsigned char value, size_t count, Stream stream) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().streams, stream);
  return call.result == kSuccess ? give_fill("cuMemsetD8Async", stream, to, value, count)
                                 : call.result;
}
FAKE(cuMemsetD16Async)(DevicePointer to, unsigned short value, size_t count, Stream stream) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().streams, stream);
  return call.result == kSuccess ? give_fill("cuMemsetD16Async", stream, to, value, count)
                                 : call.result;
}
FAKE(cuMemsetD32Async)(DevicePointer to, unsigned value, size_t count, Stream stream) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().streams, stream);
  return call.result == kSuccess ? give_fill("cuMemsetD32Async", stream, to, value, count)
                                 : call.result;
}

// --- streams and events

FAKE(cuStreamCreate)(Stream* stream, unsigned flags) {
  Call call(__func__);
  if (call.in_context(__func__).result != kSuccess) return call.result;
  if (flags != kStreamNonBlocking) complain("a stream that waits for the default stream");
  auto made = std::make_unique<StreamTag>(t_current);
  *stream = made.get();
  world().streams.insert(std::move(made));
  return kSuccess;
}
FAKE(cuStreamDestroy_v2)(Stream stream) {
  Call call(__func__);
  call.releases(__func__).takes(__func__, world().streams, stream);
  if (call.result != kSuccess) return call.result;
  if (!stream->work.empty() && t_current->sticky == kSuccess)
    complain("a stream was destroyed with work in it");
  world().streams.erase(find(world().streams, stream));
  return kSuccess;
}
FAKE(cuStreamSynchronize)(Stream stream) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().streams, stream).at_once(__func__);
  if (call.result != kSuccess) return call.result;
  if (is_captured("cuStreamSynchronize", stream)) return kCaptureUnsupported;
  run_until(stream, stream->given);
  return kSuccess;
}
FAKE(cuStreamWaitEvent)(Stream stream, Event event, unsigned flags) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().streams, stream);
  call.takes(__func__, world().events, event);
  if (call.result != kSuccess) return call.result;
  if (flags != 0) complain("cuStreamWaitEvent: flags");
  // The mark of now, whatever is recorded later.
  give(stream, [mark = *event]() mutable { run_until(&mark); });
  return kSuccess;
}
FAKE(cuStreamBeginCapture_v2)(Stream stream, int mode) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().streams, stream);
  if (call.result != kSuccess) return call.result;
  if (mode != kCaptureModeRelaxed) complain("a capture that other threads may end");
  if (is_captured("cuStreamBeginCapture", stream)) return kCaptureUnsupported;
  stream->captures = true;
  return kSuccess;
}
FAKE(cuStreamEndCapture)(Stream stream, Graph* graph) {
  Call call(__func__);
  *graph = nullptr;
  call.in_context(__func__).takes(__func__, world().streams, stream);
  if (lives(world().streams, stream)) {
    if (!std::exchange(stream->captures, false))
      return complain("cuStreamEndCapture: the stream is not captured");
    Work work = std::exchange(stream->captured, {});
    if (call.result != kSuccess) return call.result;
    auto made = std::make_unique<GraphTag>(std::move(work));
    *graph = made.get();
    world().graphs.insert(std::move(made));
  }
  return call.result;
}
FAKE(cuGraphInstantiateWithFlags)(GraphExec* exec, Graph graph, unsigned long long flags) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().graphs, graph);
  if (call.result != kSuccess) return call.result;
  if (flags != 0) complain("cuGraphInstantiate: flags");
  auto made = std::make_unique<GraphExecTag>(t_current, graph->work);
  *exec = made.get();
  world().executables.insert(std::move(made));
  return kSuccess;
}
FAKE(cuGraphDestroy)(Graph graph) {
  Call call(__func__);
  call.takes(__func__, world().graphs, graph);
  if (call.result == kSuccess) world().graphs.erase(find(world().graphs, graph));
  return call.result;
}
FAKE(cuGraphLaunch)(GraphExec exec, Stream stream) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().streams, stream);
  call.takes(__func__, world().executables, exec);
  if (call.result != kSuccess) return call.result;
  for (const std::function<void()>& work : exec->work) give(stream, work);
  return kSuccess;
}
FAKE(cuGraphExecDestroy)(GraphExec exec) {
  Call call(__func__);
  call.releases(__func__).takes(__func__, world().executables, exec);
  if (call.result == kSuccess) world().executables.erase(find(world().executables, exec));
  return call.result;
}
FAKE(cuThreadExchangeStreamCaptureMode)(int* mode) {
  std::swap(*mode, t_capture_mode);
  return kSuccess;
}
FAKE(cuEventCreate)(Event* event, unsigned flags) {
  Call call(__func__);
  if (call.in_context(__func__).result != kSuccess) return call.result;
  if (flags != kEventDisableTiming) complain("an event that keeps time");
  auto made = std::make_unique<EventTag>(t_current);
  *event = made.get();
  world().events.insert(std::move(made));
  return kSuccess;
}
FAKE(cuEventDestroy_v2)(Event event) {
  Call call(__func__);
  call.takes(__func__, world().events, event);
  if (call.result == kSuccess) world().events.erase(find(world().events, event));
  return call.result;
}
FAKE(cuEventRecord)(Event event, Stream stream) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().streams, stream);
  call.takes(__func__, world().events, event);
  if (call.result != kSuccess) return call.result;
  if (is_captured("cuEventRecord", stream)) return kCaptureUnsupported;
  give(stream, [] {});
  event->stream = stream;
  event->mark = stream->given;
  return kSuccess;
}
FAKE(cuEventQuery)(Event event) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().events, event);
  if (call.result != kSuccess || reached(event)) return call.result;
  step(event->stream);
  return kErrorNotReady;
}
FAKE(cuEventSynchronize)(Event event) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().events, event);
  if (call.result == kSuccess) run_until(event);
  return call.result;
}

// --- modules and launches

FAKE(cuLinkCreate_v2)(unsigned count, int* options, void** values, LinkState* state) {
  Call call(__func__);
  if (call.in_context(__func__).result != kSuccess) return call.result;
  auto made = std::make_unique<LinkStateTag>();
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == kJitErrorLogBuffer) made->log = static_cast<char*>(values[i]);
    if (options[i] == kJitErrorLogBufferSizeBytes)
      made->log_bytes = reinterpret_cast<size_t>(values[i]);
  }
  *state = made.get();
  world().links.insert(std::move(made));
  return kSuccess;
}
FAKE(cuLinkAddData_v2)(LinkState state, int type, void* data, size_t bytes, const char*, unsigned,
                       int*, void**) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().links, state);
  if (call.result != kSuccess) return call.result;
  if (type != kJitInputPtx) return complain("cuLinkAddData: not PTX");
  const auto* text = static_cast<const char*>(data);
  if (bytes == 0 || text[bytes - 1] != '\0') return complain("cuLinkAddData: no NUL at the end");
  state->ptx.assign(text, bytes - 1);
  if (is_ptx(state->ptx)) {
    keep_ptx(state->ptx);
    return kSuccess;
  }
  if (state->log) std::snprintf(state->log, state->log_bytes, "fake: this is no PTX");
  return kErrorInvalidPtx;
}
FAKE(cuLinkComplete)(LinkState state, void** cubin, size_t* bytes) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().links, state);
  if (call.result != kSuccess) return call.result;
  state->cubin = kCubinMagic + state->ptx;
  *cubin = state->cubin.data();
  *bytes = state->cubin.size() + 1;
  return kSuccess;
}
FAKE(cuLinkDestroy)(LinkState state) {
  Call call(__func__);
  call.takes(__func__, world().links, state);
  if (call.result == kSuccess) world().links.erase(find(world().links, state));
  return call.result;
}
FAKE(cuModuleLoadData)(Module* module, const void* image) {
  Call call(__func__);
  if (call.in_context(__func__).result != kSuccess) return call.result;
  const std::string text(static_cast<const char*>(image));
  if (!text.starts_with(kCubinMagic)) return kErrorInvalidImage;
  auto made = std::make_unique<ModuleTag>(t_current, text.substr(kCubinMagic.size()));
  *module = made.get();
  world().modules.insert(std::move(made));
  return kSuccess;
}
FAKE(cuModuleUnload)(Module module) {
  Call call(__func__);
  call.releases(__func__).takes(__func__, world().modules, module);
  if (call.result == kSuccess) world().modules.erase(find(world().modules, module));
  return call.result;
}
FAKE(cuModuleGetFunction)(Function* function, Module module, const char* name) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().modules, module);
  if (call.result != kSuccess) return call.result;
  const std::optional<Entry> entry = find_entry(module->ptx, name);
  if (!entry) return kErrorNotFound;
  auto& made = module->functions[name];
  if (!made) made = std::make_unique<FunctionTag>(module, name, *entry);
  *function = made.get();
  return kSuccess;
}

FAKE(cuLaunchKernel)(Function function, unsigned groups_x, unsigned groups_y, unsigned groups_z,
                     unsigned threads_x, unsigned threads_y, unsigned threads_z,
                     unsigned shared_bytes, Stream stream, void** params, void** extra) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().streams, stream);
  if (call.result != kSuccess) return call.result;
  if (!lives(world().modules, function->module)) return complain("a launch of an unloaded kernel");
  if (groups_x == 0 || groups_y == 0 || groups_z == 0) return complain("a launch of no groups");
  const std::array<unsigned, 3> threads{threads_x, threads_y, threads_z};
  const Entry& entry = function->entry;
  if (entry.threads[0] != 0 && entry.threads != threads)
    return complain(function->name + ": launched with other threads than .reqntid says");
  std::string block;
  if (params || shared_bytes != 0 || !read_extra(extra, block))
    return complain("a launch without a parameter block");
  if (block.size() != entry.param_bytes)
    return complain(function->name + ": a parameter block of " + std::to_string(block.size()) +
                    " bytes; the kernel declares " + std::to_string(entry.param_bytes));
  give(stream, [=, name = function->name] {
    if (name == "add_bias") add_bias(groups_x, block);
  });
  return kSuccess;
}
