// The fake driver's devices, memory, streams, events and graphs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "backends/cuda/testing/fake_world.h"

using namespace primset_cuda;
using namespace fake_cuda;

namespace {

constexpr size_t kMemory = size_t{64} << 30;

// Whether the thread's device may access the memory.
bool is_mapped(DevicePointer address) {
  const auto owner = std::prev(world().memory.upper_bound(address));
  const std::pair<int, int> access(t_current->device, owner->second.context->device);
  if (access.first == access.second) return true;
  return world().mapped_contexts.contains(access) &&
         (!world().pools || world().mapped_pools.contains(access));
}

// Both ends are checked when the work is given and again when it is done.
Result give_copy(const char* function, Stream stream, DevicePointer to, DevicePointer from,
                 size_t bytes) {
  if (!on_device(function, to, bytes) || !on_device(function, from, bytes)) return kInvalidValue;
  if (!is_mapped(from) || !is_mapped(to))
    return report_violation(std::string(function) + ": memory of a device that is not mapped");
  if (to < from + bytes && from < to + bytes)
    return report_violation(std::string(function) + ": the ranges overlap");
  give(stream, [=] {
    if (on_device(function, to, bytes) && on_device(function, from, bytes))
      std::memcpy(host(to), host(from), bytes);
  });
  return kSuccess;
}

template <typename T>
Result give_fill(const char* function, Stream stream, DevicePointer to, T value, size_t count) {
  if (to % sizeof(T) != 0)
    return report_violation(std::string(function) + ": the address is not aligned");
  if (!on_device(function, to, sizeof(T) * count)) return kInvalidValue;
  give(stream, [=] {
    if (!on_device(function, to, sizeof(T) * count)) return;
    for (size_t i = 0; i < count; ++i) std::memcpy(host(to) + sizeof(T) * i, &value, sizeof(T));
  });
  return kSuccess;
}

int compute_capability() {
  const char* sm = std::getenv("FAKE_CUDA_SM");
  return sm ? std::atoi(sm) : 90;
}

Result allocate(DevicePointer* out, size_t bytes, Context context) {
  if (bytes == 0) return report_violation("an allocation of no bytes");
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
  return report_violation(std::string(function) + ": " + std::to_string(address) + " is no memory");
}

}  // namespace

FAKE(cuInit)(unsigned flags) {
  const Call call(__func__);
  if (world().contexts.empty()) reset();
  return flags == 0 ? call.result : report_violation("cuInit: flags");
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
      {kMaxSharedMemoryPerBlockOptin, kLargeSharedBytes},
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
  if (context.retained == 0) return report_violation("a context was released once too often");
  --context.retained;
  return kSuccess;
}
FAKE(cuCtxGetCurrent)(Context* context) {
  *context = t_current;
  return kSuccess;
}
FAKE(cuCtxSetCurrent)(Context context) {
  const Call call(__func__);
  if (context && context->retained == 0)
    return report_violation("a context that nobody retains was set");
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
  if (!world().pools) report_violation("cuMemAllocAsync on a device without pools");
  return call.result == kSuccess ? allocate(address, bytes, t_current) : call.result;
}
FAKE(cuMemFreeAsync)(DevicePointer address, Stream stream) {
  Call call(__func__);
  call.releases(__func__).takes(__func__, world().streams, stream);
  return call.result == kSuccess ? release_memory(__func__, address) : call.result;
}

// --- peers

FAKE(cuDeviceCanAccessPeer)(int* can, Device device, Device peer) {
  const Call call(__func__);
  *can = world().peers && device != peer;
  return call.result;
}
FAKE(cuCtxEnablePeerAccess)(Context peer, unsigned flags) {
  const Result result = Call(__func__).in_context(__func__).result;
  if (result != kSuccess) return result;
  if (flags != 0) report_violation("cuCtxEnablePeerAccess: flags");
  const bool added = world().mapped_contexts.insert({t_current->device, peer->device}).second;
  return added ? kSuccess : kErrorPeerAccessAlreadyEnabled;
}
FAKE(cuDeviceGetDefaultMemPool)(MemoryPool* pool, Device device) {
  const Call call(__func__);
  if (!world().pools) return report_violation("cuDeviceGetDefaultMemPool without pools");
  *pool = reinterpret_cast<MemoryPool>(static_cast<uintptr_t>(device) + 1);
  return call.result;
}
FAKE(cuMemPoolSetAccess)(MemoryPool pool, const MemoryAccess* access, size_t count) {
  const Call call(__func__);
  if (call.result != kSuccess) return call.result;
  const int owner = static_cast<int>(reinterpret_cast<uintptr_t>(pool)) - 1;
  for (size_t i = 0; i < count; ++i) {
    if (access[i].location.type != kLocationDevice || access[i].flags != kAccessReadWrite)
      return report_violation("cuMemPoolSetAccess: not for a device to read and write");
    world().mapped_pools.insert({access[i].location.id, owner});
  }
  return kSuccess;
}

