# A changed line in any of an emitter's sources changes the digest, and nothing else does:
# cmake -DROOT=<repository> -DBUILT=<the build's file> -DFOLDER=<scratch> -P this.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/source_digest.cmake)

function(digest_of_copy result)
  primset_write_source_digest(${FOLDER} ${FOLDER}/digest.cpp)
  file(READ ${FOLDER}/digest.cpp text)
  string(REGEX MATCH "[0-9a-f]+\";" digest "${text}")
  set(${result} "${digest}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
primset_emitter_sources(${ROOT} sources)
foreach(source IN LISTS sources)
  cmake_path(GET source PARENT_PATH parent)
  file(COPY ${ROOT}/${source} DESTINATION ${FOLDER}/${parent})
endforeach()
digest_of_copy(unchanged)
string(LENGTH "${unchanged}" length)
if(NOT length EQUAL 66)
  message(FATAL_ERROR "the digest is '${unchanged}'; expected 64 hexadecimal digits")
endif()

# The build's file is up to date with the sources.
file(READ ${BUILT} built)
string(FIND "${built}" "${unchanged}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${BUILT} does not hold the sources' digest ${unchanged}")
endif()

# The same sources leave the file alone.
file(TIMESTAMP ${FOLDER}/digest.cpp before "%s" UTC)
execute_process(COMMAND ${CMAKE_COMMAND} -E sleep 1.1)
digest_of_copy(again)
file(TIMESTAMP ${FOLDER}/digest.cpp after "%s" UTC)
if(NOT before STREQUAL after OR NOT again STREQUAL unchanged)
  message(FATAL_ERROR "unchanged sources wrote ${FOLDER}/digest.cpp anew")
endif()

foreach(source codegen/emit/llvm/lowering.cpp codegen/emit/spirv/memory.cpp
    codegen/emit/emitter.cpp codegen/kernel/math/exp.cpp codegen/kernel/ir/ir.h)
  if(NOT source IN_LIST sources)
    message(FATAL_ERROR "${source} is not among the sources that the digest is of")
  endif()
  file(APPEND ${FOLDER}/${source} "// one more line\n")
  digest_of_copy(changed)
  if(changed STREQUAL unchanged)
    message(FATAL_ERROR "a line more in ${source} leaves the digest as it was")
  endif()
  file(COPY ${ROOT}/${source} DESTINATION ${FOLDER}/restored)
  cmake_path(GET source FILENAME name)
  file(RENAME ${FOLDER}/restored/${name} ${FOLDER}/${source})
endforeach()

# A test's line is none of an emitter's.
file(WRITE ${FOLDER}/codegen/emit/llvm/some_test.cpp "// a test\n")
digest_of_copy(with_test)
if(NOT with_test STREQUAL unchanged)
  message(FATAL_ERROR "a test's file changes the digest")
endif()
