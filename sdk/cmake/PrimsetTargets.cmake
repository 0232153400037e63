include(PrimsetPrecompile)

# primset_library(name SOURCES ... LIBS ... [PRECOMPILE ...] [SEPARATE ...] [PLANNING]): a static library inside
# the SDK. Headers are included by their path from the repository's root ("prims/graph/graph.h"), so
# that an include names its layer. PRECOMPILE names headers besides the common ones that are parsed
# once, SEPARATE files that are not compiled together with others. PLANNING: primset_planning_code().
function(primset_library name)
  cmake_parse_arguments(ARG "PLANNING" "" "SOURCES;LIBS;PRECOMPILE;SEPARATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/sdk/base/include
    ${CMAKE_SOURCE_DIR}/sdk/include
    ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(${name} PUBLIC ${ARG_LIBS})
  if(ARG_PRECOMPILE)
    list(TRANSFORM ARG_PRECOMPILE PREPEND ${CMAKE_SOURCE_DIR}/ REGEX "^[^<]")
    primset_precompile_own(${name} "${PRIMSET_COMMON_HEADERS};${ARG_PRECOMPILE}")
    if(ARG_PLANNING)
      primset_planning_code(${name})
    endif()
  elseif(ARG_PLANNING)
    primset_precompile(${name} planning)
  else()
    primset_precompile(${name} libraries)
  endif()
  primset_join_files(${name} ${ARG_SEPARATE})
endfunction()

# primset_test(name SOURCES ... LIBS ... [LABELS ...] [GRAPHS]): a GoogleTest executable, one CTest
# entry. GRAPHS: its files include the headers of graphs.
function(primset_test name)
  cmake_parse_arguments(ARG "GRAPHS" "TIMEOUT" "SOURCES;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}
    ${CMAKE_SOURCE_DIR}/sdk/base/include ${CMAKE_SOURCE_DIR}/sdk/include
    ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest GTest::gmock GTest::gtest_main)
  if(ARG_GRAPHS)
    primset_precompile(${name} graph_tests)
  else()
    primset_precompile(${name} tests)
  endif()
  primset_join_files(${name})
  target_compile_definitions(${name} PRIVATE PRIMSET_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    PRIMSET_BUILD_DIR="${CMAKE_BINARY_DIR}")
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "unit;${ARG_LABELS}")
endfunction()
