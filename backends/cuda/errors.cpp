#include "backends/cuda/errors.h"

namespace primset_cuda {

uint32_t status_code(Result result) {
  switch (result) {
    case kErrorOutOfMemory:
      return PRIMSET_OUT_OF_MEMORY;
    case kErrorInvalidImage:
    case kErrorNoBinaryForGpu:
    case kErrorInvalidPtx:
    case kErrorJitCompilerNotFound:
    case kErrorUnsupportedPtxVersion:
    case kErrorJitCompilationDisabled:
    case kErrorInvalidSource:
    case kErrorSymbolNotFound:
    case kErrorNotFound:
      return PRIMSET_LOAD_FAILED;
    case kErrorDeinitialized:
    case kErrorDeviceUnavailable:
    case kErrorEccUncorrectable:
    case kErrorNvlinkUncorrectable:
    case kErrorContained:
    case kErrorIllegalAddress:
    case kErrorLaunchTimeout:
    case kErrorContextIsDestroyed:
    case kErrorAssert:
    case kErrorHardwareStackError:
    case kErrorIllegalInstruction:
    case kErrorMisalignedAddress:
    case kErrorInvalidAddressSpace:
    case kErrorInvalidPc:
    case kErrorLaunchFailed:
    case kErrorExternalDevice:
      return PRIMSET_DEVICE_LOST;
    default:
      return PRIMSET_INTERNAL;
  }
}

std::string result_name(const DriverApi& cu, Result result) {
  const char* name = nullptr;
  if (cu.cuGetErrorName(result, &name) != kSuccess || !name) name = "unknown error";
  return std::string(name) + " (" + std::to_string(result) + ")";
}

void fail(const DriverApi& cu, Result result, const char* function) {
  throw BackendError(status_code(result), std::string(function) + ": " + result_name(cu, result));
}

}  // namespace primset_cuda
