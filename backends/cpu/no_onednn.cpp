// For builds without oneDNN's headers.
#include "backends/cpu/primitives.h"

namespace primset_cpu {

bool find_matrix_product(const char*, const primset_primitive_call&, primset_primitive*) {
  return false;
}

bool find_attention(const char*, const primset_primitive_call&, primset_primitive*) {
  return false;
}

bool find_convolution(const char*, const primset_primitive_call&, primset_primitive*) {
  return false;
}

}  // namespace primset_cpu
