// A dot_general as oneDNN computes it: where each matrix of its batch lies in memory.
#ifndef PRIMSET_BACKENDS_CPU_CONTRACTION_H_
#define PRIMSET_BACKENDS_CPU_CONTRACTION_H_

#include <primset/plugin.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/common/contraction.h"

namespace primset_cpu {

// A matrix in each batch: element (i, j) of batch p at data + (offsets[p] + i rows + j cols).
struct MatrixBatch {
  const char* data = nullptr;
  int64_t rows = 0, cols = 0;      // strides in elements
  std::vector<int64_t> offsets;    // in elements, one a batch
  std::unique_ptr<char[]> packed;  // holds the elements when they had to be copied
};

// c[p] = a[p] b[p], a of m x k, b of k x n, c contiguous.
struct Contraction {
  uint32_t dtype = 0;  // of a and b
  int64_t m = 1, n = 1, k = 1;
  MatrixBatch a, b;
  char* c = nullptr;
};

// Operands whose strides are not those of a matrix with one dim of stride 1 are copied.
Contraction place_contraction(const primset_primitive_call& call,
                              const primset_backend::ContractionDims& dims);

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_CONTRACTION_H_
