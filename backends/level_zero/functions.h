// The functions of Level Zero that this back end calls, found in the loader's library at run time:
// the plugin loads on machines without Level Zero, and then has no devices. All are of version 1.3
// of the specification or older.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_FUNCTIONS_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_FUNCTIONS_H_

#include <level_zero/ze_api.h>

#include "backends/common/owned.h"
#include "backends/common/shared_library.h"

#define PRIMSET_ZE_FUNCTIONS(X)             \
  X(zeInit)                                 \
  X(zeDriverGet)                            \
  X(zeDriverGetProperties)                  \
  X(zeDriverGetExtensionProperties)         \
  X(zeDeviceGet)                            \
  X(zeDeviceGetProperties)                  \
  X(zeDeviceGetComputeProperties)           \
  X(zeDeviceGetModuleProperties)            \
  X(zeDeviceGetMemoryProperties)            \
  X(zeDeviceGetCommandQueueGroupProperties) \
  X(zeDeviceCanAccessPeer)                  \
  X(zeContextCreate)                        \
  X(zeContextDestroy)                       \
  X(zeMemAllocDevice)                       \
  X(zeMemAllocHost)                         \
  X(zeMemFree)                              \
  X(zeEventPoolCreate)                      \
  X(zeEventPoolDestroy)                     \
  X(zeEventCreate)                          \
  X(zeEventDestroy)                         \
  X(zeEventHostReset)                       \
  X(zeEventHostSignal)                      \
  X(zeEventHostSynchronize)                 \
  X(zeEventQueryStatus)                     \
  X(zeCommandQueueCreate)                   \
  X(zeCommandQueueDestroy)                  \
  X(zeCommandQueueExecuteCommandLists)      \
  X(zeCommandListCreate)                    \
  X(zeCommandListCreateImmediate)           \
  X(zeCommandListDestroy)                   \
  X(zeCommandListClose)                     \
  X(zeCommandListAppendBarrier)             \
  X(zeCommandListAppendEventReset)          \
  X(zeCommandListAppendLaunchKernel)        \
  X(zeCommandListAppendMemoryCopy)          \
  X(zeCommandListAppendMemoryFill)          \
  X(zeModuleCreate)                         \
  X(zeModuleDestroy)                        \
  X(zeModuleGetNativeBinary)                \
  X(zeModuleBuildLogDestroy)                \
  X(zeModuleBuildLogGetString)              \
  X(zeKernelCreate)                         \
  X(zeKernelDestroy)                        \
  X(zeKernelSetArgumentValue)               \
  X(zeKernelSetGroupSize)                   \
  X(zeKernelSetIndirectAccess)

namespace primset_level_zero {

struct Functions {
  PRIMSET_ZE_FUNCTIONS(PRIMSET_DECLARED_MEMBER)

  // Opens libze_loader.so.1 and keeps it; false when there is none. Throws BackendError that names
  // a function which the library lacks.
  bool load();
};

// A struct of the API: it says itself which.
template <typename T>
T structure(ze_structure_type_t type) {
  T it{};
  it.stype = type;
  return it;
}

template <typename Handle>
using Owned = primset_backend::Owned<Handle, ze_result_t>;

}  // namespace primset_level_zero

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_FUNCTIONS_H_
