#include "backends/opencl/functions.h"

#include "backends/common/shared_library.h"

namespace primset_opencl {

bool Functions::load() {
  primset_backend::SharedLibrary library("libOpenCL.so.1");
  if (!library) return false;
#define PRIMSET_CL_LOAD(name) library.need(name, #name);
  PRIMSET_CL_FUNCTIONS(PRIMSET_CL_LOAD)
#undef PRIMSET_CL_LOAD
  return library.missing().empty();
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
