// A libcuda.so.1 for tests: it has no GPU and compiles nothing, but checks how it is called. Work
// given to a stream waits until something synchronises, so that what is reused too early shows.
// Copies and fills are done in host memory; of kernels it runs add_bias of
// backends/common/test_kernels.h and takes all others for empty.
#ifndef PRIMSET_BACKENDS_CUDA_TESTDATA_FAKE_DRIVER_H_
#define PRIMSET_BACKENDS_CUDA_TESTDATA_FAKE_DRIVER_H_

#include <string>
#include <vector>

namespace fake_cuda {

#define FAKE_CUDA_EXPORT __attribute__((visibility("default")))

// Everything made so far is forgotten; `devices` devices appear.
FAKE_CUDA_EXPORT void reset(int devices = 2);
// The call of `function` after `skip` more returns `result`; sticky: so does every call from then
// on that takes the device.
FAKE_CUDA_EXPORT void fail(const std::string& function, int result, int skip = 0,
                           bool sticky = false);
// What was called wrongly, in words; empty when all was well.
FAKE_CUDA_EXPORT std::vector<std::string> complaints();
// Names of the functions called since this was asked last.
FAKE_CUDA_EXPORT std::vector<std::string> calls();
// Contexts retained, memory, streams, events and modules that exist: "" when there are none, else
// their numbers.
FAKE_CUDA_EXPORT std::string leftovers();
// Whether devices say that they have memory pools.
FAKE_CUDA_EXPORT void set_memory_pools(bool have);
// What cuDriverGetVersion answers.
FAKE_CUDA_EXPORT void set_version(int version);
// The calling thread's context: the device's number, or -1.
FAKE_CUDA_EXPORT int current_device();
FAKE_CUDA_EXPORT void set_current_device(int device);

}  // namespace fake_cuda

#endif  // PRIMSET_BACKENDS_CUDA_TESTDATA_FAKE_DRIVER_H_
