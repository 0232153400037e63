# What else belongs to the decompositions of derived primitives: their tests, one file a category.
file(GLOB prim_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/prim_*_test.cpp)
primset_test(decomps_prims_test SOURCES ${prim_tests} LIBS primset_decomps primset_reference)
