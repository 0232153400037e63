# Fuzz targets. A target is a function LLVMFuzzerTestOneInput beside what it tests. With PRIMSET_FUZZ
# (the preset `fuzz`) it is linked with libFuzzer, and all that it tests is instrumented as well:
# without that a fuzzer sees nothing of the code behind its harness and tries bytes blindly. In other
# builds the same function is a test that runs over the corpus in the repository.
option(PRIMSET_FUZZ "Instrument all code for libFuzzer and build the fuzz targets (clang only)" OFF)
# Where the targets go, with what they take along: the folder runs on machines without this one's
# libraries.
set(PRIMSET_FUZZ_FOLDER ${CMAKE_BINARY_DIR}/fuzz)

if(PRIMSET_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "PRIMSET_FUZZ needs clang for libFuzzer; the compiler is ${CMAKE_CXX_COMPILER}")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link -ffunction-sections -fdata-sections)
  add_compile_definitions(FMT_HEADER_ONLY)
  add_link_options(-Wl,--gc-sections -Wl,--as-needed)
  add_custom_target(fuzz_targets)
endif()

# primset_prefer_archives(target...): imported shared libraries become the archives beside them.
function(primset_prefer_archives)
  foreach(target ${ARGN})
    if(NOT TARGET ${target})
      continue()
    endif()
    foreach(property IMPORTED_LOCATION IMPORTED_LOCATION_NONE IMPORTED_LOCATION_RELEASE)
      get_target_property(path ${target} ${property})
      string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive "${path}")
      if(EXISTS ${archive})
        set_target_properties(${target} PROPERTIES ${property} ${archive})
      endif()
    endforeach()
  endforeach()
endfunction()

# add_fuzz_target(name SOURCES ... LIBS ... [CORPUS folder] [MUTATE_TEXT] [MAX_LEN bytes]): the target
# NAME_fuzz. Its corpus is testdata/fuzz/NAME beside the caller, or another target's; the dictionary
# is the file beside the corpus that is called as it and .dict, where there is one. MUTATE_TEXT:
# inputs are text, of which tokens, lines and brackets are changed besides bytes. MAX_LEN: of an input
# that the fuzzer makes. GRAPHS: its files include the headers of graphs.
function(add_fuzz_target name)
  cmake_parse_arguments(ARG "GRAPHS;MUTATE_TEXT" "CORPUS;MAX_LEN" "SOURCES;LIBS" ${ARGN})
  set(target ${name}_fuzz)
  set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/testdata/fuzz/${name})
  if(ARG_CORPUS)
    set(corpus ${CMAKE_SOURCE_DIR}/${ARG_CORPUS})
  endif()
  add_executable(${target} ${ARG_SOURCES})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}
    ${CMAKE_SOURCE_DIR}/sdk/base/include ${CMAKE_SOURCE_DIR}/sdk/include ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(${target} PRIVATE ${ARG_LIBS})
  if(PRIMSET_FUZZ)
    if(ARG_MUTATE_TEXT)
      target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/sdk/testing/fuzzing/text_mutator.cpp)
    endif()
    primset_link_fuzzer(${target} ${corpus} "${ARG_MAX_LEN}")
  else()
    primset_replay_main()
    target_link_libraries(${target} PRIVATE primset_replay_main)
    if(ARG_GRAPHS)
      primset_precompile(${target} graph_tests)
    else()
      primset_precompile(${target} tests)
    endif()
    add_test(NAME ${target} COMMAND ${target} ${corpus})
    set_tests_properties(${target} PROPERTIES TIMEOUT 120 LABELS unit)
  endif()
endfunction()

# The main function that all targets share, compiled once.
function(primset_replay_main)
  if(NOT TARGET primset_replay_main)
    add_library(primset_replay_main OBJECT ${CMAKE_SOURCE_DIR}/sdk/testing/fuzzing/replay_main.cpp)
    primset_quick_to_compile(primset_replay_main 0)
  endif()
endfunction()

# The names beside a target are those of OSS-Fuzz: NAME_fuzz.dict, NAME_fuzz.options and a folder
# NAME_fuzz_seed_corpus.
function(primset_link_fuzzer target corpus max_len)
  # Everything but glibc comes along.
  target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/sdk/testing/fuzzing/older_glibc.cpp)
  target_link_options(${target} PRIVATE -fsanitize=fuzzer -static-libstdc++ -static-libgcc)
  set(base ${PRIMSET_FUZZ_FOLDER}/${target})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PRIMSET_FUZZ_FOLDER})
  add_dependencies(fuzz_targets ${target})
  if(NOT max_len)
    set(max_len 4096)
  endif()
  file(CONFIGURE OUTPUT ${base}.options CONTENT "[libfuzzer]\nmax_len = ${max_len}\n")
  if(EXISTS ${corpus}.dict)
    configure_file(${corpus}.dict ${base}.dict COPYONLY)
  endif()
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${base}_seed_corpus
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${corpus} ${base}_seed_corpus VERBATIM)
endfunction()