// --- memory of the host

FAKE(cuPointerGetAttribute)(void* value, int attribute, DevicePointer address) {
  const Call call(__func__);
  if (call.result != kSuccess) return call.result;
  if (attribute != kPointerMemoryType) return report_violation("cuPointerGetAttribute");
  if (!inside(world().locked, static_cast<uintptr_t>(address), 1)) return kInvalidValue;
  std::memcpy(value, &kMemoryTypeHost, sizeof(kMemoryTypeHost));
  return kSuccess;
}
FAKE(cuMemHostAlloc)(void** address, size_t bytes, unsigned) {
  Call call(__func__);
  if (call.in_context(__func__).result != kSuccess) return call.result;
  constexpr uintptr_t kPage = 4096;
  Memory memory{bytes, t_current, std::unique_ptr<char[]>(new char[bytes + kPage])};
  const auto first = reinterpret_cast<uintptr_t>(memory.storage.get());
  *address = reinterpret_cast<void*>((first + kPage - 1) / kPage * kPage);
  world().locked[reinterpret_cast<uintptr_t>(*address)] = std::move(memory);
  return kSuccess;
}
FAKE(cuMemFreeHost)(void* address) {
  Call call(__func__);
  if (call.releases(__func__).result != kSuccess) return call.result;
  if (world().locked.erase(reinterpret_cast<uintptr_t>(address)) == 1) return kSuccess;
  return report_violation("cuMemFreeHost: no such memory");
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
  if (flags != kStreamNonBlocking) report_violation("a stream that waits for the default stream");
  return make(world().streams, stream, t_current);
}
FAKE(cuStreamDestroy_v2)(Stream stream) {
  Call call(__func__);
  call.releases(__func__).takes(__func__, world().streams, stream);
  if (call.result != kSuccess) return call.result;
  if (!stream->work.empty() && t_current->sticky == kSuccess)
    report_violation("a stream was destroyed with work in it");
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
  if (call.result != kSuccess) return call.result;
  // The event may be of another device.
  if (!lives(world().events, event)) return report_violation("cuStreamWaitEvent: no such event");
  if (flags != 0) report_violation("cuStreamWaitEvent: flags");
  // The mark of now, whatever is recorded later.
  give(stream, [mark = *event]() mutable { run_until(&mark); });
  return kSuccess;
}
FAKE(cuStreamBeginCapture_v2)(Stream stream, int mode) {
  Call call(__func__);
  call.in_context(__func__).takes(__func__, world().streams, stream);
  if (call.result != kSuccess) return call.result;
  if (mode != kCaptureModeRelaxed) report_violation("a capture that other threads may end");
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
      return report_violation("cuStreamEndCapture: the stream is not captured");
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
  if (flags != 0) report_violation("cuGraphInstantiate: flags");
  return make(world().executables, exec, t_current, graph->work);
}
FAKE(cuGraphDestroy)(Graph graph) {
  Call call(__func__);
  call.takes(__func__, world().graphs, graph);
  return call.erase(world().graphs, graph);
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
  return call.erase(world().executables, exec);
}
FAKE(cuThreadExchangeStreamCaptureMode)(int* mode) {
  std::swap(*mode, t_capture_mode);
  return kSuccess;
}
FAKE(cuEventCreate)(Event* event, unsigned flags) {
  Call call(__func__);
  if (call.in_context(__func__).result != kSuccess) return call.result;
  if (flags != kEventDisableTiming) report_violation("an event that keeps time");
  return make(world().events, event, t_current);
}
FAKE(cuEventDestroy_v2)(Event event) {
  Call call(__func__);
  call.takes(__func__, world().events, event);
  return call.erase(world().events, event);
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
