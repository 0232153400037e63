# Installs the SDK and uses it as a stranger does: builds the two sample plugins and a program
# against it with find_package(primset), and runs the program on each plugin.
#   cmake -DBUILD=<build> -DSOURCE=<source> -DWORK=<folder> -DCXX=<compiler> -DC=<compiler> -P ...

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${command}\nfailed (${status}):\n${text}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

function(build name source)
  run(${CMAKE_COMMAND} -G Ninja -S ${source} -B ${WORK}/${name} -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_PREFIX_PATH=${WORK}/sdk -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX})
  run(${CMAKE_COMMAND} --build ${WORK}/${name})
endfunction()

# A plugin that shows how small one can be stays small.
function(require_short file)
  file(READ ${file} text)
  string(REGEX MATCHALL "\n" newlines "${text}")
  list(LENGTH newlines count)
  if(count GREATER 400)
    message(FATAL_ERROR "${file} has ${count} lines; expected at most 400")
  endif()
endfunction()

function(expect_sum_on device)
  run(${CMAKE_COMMAND} -E env PRIMSET_DEVICE=${device} PRIMSET_FALLBACK=error
    PRIMSET_CACHE=${WORK}/cache
    PRIMSET_PLUGIN_PATH=${WORK}/minimal_plugin:${WORK}/primitive_plugin ${WORK}/consumer/consumer)
  if(NOT output STREQUAL "${device}: 11 22 33\n")
    message(FATAL_ERROR "the program printed '${output}'; expected '${device}: 11 22 33'")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/sdk)
foreach(plugin minimal_plugin primitive_plugin)
  require_short(${SOURCE}/samples/${plugin}/${plugin}.c)
  build(${plugin} ${SOURCE}/samples/${plugin})
endforeach()
build(consumer ${SOURCE}/sdk/testdata/consumer)
expect_sum_on(cpu)
expect_sum_on(minimal:0)
expect_sum_on(primitive:0)
run(${WORK}/sdk/bin/primset ops --help)
file(GLOB licenses ${WORK}/sdk/share/doc/*/LICENSE ${WORK}/sdk/share/doc/*/*.license)
list(LENGTH licenses count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "installed licences: '${licenses}'; expected LICENSE and direction_numbers.license")
endif()
# A stranger's plugin is listed by a process of its own, whose program is found where it is installed.
run(${CMAKE_COMMAND} -E env PRIMSET_CACHE=off PRIMSET_LOG=info
  PRIMSET_PLUGIN_PATH=${WORK}/minimal_plugin ${WORK}/sdk/bin/primset devices)
if(NOT output MATCHES "minimal:0" OR output MATCHES "primset-probe is missing|opened minimal:0")
  message(FATAL_ERROR "primset devices printed '${output}'; expected minimal:0, not loaded there")
endif()
file(REMOVE_RECURSE ${WORK})
