// A library that says it is cuBLASLt and has next to none of its functions.
#include <cstddef>

extern "C" __attribute__((visibility("default"))) size_t cublasLtGetVersion() {
  return 130000;
}
extern "C" __attribute__((visibility("default"))) int cublasLtCreate(void** handle) {
  *handle = nullptr;
  return 0;
}
