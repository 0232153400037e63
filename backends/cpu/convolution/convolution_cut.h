// How a convolution is cut into blocks: by its shape alone, so that the bits of its result do not
// depend on how many threads there are.
#ifndef PRIMSET_BACKENDS_CPU_CONVOLUTION_CONVOLUTION_CUT_H_
#define PRIMSET_BACKENDS_CPU_CONVOLUTION_CONVOLUTION_CUT_H_

#include <cstdint>

#include "backends/common/convolution/convolution.h"

namespace primset_cpu {

// Blocks are equal: they have so many images each, and one of so many parts of the groups or, of a
// single group, of the channels that the result has (a gradient by filters: of their outputs).
struct ConvolutionCut {
  int64_t images = 1;  // divides the batch
  int64_t parts = 1;   // divides the groups or channels
  // Of the first spatial dim: all, or some of those of filters that see one place, which need no
  // neighbours.
  int64_t rows = 1;
};

ConvolutionCut cut_convolution(const primset_backend::Convolution& c);

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_CONVOLUTION_CONVOLUTION_CUT_H_
