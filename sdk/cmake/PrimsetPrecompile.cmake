# Headers that most files include are parsed once: a third of the time of a clean build. And files of
# a target are compiled a few at a time, which instantiates templates that they share once: a third of
# the rest. With both off every file is compiled alone, as clang-tidy reads them (./test --lint), which
# keeps each one's list of includes complete.
option(PRIMSET_PRECOMPILE "Precompile common headers" ON)
option(PRIMSET_JOIN_FILES "Compile a few files at a time" ON)
# So many that an edited file is compiled with its neighbours in some ten seconds. With half as many,
# compiling the decompositions takes a quarter longer.
set(PRIMSET_JOINED_FILES 16)

set(PRIMSET_COMMON_HEADERS <algorithm> <array> <bit> <cmath> <complex> <cstdint> <cstring>
  <filesystem> <functional> <map> <memory> <optional> <set> <span> <sstream> <stdexcept> <string>
  <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
set(PRIMSET_TEST_HEADERS ${PRIMSET_COMMON_HEADERS} <chrono> <fstream> <random> <thread>
  <gmock/gmock.h> <gtest/gtest.h>)

# Where most files of a folder include them, headers of the project too: what graphs, tracers and the
# values of a call cost lies in their variants, which every file would instantiate anew.
set(PRIMSET_GRAPH_TEST_HEADERS ${PRIMSET_TEST_HEADERS} ${CMAKE_SOURCE_DIR}/decomps/engine/tracer.h
  ${CMAKE_SOURCE_DIR}/prims/graph/builder.h ${CMAKE_SOURCE_DIR}/sdk/include/primset/invoke.h)

# Targets that hold the parsed headers: libraries and programs are compiled with other flags, and
# what is optimised differently shares none.
function(primset_precompiled_headers)
  if(NOT PRIMSET_PRECOMPILE)
    return()
  endif()
  set(source ${CMAKE_BINARY_DIR}/precompiled.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "int main() { return 0; }\n")
  foreach(kind libraries planning)
    set(name primset_precompiled_${kind})
    add_library(${name} OBJECT ${source})
    target_link_libraries(${name} PRIVATE fmt::fmt)
    primset_precompile_own(${name} "${PRIMSET_COMMON_HEADERS}")
  endforeach()
  primset_planning_code(primset_precompiled_planning)
  foreach(kind tests graph_tests)
    set(name primset_precompiled_${kind})
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
    target_link_libraries(${name} PRIVATE fmt::fmt GTest::gtest GTest::gmock)
    primset_quick_to_compile(${name} 0)
    string(TOUPPER PRIMSET_${kind}_HEADERS headers)
    string(REPLACE TESTS TEST headers ${headers})
    primset_precompile_own(${name} "${${headers}}")
  endforeach()
  target_include_directories(primset_precompiled_graph_tests PRIVATE ${CMAKE_SOURCE_DIR}
    ${CMAKE_SOURCE_DIR}/sdk/base/include ${CMAKE_SOURCE_DIR}/sdk/include ${CMAKE_BINARY_DIR}/generated)
  add_dependencies(primset_precompiled_graph_tests primset_generated)
endfunction()

# What runs for a moment: time that the optimiser would take for it is time that nobody gets back.
# Tests go without it, half of what compiling them took. Commands that parse a command line get a
# little: their copies of inline functions are the whole program's.
function(primset_quick_to_compile name level)
  target_compile_options(${name} PRIVATE
    $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O${level}>)
endfunction()

# What makes graphs, kernels, plans and cases, and reports on them: its time goes into memory and
# calls, and into no loop of its own. Inlining large functions and vectorising loops is a fifth of
# the time of compiling it. What runs once a call (sdk/runtime, the plugins), once an element
# (prims/reference, the kernel interpreter), or as the SDK starts (specs) has all of -O2.
function(primset_planning_code name)
  primset_quick_to_compile(${name} 1)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${name} PRIVATE
      "$<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:SHELL:-mllvm -inline-threshold=50>")
  endif()
endfunction()

# primset_precompile_own(name headers): headers parsed once for this target.
function(primset_precompile_own name headers)
  if(NOT PRIMSET_PRECOMPILE)
    return()
  endif()
  foreach(header ${headers})
    target_precompile_headers(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
  endforeach()
  primset_leave_c_alone(${name})
endfunction()

# primset_precompile(name libraries|planning|tests|graph_tests): headers parsed once for all of that
# kind, which is compiled as primset_planning_code() says, or as tests are.
function(primset_precompile name kind)
  if(kind MATCHES tests)
    primset_quick_to_compile(${name} 0)
  elseif(kind STREQUAL planning)
    primset_planning_code(${name})
  endif()
  if(NOT PRIMSET_PRECOMPILE)
    return()
  endif()
  target_precompile_headers(${name} REUSE_FROM primset_precompiled_${kind})
  primset_leave_c_alone(${name})
endfunction()

# primset_join_files(name [file...]): the target's files are compiled a few at a time, those named
# here each on its own: tables that are better alike in their names than different.
function(primset_join_files name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${PRIMSET_JOIN_FILES}
    UNITY_BUILD_BATCH_SIZE ${PRIMSET_JOINED_FILES})
  primset_c_files(${name} c_files)
  set_source_files_properties(${c_files} ${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

function(primset_leave_c_alone name)
  primset_c_files(${name} c_files)
  set_source_files_properties(${c_files} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()

function(primset_c_files name out)
  get_target_property(files ${name} SOURCES)
  list(FILTER files INCLUDE REGEX "\\.c$")
  set(${out} ${files} PARENT_SCOPE)
endfunction()
