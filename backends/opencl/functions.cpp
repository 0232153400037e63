#include "backends/opencl/functions.h"

namespace primset_opencl {
namespace {

constexpr primset_backend::KnownResult kKnown[] = {
    PRIMSET_KNOWN_RESULT(CL_DEVICE_NOT_AVAILABLE, PRIMSET_DEVICE_LOST),
    PRIMSET_KNOWN_RESULT(CL_COMPILER_NOT_AVAILABLE, PRIMSET_LOAD_FAILED),
    PRIMSET_KNOWN_RESULT(CL_MEM_OBJECT_ALLOCATION_FAILURE, PRIMSET_OUT_OF_MEMORY),
    PRIMSET_KNOWN_RESULT(CL_OUT_OF_RESOURCES, PRIMSET_OUT_OF_MEMORY),
    PRIMSET_KNOWN_RESULT(CL_OUT_OF_HOST_MEMORY, PRIMSET_OUT_OF_MEMORY),
    PRIMSET_KNOWN_RESULT(CL_BUILD_PROGRAM_FAILURE, PRIMSET_LOAD_FAILED),
    PRIMSET_KNOWN_RESULT(CL_INVALID_KERNEL_NAME, PRIMSET_LOAD_FAILED),
    PRIMSET_KNOWN_RESULT(CL_INVALID_BUFFER_SIZE, PRIMSET_OUT_OF_MEMORY),
};

constexpr primset_backend::KnownResult kKnownOfWaits[] = {
    {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES of a command", PRIMSET_DEVICE_LOST},
    PRIMSET_KNOWN_RESULT(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, PRIMSET_DEVICE_LOST),
    PRIMSET_KNOWN_RESULT(CL_OUT_OF_HOST_MEMORY, PRIMSET_OUT_OF_MEMORY),
};

}  // namespace

constinit const primset_backend::Results kResults(kKnown), kResultsOfWaits(kKnownOfWaits);

bool Functions::load() {
  primset_backend::SharedLibrary library("libOpenCL.so.1");
  if (!library) return false;
  PRIMSET_CL_FUNCTIONS(PRIMSET_DECLARED_NEED)
  return library.missing().empty();
}

bool Functions::load_memory(cl_platform_id platform) {
  bool all = true;
#define PRIMSET_CL_LOAD(name)                                                                      \
  name =                                                                                           \
      reinterpret_cast<decltype(name)>(clGetExtensionFunctionAddressForPlatform(platform, #name)); \
  all = all && name;
  PRIMSET_CL_MEMORY_FUNCTIONS(PRIMSET_CL_LOAD)
#undef PRIMSET_CL_LOAD
  return all;
}

}  // namespace primset_opencl
