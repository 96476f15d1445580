# Testudo: settings of the build. SPDX-License-Identifier: BSD-2-Clause

option(TESTUDO_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(TESTUDO_EXAMPLES "Build the Scheme interpreter" ${PROJECT_IS_TOP_LEVEL})
option(TESTUDO_INSTALL "Install the library, and what was built with it"
  ${PROJECT_IS_TOP_LEVEL})
option(TESTUDO_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
option(TESTUDO_COVERAGE "Count the lines and branches that run" OFF)
option(TESTUDO_FUZZ "Build the fuzz targets, by clang" OFF)
option(TESTUDO_PLINTH "Include the default plinth" ON)
option(TESTUDO_PROBES "Have static probes for tracers and debuggers" ON)
option(TESTUDO_MPS_ALIAS "Install names that find the library as -lmps" ON)

set(TESTUDO_VARIETY hot CACHE STRING "How much is checked: cool, hot, rash")
set_property(CACHE TESTUDO_VARIETY PROPERTY STRINGS cool hot rash)
if(NOT TESTUDO_VARIETY MATCHES "^(cool|hot|rash)$")
  message(FATAL_ERROR "TESTUDO_VARIETY is '${TESTUDO_VARIETY}', "
    "which is not one of cool, hot, rash")
endif()

set(TESTUDO_SANITIZE "" CACHE STRING
  "Sanitizers for gcc and clang, such as address or thread")

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Kind of build" FORCE)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # gnu11
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
