# Testudo: what every source of this project is compiled with.
# SPDX-License-Identifier: BSD-2-Clause

add_library(testudo_flags INTERFACE)
target_compile_options(testudo_flags INTERFACE
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
  -Wold-style-definition -Wpointer-arith -Wwrite-strings -Wundef
  -Wformat=2 -Wvla)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(testudo_flags INTERFACE
    -Wlogical-op -Wduplicated-cond)
endif()
if(TESTUDO_WERROR)
  target_compile_options(testudo_flags INTERFACE -Werror)
endif()

# A collector reads the objects of its client as words, whatever type the
# client gave them, and profiles are read through the frame pointers.
target_compile_options(testudo_flags INTERFACE
  -fno-strict-aliasing -fno-omit-frame-pointer)

string(TOUPPER "${TESTUDO_VARIETY}" testudo_variety_upper)
target_compile_definitions(testudo_flags INTERFACE
  "CONFIG_VAR_${testudo_variety_upper}")
if(NOT TESTUDO_PROBES)
  target_compile_definitions(testudo_flags INTERFACE CONFIG_PROBES_NONE)
endif()

if(TESTUDO_SANITIZE)
  target_compile_options(testudo_flags INTERFACE
    "-fsanitize=${TESTUDO_SANITIZE}" -fno-sanitize-recover=all)
  target_link_options(testudo_flags INTERFACE
    "-fsanitize=${TESTUDO_SANITIZE}")
endif()
if(TESTUDO_COVERAGE)
  target_compile_options(testudo_flags INTERFACE --coverage
    -fprofile-update=atomic)
  target_compile_definitions(testudo_flags INTERFACE TDO_COVERAGE)
  target_link_options(testudo_flags INTERFACE --coverage)
endif()
