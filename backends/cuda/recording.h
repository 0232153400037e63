// Recordings are CUDA graphs, captured from the stream.
#ifndef PRIMSET_BACKENDS_CUDA_RECORDING_H_
#define PRIMSET_BACKENDS_CUDA_RECORDING_H_

#include <primset/plugin.h>

#include <memory>
#include <vector>

#include "backends/cuda/driver_api.h"

struct primset_recording_t {
  // Throws BackendError. `kept` is what its work uses beside buffers and modules.
  primset_recording_t(const primset_cuda::DriverApi& cu, primset_cuda::Graph graph,
                      std::vector<std::shared_ptr<const void>> kept);
  ~primset_recording_t();
  primset_recording_t(const primset_recording_t&) = delete;
  primset_recording_t& operator=(const primset_recording_t&) = delete;

  primset_cuda::GraphExec handle = nullptr;

 private:
  const primset_cuda::DriverApi& cu_;
  std::vector<std::shared_ptr<const void>> kept_;
};

#endif  // PRIMSET_BACKENDS_CUDA_RECORDING_H_
