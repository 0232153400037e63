# Makes the bundle: one archive that runs Primset's command line, conformance, samples and
# benchmarks on a Linux machine that has glibc and nothing of ours.
#   cmake -DSOURCE=<source> -DWORK=<folder> -DVERSION=<v> -DC=<compiler> -DCXX=<compiler>
#         -DSTRIP=<strip> [-DPYTHON=<interpreter>] -P bundle.cmake
# With PYTHON, the Python module for that interpreter's version comes too, as lib/python/primset; it
# needs nanobind and the version's headers.
# LLVM is linked in, with the host's machine and NVPTX alone: that is a quarter of libLLVM and none
# of what libLLVM needs. All other shared libraries but glibc's come along.

cmake_host_system_information(RESULT machine QUERY OS_PLATFORM)
set(limit_bytes 60000000)
set(build ${WORK}/build)
set(name primset-${VERSION}-linux-${machine})
set(stage ${WORK}/${name})
set(archive ${WORK}/${name}.tar.xz)
set(llvm_hosts_x86_64 X86)
set(llvm_hosts_aarch64 AArch64)
set(targets primset primset_cli primset_probe cpu_primset cuda_primset level_zero_primset opencl_primset
  vulkan_primset primset_device_check
  primset_cuda_planted_errors primset_device_benchmark primset_graph_overhead primset_peer_worker
  sentence_embedding)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# --- build ---------------------------------------------------------------------------------------
# The old kind of run path is inherited by the libraries that a library needs.
set(python_options -DPRIMSET_PYTHON=OFF)
if(PYTHON)
  set(python_options -DPRIMSET_PYTHON=ON -DPython_EXECUTABLE=${PYTHON} -U nanobind_DIR -U NB_*)
  list(APPEND targets primset_python)
endif()
set(link_flags "-Wl,--as-needed -Wl,--disable-new-dtags -Wl,--gc-sections")
execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${build} --log-level=WARNING
  ${python_options} -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX}
  "-DPRIMSET_STATIC_LLVM=${llvm_hosts_${machine}};NVPTX"
  -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON
  "-DCMAKE_INSTALL_RPATH=$ORIGIN/../lib;$ORIGIN;$ORIGIN/..;$ORIGIN/../.."
  "-DCMAKE_EXE_LINKER_FLAGS=${link_flags}" "-DCMAKE_SHARED_LINKER_FLAGS=${link_flags}"
  "-DCMAKE_MODULE_LINKER_FLAGS=${link_flags}" COMMAND_ERROR_IS_FATAL ANY)
run(${CMAKE_COMMAND} --build ${build} --target ${targets})

# --- collect -------------------------------------------------------------------------------------
file(REMOVE_RECURSE ${stage})
set(programs primset primset_cuda_planted_errors primset_device_check primset_device_benchmark
  primset_graph_overhead primset_peer_worker sentence_embedding)
foreach(program ${programs})
  file(COPY ${build}/bin/${program} DESTINATION ${stage}/bin)
endforeach()
file(GLOB own ${build}/lib/libprimset.so*)
file(COPY ${own} DESTINATION ${stage}/lib)
file(COPY ${SOURCE}/sdk/base/include/primset ${SOURCE}/sdk/include/primset ${build}/generated/primset DESTINATION ${stage}/include
  FILES_MATCHING PATTERN "*.h")
