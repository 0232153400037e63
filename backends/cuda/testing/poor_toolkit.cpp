// A library that says it is cuFFT, cuBLAS and cuSOLVER and has next to none of their functions.
#define POOR_FUNCTION(name)                                            \
  extern "C" __attribute__((visibility("default"))) int name(int* x) { \
    *x = 0;                                                            \
    return 0;                                                          \
  }
POOR_FUNCTION(cufftGetVersion)
POOR_FUNCTION(cublasCreate_v2)
POOR_FUNCTION(cusolverGetVersion)
