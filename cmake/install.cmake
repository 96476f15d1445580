# Testudo: what `cmake --install` puts where.
# SPDX-License-Identifier: BSD-2-Clause

include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Testudo")
set(header_dir "${CMAKE_INSTALL_INCLUDEDIR}/testudo")
set(share_dir "${CMAKE_INSTALL_DATADIR}/testudo")

install(FILES ${testudo_headers} DESTINATION "${header_dir}")
install(TARGETS testudo testudo_static EXPORT TestudoTargets)
install(EXPORT TestudoTargets NAMESPACE Testudo::
  DESTINATION "${package_dir}")
configure_package_config_file(cmake/TestudoConfig.cmake.in
  TestudoConfig.cmake INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(TestudoConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/TestudoConfig.cmake"
  "${PROJECT_BINARY_DIR}/TestudoConfigVersion.cmake"
  DESTINATION "${package_dir}")

file(RELATIVE_PATH pc_to_prefix
  "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
# A directory that is relative goes with the prefix, which may be another when
# this is installed; one that is absolute stays.
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
else()
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/testudo.pc.in testudo.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/testudo.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# testudo_link(DIR TARGET NAME): install NAME in DIR, a link to TARGET, which
# is relative to DIR.
function(testudo_link dir target name)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/links")
  file(CREATE_LINK "${target}" "${PROJECT_BINARY_DIR}/links/${name}"
    SYMBOLIC)
  install(FILES "${PROJECT_BINARY_DIR}/links/${name}" DESTINATION "${dir}")
endfunction()

# A runtime written for the interface looks for mps.h where headers are and
# for mps_arena_create in -lmps.
if(TESTUDO_MPS_ALIAS)
  testudo_link("${CMAKE_INSTALL_LIBDIR}" libtestudo.so libmps.so)
  testudo_link("${CMAKE_INSTALL_LIBDIR}" libtestudo.a libmps.a)
  testudo_link("${CMAKE_INSTALL_LIBDIR}/pkgconfig" testudo.pc mps.pc)
  foreach(header IN LISTS testudo_headers)
    get_filename_component(name "${header}" NAME)
    testudo_link("${CMAKE_INSTALL_INCLUDEDIR}" "testudo/${name}" "${name}")
  endforeach()
endif()

if(TARGET testudo_scheme)
  install(TARGETS testudo_scheme)
  install(DIRECTORY example/scheme/workload DESTINATION "${share_dir}"
    FILES_MATCHING PATTERN "*.scm")
endif()
if(TARGET testudo_replay)
  file(CONFIGURE OUTPUT VERSION CONTENT "@PROJECT_VERSION@
" @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/VERSION"
    DESTINATION "${share_dir}")
  install(PROGRAMS tool/testudo DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(DIRECTORY tool/testudo_tool DESTINATION "${share_dir}"
    FILES_MATCHING PATTERN "*.py"
    PATTERN "__pycache__" EXCLUDE)
endif()
