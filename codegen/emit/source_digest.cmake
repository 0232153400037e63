# Writes the source file of source_digest.h: cmake -DROOT=<repository> -DOUTPUT=<file> -P this.
# A file that would not change is not touched, so that nothing is built again.

# primset_emitter_sources(root result [CONFIGURE_DEPENDS]): the files that decide what an emitter
# writes. Tests do not, nor does the interpreter of kernel IR.
function(primset_emitter_sources root result)
  file(GLOB_RECURSE files RELATIVE ${root} ${ARGN} ${root}/codegen/emit/*.h
    ${root}/codegen/emit/*.cpp ${root}/codegen/emit/*.def ${root}/codegen/kernel/*.h
    ${root}/codegen/kernel/*.cpp ${root}/codegen/kernel/*.def)
  list(FILTER files EXCLUDE REGEX "_test\\.|/testing/|/interpreter/")
  list(SORT files)
  set(${result} ${files} PARENT_SCOPE)
endfunction()

function(primset_write_source_digest root output)
  primset_emitter_sources(${root} files)
  set(listing "")
  foreach(file IN LISTS files)
    file(SHA256 ${root}/${file} hash)
    string(APPEND listing "${hash} ${file}\n")
  endforeach()
  string(SHA256 digest "${listing}")
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [[
#include "codegen/emit/source_digest.h"

namespace primset::emit {

const char* source_digest() {
  return "@digest@";
}

}  // namespace primset::emit
]])
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  primset_write_source_digest(${ROOT} ${OUTPUT})
endif()
