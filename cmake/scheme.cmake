# Testudo: the Scheme interpreter, a client of the public headers only.
# SPDX-License-Identifier: BSD-2-Clause

find_package(PkgConfig REQUIRED)
pkg_check_modules(gmp REQUIRED IMPORTED_TARGET gmp)
pkg_check_modules(libedit REQUIRED IMPORTED_TARGET libedit)

file(GLOB scheme_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/example/scheme/*.c")
if(scheme_sources)
  add_executable(testudo_scheme ${scheme_sources})
  set_target_properties(testudo_scheme PROPERTIES
    OUTPUT_NAME testudo-scheme)
  target_include_directories(testudo_scheme PRIVATE
    "${PROJECT_SOURCE_DIR}/example/scheme")
  # The prelude is part of the program; see prelude.c.
  set(scheme_prelude "${PROJECT_SOURCE_DIR}/example/scheme/prelude.scm")
  set_source_files_properties(
    "${PROJECT_SOURCE_DIR}/example/scheme/prelude.c" PROPERTIES
    OBJECT_DEPENDS "${scheme_prelude}"
    COMPILE_DEFINITIONS "SCHEME_PRELUDE=\"${scheme_prelude}\"")
  target_link_libraries(testudo_scheme PRIVATE testudo_flags testudo_static
    PkgConfig::gmp PkgConfig::libedit m)
endif()
