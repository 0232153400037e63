# Compiler-wide settings: warnings are errors, optional sanitizers, fast linker, ccache.
set(PRIMSET_SANITIZE "" CACHE STRING "Sanitizers, as given to -fsanitize= (address,undefined or thread)")
option(PRIMSET_WERROR "Treat warnings as errors" ON)

add_compile_options(-Wall -Wextra -Wpedantic -Wno-unused-parameter)
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(PRIMSET_WERROR)
  add_compile_options(-Werror)
endif()
# Two floating-point rules hold everywhere: no contraction and no reassociation, so that the
# reference interpreter means what it says.
add_compile_options(-ffp-contract=off)

# Kernels are compiled by LLVM itself, as they are asked for; what is around them takes some 5 % longer
# to build with -O3.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

# Quick to build and to run; a report names functions and lines.
set(CMAKE_C_FLAGS_SANITIZE "-O1 -gline-tables-only")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -gline-tables-only")
if(PRIMSET_SANITIZE)
  add_compile_options(-fsanitize=${PRIMSET_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PRIMSET_SANITIZE})
endif()

find_program(PRIMSET_CCACHE ccache)
option(PRIMSET_USE_CCACHE "Compile through ccache where it is installed" ON)
if(PRIMSET_CCACHE AND PRIMSET_USE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without these it would pass over every file that uses precompiled headers.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${PRIMSET_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # Threads may be in the middle of a call when the process ends: what they use is never destroyed.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fc++-static-destructors=thread-local>)
  # Two precompilations of the same headers are the same bytes, which ccache compares.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

find_program(PRIMSET_MOLD mold)
find_program(PRIMSET_LLD NAMES ld.lld-22 ld.lld)
if(PRIMSET_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(PRIMSET_LLD AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_link_options(-fuse-ld=${PRIMSET_LLD})
endif()
