// A libcuda.so.1 for tests: it has no GPU and compiles nothing, but checks how it is called. Work
// given to a stream waits until something synchronises, so that what is reused too early shows.
// Copies and fills are done in host memory; of kernels it runs add_bias of
// backends/common/testing/kernels.h and takes all others for empty.
#ifndef PRIMSET_BACKENDS_CUDA_TESTING_FAKE_DRIVER_H_
#define PRIMSET_BACKENDS_CUDA_TESTING_FAKE_DRIVER_H_

#include <functional>
#include <string>
#include <vector>

#include "backends/cuda/driver_api.h"

namespace fake_cuda {

#define FAKE_CUDA_EXPORT __attribute__((visibility("default")))

// Everything made so far is forgotten; `devices` devices appear.
FAKE_CUDA_EXPORT void reset(int devices = 2);
// The call of `function` after `skip` more returns `result`; sticky: so does every call from then
// on that takes the device.
FAKE_CUDA_EXPORT void fail(const std::string& function, int result, int skip = 0,
                           bool sticky = false);
// What was called wrongly since this was asked last, in words; empty when all was well.
FAKE_CUDA_EXPORT std::vector<std::string> violations();
// Names of the functions called since this was asked last.
FAKE_CUDA_EXPORT std::vector<std::string> calls();
// Launches so far that may begin while the one before ends.
FAKE_CUDA_EXPORT int dependent_launches();
// Contexts retained, memory, streams, events and modules that exist: "" when there are none, else
// their numbers.
FAKE_CUDA_EXPORT std::string leaks();
// Whether devices say that they have memory pools.
FAKE_CUDA_EXPORT void set_memory_pools(bool have);
// Whether devices say that they can access each other's memory.
FAKE_CUDA_EXPORT void set_peers(bool have);
// What cuDriverGetVersion answers.
FAKE_CUDA_EXPORT void set_version(int version);
// The calling thread's context: the device's number, or -1.
FAKE_CUDA_EXPORT int current_device();
FAKE_CUDA_EXPORT void set_current_device(int device);
// While a graph is captured, a thread that makes memory or waits ends the capture, unless it says
// that it means what it does.
FAKE_CUDA_EXPORT void set_capturing(bool capturing);
FAKE_CUDA_EXPORT int thread_capture_mode();

// --- for the libraries that stand on the driver --------------------------------------------------

FAKE_CUDA_EXPORT void add_violation(const std::string& text);
// False, reporting a violation that names `function`, when the bytes are no memory of a device.
FAKE_CUDA_EXPORT bool is_memory(const char* function, primset_cuda::DevicePointer at, size_t bytes);
// Work for a stream, done when it is its turn. False when the stream or its device cannot take it.
FAKE_CUDA_EXPORT bool give_work(const char* function, primset_cuda::Stream stream,
                                std::function<void()> work);
// False, reporting a violation, while a graph is captured and the thread has not said that it
// knows.
FAKE_CUDA_EXPORT bool outside_capture(const char* function);

}  // namespace fake_cuda

#endif  // PRIMSET_BACKENDS_CUDA_TESTING_FAKE_DRIVER_H_
