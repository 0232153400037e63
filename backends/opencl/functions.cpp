#include "backends/opencl/functions.h"

namespace primset_opencl {
namespace {

// A fault of the plugin's own, should it have one.
// clang-format off
#define PRIMSET_CL_FAULTS(X) \
  X(DEVICE_NOT_FOUND) X(PROFILING_INFO_NOT_AVAILABLE) X(COMPILE_PROGRAM_FAILURE) \
  X(LINK_PROGRAM_FAILURE) X(INVALID_VALUE) X(INVALID_PLATFORM) X(INVALID_DEVICE) \
  X(INVALID_CONTEXT) X(INVALID_QUEUE_PROPERTIES) X(INVALID_COMMAND_QUEUE) X(INVALID_MEM_OBJECT) \
  X(INVALID_BINARY) X(INVALID_BUILD_OPTIONS) X(INVALID_PROGRAM) X(INVALID_PROGRAM_EXECUTABLE) \
  X(INVALID_KERNEL) X(INVALID_ARG_INDEX) X(INVALID_ARG_VALUE) X(INVALID_ARG_SIZE) \
  X(INVALID_KERNEL_ARGS) X(INVALID_WORK_DIMENSION) X(INVALID_WORK_GROUP_SIZE) \
  X(INVALID_WORK_ITEM_SIZE) X(INVALID_GLOBAL_OFFSET) X(INVALID_EVENT_WAIT_LIST) X(INVALID_EVENT) \
  X(INVALID_OPERATION) X(INVALID_GLOBAL_WORK_SIZE) X(INVALID_PROPERTY)
// clang-format on
#define PRIMSET_CL_FAULT(name) PRIMSET_KNOWN_RESULT(CL_##name, PRIMSET_INTERNAL),

constexpr primset_backend::KnownResult kKnown[] = {
    PRIMSET_KNOWN_RESULT(CL_DEVICE_NOT_AVAILABLE, PRIMSET_DEVICE_LOST),
    PRIMSET_KNOWN_RESULT(CL_COMPILER_NOT_AVAILABLE, PRIMSET_LOAD_FAILED),
    PRIMSET_KNOWN_RESULT(CL_MEM_OBJECT_ALLOCATION_FAILURE, PRIMSET_OUT_OF_MEMORY),
    PRIMSET_KNOWN_RESULT(CL_OUT_OF_RESOURCES, PRIMSET_OUT_OF_MEMORY),
    PRIMSET_KNOWN_RESULT(CL_OUT_OF_HOST_MEMORY, PRIMSET_OUT_OF_MEMORY),
    PRIMSET_KNOWN_RESULT(CL_BUILD_PROGRAM_FAILURE, PRIMSET_LOAD_FAILED),
    PRIMSET_KNOWN_RESULT(CL_INVALID_KERNEL_NAME, PRIMSET_LOAD_FAILED),
    PRIMSET_KNOWN_RESULT(CL_INVALID_BUFFER_SIZE, PRIMSET_OUT_OF_MEMORY),
    PRIMSET_CL_FAULTS(PRIMSET_CL_FAULT)};

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
