// The functions of CUDA's driver that this back end calls, found in libcuda.so.1 at run time: the
// plugin builds without CUDA and loads on machines without it, and then has no devices.
//
// The declarations are our own; driver_api_test.cpp holds them against the real cuda.h where there
// is one.
#ifndef PRIMSET_BACKENDS_CUDA_DRIVER_API_H_
#define PRIMSET_BACKENDS_CUDA_DRIVER_API_H_

#include <cstddef>
#include <cstdint>

namespace primset_cuda {

using Result = int;
using Device = int;
using DevicePointer = unsigned long long;
using Context = struct ContextTag*;
using Stream = struct StreamTag*;
using Event = struct EventTag*;
using Module = struct ModuleTag*;
using Function = struct FunctionTag*;
using LinkState = struct LinkStateTag*;
using Graph = struct GraphTag*;
using GraphExec = struct GraphExecTag*;
using MemoryPool = struct MemoryPoolTag*;

enum : Result {
  kSuccess = 0,
  kErrorOutOfMemory = 2,
  kErrorDeinitialized = 4,
  kErrorStubLibrary = 34,
  kErrorDeviceUnavailable = 46,
  kErrorNoDevice = 100,
  kErrorInvalidImage = 200,
  kErrorNoBinaryForGpu = 209,
  kErrorEccUncorrectable = 214,
  kErrorInvalidPtx = 218,
  kErrorNvlinkUncorrectable = 220,
  kErrorJitCompilerNotFound = 221,
  kErrorUnsupportedPtxVersion = 222,
  kErrorJitCompilationDisabled = 223,
  kErrorContained = 226,
  kErrorInvalidSource = 300,
  kErrorSymbolNotFound = 302,
  kErrorNotFound = 500,
  kErrorNotReady = 600,
  kErrorIllegalAddress = 700,
  kErrorLaunchTimeout = 702,
  kErrorPeerAccessAlreadyEnabled = 704,
  kErrorContextIsDestroyed = 709,
  kErrorAssert = 710,
  kErrorHardwareStackError = 714,
  kErrorIllegalInstruction = 715,
  kErrorMisalignedAddress = 716,
  kErrorInvalidAddressSpace = 717,
  kErrorInvalidPc = 718,
  kErrorLaunchFailed = 719,
  kErrorExternalDevice = 911,
};

enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxGridDimX = 5,
  kMaxGridDimY = 6,
  kMaxGridDimZ = 7,
  kMaxSharedMemoryPerBlock = 8,
  kWarpSize = 10,
  kMultiprocessorCount = 16,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedMemoryPerBlockOptin = 97,
  kMemoryPoolsSupported = 115,
};

