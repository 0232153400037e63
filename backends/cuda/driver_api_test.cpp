// Our declarations of the driver's functions against the real ones; built where cuda.h is found.
#include <cuda.h>
#include <gtest/gtest.h>

#include "backends/cuda/driver_api.h"
#include "backends/cuda/testing/same_call.h"

namespace primset_cuda {
namespace {

#define PRIMSET_CUDA_SAME(name, parameters) \
  static_assert(same_call<api::name##_fn, decltype(::name)>(), #name);
// cuda.h gives older forms of these names to newer functions by macros; the names with a number are
// what the library exports.
PRIMSET_CUDA_FUNCTIONS(PRIMSET_CUDA_SAME)

static_assert(int{kSuccess} == CUDA_SUCCESS);
static_assert(int{kErrorOutOfMemory} == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(int{kErrorDeinitialized} == CUDA_ERROR_DEINITIALIZED);
static_assert(int{kErrorStubLibrary} == CUDA_ERROR_STUB_LIBRARY);
static_assert(int{kErrorDeviceUnavailable} == CUDA_ERROR_DEVICE_UNAVAILABLE);
static_assert(int{kErrorNoDevice} == CUDA_ERROR_NO_DEVICE);
static_assert(int{kErrorInvalidImage} == CUDA_ERROR_INVALID_IMAGE);
static_assert(int{kErrorNoBinaryForGpu} == CUDA_ERROR_NO_BINARY_FOR_GPU);
static_assert(int{kErrorEccUncorrectable} == CUDA_ERROR_ECC_UNCORRECTABLE);
static_assert(int{kErrorInvalidPtx} == CUDA_ERROR_INVALID_PTX);
static_assert(int{kErrorNvlinkUncorrectable} == CUDA_ERROR_NVLINK_UNCORRECTABLE);
static_assert(int{kErrorJitCompilerNotFound} == CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
static_assert(int{kErrorUnsupportedPtxVersion} == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
static_assert(int{kErrorJitCompilationDisabled} == CUDA_ERROR_JIT_COMPILATION_DISABLED);
static_assert(int{kErrorInvalidSource} == CUDA_ERROR_INVALID_SOURCE);
static_assert(int{kErrorSymbolNotFound} == CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND);
static_assert(int{kErrorNotFound} == CUDA_ERROR_NOT_FOUND);
static_assert(int{kErrorNotReady} == CUDA_ERROR_NOT_READY);
static_assert(int{kErrorIllegalAddress} == CUDA_ERROR_ILLEGAL_ADDRESS);
static_assert(int{kErrorPeerAccessAlreadyEnabled} == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
static_assert(int{kErrorLaunchTimeout} == CUDA_ERROR_LAUNCH_TIMEOUT);
static_assert(int{kErrorContextIsDestroyed} == CUDA_ERROR_CONTEXT_IS_DESTROYED);
static_assert(int{kErrorAssert} == CUDA_ERROR_ASSERT);
static_assert(int{kErrorHardwareStackError} == CUDA_ERROR_HARDWARE_STACK_ERROR);
static_assert(int{kErrorIllegalInstruction} == CUDA_ERROR_ILLEGAL_INSTRUCTION);
static_assert(int{kErrorMisalignedAddress} == CUDA_ERROR_MISALIGNED_ADDRESS);
static_assert(int{kErrorInvalidAddressSpace} == CUDA_ERROR_INVALID_ADDRESS_SPACE);
static_assert(int{kErrorInvalidPc} == CUDA_ERROR_INVALID_PC);
static_assert(int{kErrorLaunchFailed} == CUDA_ERROR_LAUNCH_FAILED);
#if CUDA_VERSION >= 12030
static_assert(int{kErrorContained} == CUDA_ERROR_CONTAINED);
#endif
static_assert(int{kErrorExternalDevice} == CUDA_ERROR_EXTERNAL_DEVICE);

static_assert(int{kMaxThreadsPerBlock} == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(int{kMaxGridDimX} == CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
static_assert(int{kMaxGridDimY} == CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
static_assert(int{kMaxGridDimZ} == CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
static_assert(int{kMaxSharedMemoryPerBlockOptin} ==
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(kMaxDynamicSharedSizeBytes == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(int{kMaxSharedMemoryPerBlock} == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
static_assert(int{kWarpSize} == CU_DEVICE_ATTRIBUTE_WARP_SIZE);
static_assert(int{kMultiprocessorCount} == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(int{kComputeCapabilityMajor} == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(int{kComputeCapabilityMinor} == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(int{kMemoryPoolsSupported} == CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);

static_assert(int{kProgrammaticStreamSerialization} ==
              CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(LaunchConfig, threads) == offsetof(CUlaunchConfig, blockDimX));
static_assert(offsetof(LaunchConfig, shared_bytes) == offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(LaunchConfig, attribute_count) == offsetof(CUlaunchConfig, numAttrs));

static_assert(sizeof(MemoryAccess) == sizeof(CUmemAccessDesc));
static_assert(offsetof(MemoryAccess, flags) == offsetof(CUmemAccessDesc, flags));
static_assert(offsetof(decltype(MemoryAccess::location), id) == offsetof(CUmemLocation, id));
static_assert(kLocationDevice == CU_MEM_LOCATION_TYPE_DEVICE);
static_assert(kAccessReadWrite == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
static_assert(kPointerMemoryType == CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
static_assert(kMemoryTypeHost == CU_MEMORYTYPE_HOST);
static_assert(kHostAllocPortable == CU_MEMHOSTALLOC_PORTABLE);
static_assert(kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(kEventDisableTiming == CU_EVENT_DISABLE_TIMING);
static_assert(kCaptureModeRelaxed == CU_STREAM_CAPTURE_MODE_RELAXED);
static_assert(kJitErrorLogBuffer == CU_JIT_ERROR_LOG_BUFFER);
static_assert(kJitErrorLogBufferSizeBytes == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(kJitInputPtx == CU_JIT_INPUT_PTX);

TEST(DriverApi, ListTerminatorsAreTheHeaders) {
  EXPECT_EQ(kLaunchParamEnd, CU_LAUNCH_PARAM_END);
  EXPECT_EQ(kLaunchParamBufferPointer, CU_LAUNCH_PARAM_BUFFER_POINTER);
  EXPECT_EQ(kLaunchParamBufferSize, CU_LAUNCH_PARAM_BUFFER_SIZE);
}

}  // namespace
}  // namespace primset_cuda
