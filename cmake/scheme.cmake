# Testudo: the Scheme interpreter, a client of the public headers only.
# SPDX-License-Identifier: BSD-2-Clause

find_package(PkgConfig REQUIRED)
pkg_check_modules(gmp REQUIRED IMPORTED_TARGET gmp)
pkg_check_modules(libedit REQUIRED IMPORTED_TARGET libedit)

file(GLOB scheme_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/example/scheme/*.c")
if(scheme_sources)
  # Everything but the command line, which fuzz targets do without.
  set(scheme_main "${PROJECT_SOURCE_DIR}/example/scheme/main.c")
  list(REMOVE_ITEM scheme_sources "${scheme_main}")
  add_library(testudo_scheme_objects OBJECT ${scheme_sources})
  target_include_directories(testudo_scheme_objects PUBLIC
    "${PROJECT_SOURCE_DIR}/example/scheme")
  # The prelude is part of the program; see prelude.c.
  set(scheme_prelude "${PROJECT_SOURCE_DIR}/example/scheme/prelude.scm")
  set_source_files_properties(
    "${PROJECT_SOURCE_DIR}/example/scheme/prelude.c" PROPERTIES
    OBJECT_DEPENDS "${scheme_prelude}"
    COMPILE_DEFINITIONS "SCHEME_PRELUDE=\"${scheme_prelude}\"")
  target_link_libraries(testudo_scheme_objects PUBLIC testudo_flags
    testudo_static PkgConfig::gmp PkgConfig::libedit m)
  add_executable(testudo_scheme "${scheme_main}")
  target_link_libraries(testudo_scheme PRIVATE testudo_scheme_objects)
  set_target_properties(testudo_scheme PROPERTIES
    OUTPUT_NAME testudo-scheme)
endif()
if(TESTUDO_FUZZ AND TARGET testudo_scheme)
  target_compile_options(testudo_scheme_objects PRIVATE
    -fsanitize=fuzzer-no-link)
  add_executable(fuzz_reader
    "${PROJECT_SOURCE_DIR}/test/scheme/fuzz/fuzz_reader.c")
  target_link_libraries(fuzz_reader PRIVATE testudo_scheme_objects)
  target_link_options(fuzz_reader PRIVATE -fsanitize=fuzzer)
endif()