// What a launch says beside its kernel.
enum LaunchAttributeId : int { kProgrammaticStreamSerialization = 6 };
struct LaunchAttribute {  // NOLINT(bugprone-tagged-union-member-count): as in cuda.h
  LaunchAttributeId id;
  alignas(8) union {
    char bytes[64];
    int allowed;
  } value;
};
struct LaunchConfig {
  unsigned groups[3], threads[3];
  unsigned shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

// Who may access the memory of a pool, and how.
struct MemoryAccess {
  struct {
    int type, id;
  } location;
  int flags;
};
inline constexpr int kLocationDevice = 1;
inline constexpr int kAccessReadWrite = 3;

inline constexpr int kPointerMemoryType = 2;  // attribute of an address
inline constexpr unsigned kMemoryTypeHost = 1;
inline constexpr unsigned kHostAllocPortable = 1;
inline constexpr int kMaxDynamicSharedSizeBytes = 8;  // of a function
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr int kCaptureModeRelaxed = 2;
inline constexpr int kJitErrorLogBuffer = 5;
inline constexpr int kJitErrorLogBufferSizeBytes = 6;
inline constexpr int kJitInputPtx = 1;
// The members of a launch's `extra` list.
inline void* const kLaunchParamEnd = nullptr;
inline void* const kLaunchParamBufferPointer = reinterpret_cast<void*>(1);
inline void* const kLaunchParamBufferSize = reinterpret_cast<void*>(2);

// X(name in the library, its parameters)
#define PRIMSET_CUDA_FUNCTIONS(X)                                                              \
  X(cuInit, (unsigned flags))                                                                  \
  X(cuDriverGetVersion, (int* version))                                                        \
  X(cuGetErrorName, (Result error, const char** text))                                         \
  X(cuDeviceGetCount, (int* count))                                                            \
  X(cuDeviceGet, (Device * device, int ordinal))                                               \
  X(cuDeviceGetName, (char* name, int length, Device device))                                  \
  X(cuDeviceGetAttribute, (int* value, DeviceAttribute attribute, Device device))              \
  X(cuDeviceTotalMem_v2, (size_t* bytes, Device device))                                       \
  X(cuDevicePrimaryCtxRetain, (Context * context, Device device))                              \
  X(cuDevicePrimaryCtxRelease_v2, (Device device))                                             \
  X(cuCtxGetCurrent, (Context * context))                                                      \
  X(cuCtxSetCurrent, (Context context))                                                        \
  X(cuMemAlloc_v2, (DevicePointer * address, size_t bytes))                                    \
  X(cuMemFree_v2, (DevicePointer address))                                                     \
  X(cuMemAllocAsync, (DevicePointer * address, size_t bytes, Stream stream))                   \
  X(cuMemFreeAsync, (DevicePointer address, Stream stream))                                    \
  X(cuDeviceCanAccessPeer, (int* can, Device device, Device peer))                             \
  X(cuCtxEnablePeerAccess, (Context peer, unsigned flags))                                     \
  X(cuDeviceGetDefaultMemPool, (MemoryPool * pool, Device device))                             \
  X(cuMemPoolSetAccess, (MemoryPool pool, const MemoryAccess* access, size_t count))           \
  X(cuPointerGetAttribute, (void* value, int attribute, DevicePointer address))                \
  X(cuMemHostAlloc, (void** address, size_t bytes, unsigned flags))                            \
  X(cuMemFreeHost, (void* address))                                                            \
  X(cuMemcpyHtoDAsync_v2, (DevicePointer to, const void* from, size_t bytes, Stream stream))   \
  X(cuMemcpyDtoHAsync_v2, (void* to, DevicePointer from, size_t bytes, Stream stream))         \
  X(cuMemcpyDtoDAsync_v2, (DevicePointer to, DevicePointer from, size_t bytes, Stream stream)) \
  X(cuMemsetD8Async, (DevicePointer to, unsigned char value, size_t count, Stream stream))     \
  X(cuMemsetD16Async, (DevicePointer to, unsigned short value, size_t count, Stream stream))   \
  X(cuMemsetD32Async, (DevicePointer to, unsigned value, size_t count, Stream stream))         \
  X(cuStreamCreate, (Stream * stream, unsigned flags))                                         \
  X(cuStreamDestroy_v2, (Stream stream))                                                       \
  X(cuStreamSynchronize, (Stream stream))                                                      \
  X(cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))                           \
  X(cuThreadExchangeStreamCaptureMode, (int* mode))                                            \
  X(cuStreamBeginCapture_v2, (Stream stream, int mode))                                        \
  X(cuStreamEndCapture, (Stream stream, Graph * graph))                                        \
  X(cuGraphInstantiateWithFlags, (GraphExec * exec, Graph graph, unsigned long long flags))    \
  X(cuGraphDestroy, (Graph graph))                                                             \
  X(cuGraphLaunch, (GraphExec exec, Stream stream))                                            \
  X(cuGraphExecDestroy, (GraphExec exec))                                                      \
  X(cuEventCreate, (Event * event, unsigned flags))                                            \
  X(cuEventDestroy_v2, (Event event))                                                          \
  X(cuEventRecord, (Event event, Stream stream))                                               \
  X(cuEventQuery, (Event event))                                                               \
  X(cuEventSynchronize, (Event event))                                                         \
  X(cuLinkCreate_v2, (unsigned count, int* options, void** values, LinkState* state))          \
  X(cuLinkAddData_v2, (LinkState state, int type, void* data, size_t bytes, const char* name,  \
                       unsigned count, int* options, void** values))                           \
  X(cuLinkComplete, (LinkState state, void** cubin, size_t* bytes))                            \
  X(cuLinkDestroy, (LinkState state))                                                          \
  X(cuModuleLoadData, (Module * module, const void* image))                                    \
  X(cuModuleUnload, (Module module))                                                           \
  X(cuModuleGetFunction, (Function * function, Module module, const char* name))               \
  X(cuFuncSetAttribute, (Function function, int attribute, int value))                         \
  X(cuLaunchKernelEx, (const LaunchConfig* config, Function kernel, void** params, void** extra))

#define PRIMSET_CUDA_TYPE(name, parameters) using name##_fn = Result(*) parameters;
namespace api {
PRIMSET_CUDA_FUNCTIONS(PRIMSET_CUDA_TYPE)
}
#undef PRIMSET_CUDA_TYPE

struct DriverApi {
#define PRIMSET_CUDA_MEMBER(name, parameters) api::name##_fn name = nullptr;
  PRIMSET_CUDA_FUNCTIONS(PRIMSET_CUDA_MEMBER)
#undef PRIMSET_CUDA_MEMBER

  // Opens libcuda.so.1 and keeps it; false when there is none. Throws BackendError that names a
  // function which the library lacks.
  bool load();
};

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_DRIVER_API_H_