file(GLOB plugins ${build}/lib/primset/plugins/*.so)
file(COPY ${plugins} DESTINATION ${stage}/lib/primset/plugins)
file(COPY ${build}/lib/primset/primset-probe DESTINATION ${stage}/lib/primset)
if(PYTHON)
  file(GLOB module ${build}/python/primset/_primset*.so ${SOURCE}/sdk/python/primset/*.py*)
  file(COPY ${module} DESTINATION ${stage}/lib/python/primset)
  file(GLOB modules ${stage}/lib/python/primset/*.so)
endif()
file(COPY ${SOURCE}/specs DESTINATION ${stage}/share/primset
  FILES_MATCHING PATTERN "*.yaml" PATTERN "*.json" PATTERN "*.txt" PATTERN testdata EXCLUDE)
file(GLOB scripts ${SOURCE}/conformance/benchmarks/*.py
  ${SOURCE}/conformance/benchmarks/call_overhead.cpp
  ${SOURCE}/conformance/benchmarks/bare_launch.h
  ${SOURCE}/conformance/benchmarks/measure_on_gpu
  ${SOURCE}/conformance/check_large_tensors.py ${SOURCE}/backends/cuda/sanitize_device)
file(COPY ${scripts} DESTINATION ${stage}/share/primset/benchmarks)
file(GLOB sample ${SOURCE}/samples/sentence_embedding/*.py
  ${SOURCE}/samples/sentence_embedding/sentences.txt)
file(COPY ${sample} DESTINATION ${stage}/share/primset/sentence_embedding)

list(TRANSFORM programs PREPEND ${stage}/bin/)
list(APPEND programs ${stage}/lib/primset/primset-probe)
file(GLOB staged_plugins ${stage}/lib/primset/plugins/*.so)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${programs} MODULES ${staged_plugins}
  RESOLVED_DEPENDENCIES_VAR needed UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread)\\.so"
  POST_EXCLUDE_REGEXES "^${stage}/")
if(missing)
  message(FATAL_ERROR "The bundle needs libraries that are not found: ${missing}")
endif()
foreach(library ${needed})
  file(COPY ${library} DESTINATION ${stage}/lib FOLLOW_SYMLINK_CHAIN)
endforeach()

# Licences: ours, and those of Debian's packages that are linked in or come along.
set(licenses ${stage}/share/doc/primset)
file(COPY ${SOURCE}/LICENSE ${SOURCE}/decomps/operators/random/direction_numbers.license
  DESTINATION ${licenses})
find_program(dpkg dpkg REQUIRED)
set(packages llvm-22-dev)
foreach(library ${needed})
  file(REAL_PATH ${library} path)
  # Debian 12 knows some by their place before /lib became /usr/lib.
  string(REGEX REPLACE "^/usr" "" former ${path})
  execute_process(COMMAND ${dpkg} -S ${path} ${former} OUTPUT_VARIABLE owner ERROR_QUIET)
  if(NOT owner MATCHES "^([^:, ]+)")
    message(FATAL_ERROR "${path} is of no package, so nobody knows its licence")
  endif()
  list(APPEND packages ${CMAKE_MATCH_1})
endforeach()
list(REMOVE_DUPLICATES packages)
foreach(package ${packages})
  configure_file(/usr/share/doc/${package}/copyright ${licenses}/${package}.copyright COPYONLY)
endforeach()

file(GLOB libraries ${stage}/lib/*.so*)
foreach(file ${programs} ${staged_plugins} ${libraries} ${modules})
  if(NOT IS_SYMLINK ${file})
    run(${STRIP} --strip-unneeded ${file})
  endif()
endforeach()

# --- check, pack ---------------------------------------------------------------------------------
# With no variable of ours set, everything but glibc comes from the bundle.
execute_process(COMMAND env -i LD_TRACE_LOADED_OBJECTS=1 ${stage}/bin/primset
  OUTPUT_VARIABLE loaded COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" loaded "${loaded}")
foreach(line ${loaded})
  if(line MATCHES "^[ \t]*lib(c|m|dl|rt|pthread)\\.so")
    continue()
  endif()
  if(line MATCHES "=> ([^ ]+)")
    set(path ${CMAKE_MATCH_1})
    cmake_path(NORMAL_PATH path)
    if(NOT path MATCHES "^${stage}/")
      message(FATAL_ERROR "${path} is taken from this machine; expected it in ${stage}/lib")
    endif()
  endif()
endforeach()
run(env -i PRIMSET_CACHE=off ${stage}/bin/primset devices)

# CMake's own tar packs with one thread, which takes longer than the build.
find_program(xz xz)
if(xz)
  run(${CMAKE_COMMAND} -E chdir ${WORK} tar -c -I "${xz} -T0 -6" -f ${archive} ${name})
else()
  run(${CMAKE_COMMAND} -E chdir ${WORK} ${CMAKE_COMMAND} -E tar cJf ${archive} ${name})
endif()
file(SIZE ${archive} bytes)
math(EXPR megabytes "(${bytes} + 500000) / 1000000")
message(STATUS "${archive}: ${megabytes} MB")
if(bytes GREATER limit_bytes)
  message(FATAL_ERROR "The bundle has ${bytes} bytes; expected at most ${limit_bytes}")
endif()
