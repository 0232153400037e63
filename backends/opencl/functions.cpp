#include "backends/opencl/functions.h"

#include <dlfcn.h>

namespace primset_opencl {

bool Functions::load() {
  // Never closed: drivers leave threads and exit handlers behind that live in its address space.
  void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  bool all = true;
#define PRIMSET_CL_LOAD(name)                                     \
  name = reinterpret_cast<decltype(name)>(dlsym(library, #name)); \
  all = all && name;
  PRIMSET_CL_FUNCTIONS(PRIMSET_CL_LOAD)
#undef PRIMSET_CL_LOAD
  return all;
}

bool MemoryFunctions::load(const Functions& cl, cl_platform_id platform) {
  bool all = true;
#define PRIMSET_CL_LOAD(name)                                        \
  name = reinterpret_cast<decltype(name)>(                           \
      cl.clGetExtensionFunctionAddressForPlatform(platform, #name)); \
  all = all && name;
  PRIMSET_CL_MEMORY_FUNCTIONS(PRIMSET_CL_LOAD)
#undef PRIMSET_CL_LOAD
  return all;
}

}  // namespace primset_opencl
