primset_library(primset_kernel_interpreter
  SOURCES
    interpreter.cpp
    interpreter_cooperative.cpp
    interpreter_group.cpp
    interpreter_lanes.cpp
    interpreter_matrix.cpp
    interpreter_memory.cpp
    interpreter_program.cpp
  LIBS primset_kernel)

primset_test(kernel_interpreter_test
  SOURCES interpreter_cooperative_test.cpp interpreter_matrix_test.cpp interpreter_test.cpp
  LIBS primset_kernel_interpreter)
