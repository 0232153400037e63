# Headers that most files include are parsed once: a third of the time of a clean build. Not together
# with ccache, which would then cache nothing unless its configuration allows for that; building both
# ways keeps every file's own list of includes complete.
option(PRIMSET_PRECOMPILE "Precompile common headers where ccache is not used" ON)
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(PRIMSET_PRECOMPILE OFF)
endif()

set(PRIMSET_COMMON_HEADERS <algorithm> <array> <bit> <cmath> <complex> <cstdint> <cstring>
  <filesystem> <functional> <map> <memory> <optional> <set> <span> <sstream> <stdexcept> <string>
  <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
set(PRIMSET_TEST_HEADERS ${PRIMSET_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)

# Two targets that hold the parsed headers: libraries and programs are compiled with other flags.
function(primset_precompiled_headers)
  if(NOT PRIMSET_PRECOMPILE)
    return()
  endif()
  set(source ${CMAKE_BINARY_DIR}/precompiled.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "int main() { return 0; }\n")
  add_library(primset_precompiled_libraries OBJECT ${source})
  add_executable(primset_precompiled_tests EXCLUDE_FROM_ALL ${source})
  target_link_libraries(primset_precompiled_libraries PRIVATE fmt::fmt)
  target_link_libraries(primset_precompiled_tests PRIVATE fmt::fmt GTest::gtest GTest::gmock)
  foreach(header ${PRIMSET_COMMON_HEADERS})
    target_precompile_headers(primset_precompiled_libraries PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
  endforeach()
  foreach(header ${PRIMSET_TEST_HEADERS})
    target_precompile_headers(primset_precompiled_tests PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
  endforeach()
endfunction()

# primset_precompile(name libraries|tests)
function(primset_precompile name kind)
  if(NOT PRIMSET_PRECOMPILE)
    return()
  endif()
  target_precompile_headers(${name} REUSE_FROM primset_precompiled_${kind})
  get_target_property(sources ${name} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.c$")
  set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
