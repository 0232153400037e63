// Equations whose matrix is a sparse triangle.
#ifndef PRIMSET_SDK_RUNTIME_SPARSE_MATRICES_TRIANGULAR_SOLUTION_H_
#define PRIMSET_SDK_RUNTIME_SPARSE_MATRICES_TRIANGULAR_SOLUTION_H_

#include "sdk/runtime/sparse/sparse_call.h"

namespace primset::runtime {

struct Triangle {
  bool upper = true;
  bool transpose = false;  // it is the transpose of this triangle that counts
  bool unit = false;       // its diagonal is ones, whatever is stored there
};

// x of a x = b, for a square matrix of any sparse layout, of which entries outside of the triangle
// do not count, and a strided matrix b. Work and memory go with the entries.
Tensor triangular_solution(const Tensor& a, const Tensor& b, const Triangle& triangle);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SPARSE_MATRICES_TRIANGULAR_SOLUTION_H_
