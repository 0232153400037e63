# What a wheel holds: the package, libprimset below it, the plugins and primset-probe where
# libprimset looks for them. Read last, when all targets are known; scikit-build-core (pyproject.toml) asks for it.
set(stubs ${CMAKE_BINARY_DIR}/python/stubs)
add_custom_command(OUTPUT ${stubs}/ops.pyi
  COMMAND ${CMAKE_COMMAND} -E make_directory ${stubs}
  COMMAND ${CMAKE_COMMAND} -E env
    --modify PYTHONPATH=path_list_prepend:${CMAKE_BINARY_DIR}/python
    ${Python_EXECUTABLE} ${CMAKE_SOURCE_DIR}/sdk/python/stubs/make_stubs.py ${stubs}
  DEPENDS primset_python sdk/python/stubs/make_stubs.py
  COMMENT "Python stubs" VERBATIM)
add_custom_target(primset_python_stubs DEPENDS ${stubs}/ops.pyi)

set_target_properties(primset_python PROPERTIES INSTALL_RPATH
  "$ORIGIN/lib;${CMAKE_INSTALL_RPATH}")
install(TARGETS primset_python LIBRARY DESTINATION primset COMPONENT python)
install(DIRECTORY sdk/python/primset/ DESTINATION primset COMPONENT python
  PATTERN __pycache__ EXCLUDE)
install(DIRECTORY ${stubs}/ DESTINATION primset COMPONENT python FILES_MATCHING PATTERN "*.pyi")
install(TARGETS primset LIBRARY DESTINATION primset/lib COMPONENT python NAMELINK_SKIP)
get_property(backends GLOBAL PROPERTY PRIMSET_BACKENDS)
install(TARGETS ${backends} LIBRARY DESTINATION primset/lib/primset/plugins COMPONENT python)
install(TARGETS primset_probe RUNTIME DESTINATION primset/lib/primset COMPONENT python)
