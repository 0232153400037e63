primset_library(primset_kernel_math
  SOURCES
    math_arith.cpp
    math_erf.cpp
    math_exact.cpp
    math_exp.cpp
    math_f8.cpp
    math_half.cpp
    math_log.cpp
    math_philox.cpp
    math_pow.cpp
    math_trig.cpp
    math_trig_reduce.cpp
  LIBS primset_kernel)

# The tests' harness, and the references the functions are measured against.
primset_library(primset_kernel_math_testing
  SOURCES
    math_accuracy.cpp
    math_test_util.cpp
  LIBS primset_kernel_math primset_kernel_interpreter)

foreach(theme accuracy exact f8 half philox)
  primset_test(kernel_math_${theme}_test
    SOURCES math_${theme}_test.cpp
    LIBS primset_kernel_math_testing)
endforeach()
