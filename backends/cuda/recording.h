// Recordings are CUDA graphs, captured from the stream.
#ifndef PRIMSET_BACKENDS_CUDA_RECORDING_H_
#define PRIMSET_BACKENDS_CUDA_RECORDING_H_

#include <primset/plugin.h>

namespace primset_cuda {

extern const primset_recordings kRecordings;

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_RECORDING_H_
