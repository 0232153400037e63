// For builds without oneDNN's headers.
#include "backends/cpu/primitives.h"

namespace primset_cpu {

const primset_primitives* native_primitives() {
  return nullptr;
}

}  // namespace primset_cpu
