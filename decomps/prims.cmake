# What else belongs to the decompositions of derived primitives: their tests, one file a category.
file(GLOB prim_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/prim_*_test.cpp)
primset_test(decomps_prims_test SOURCES ${prim_tests} LIBS primset_decomps primset_reference)
# prim_elementwise_unary.cpp and prim_elementwise_binary.cpp define what this file does.
set_source_files_properties(prim_elementwise.cpp PROPERTIES HEADER_FILE_ONLY ON)
