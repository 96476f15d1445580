# Testudo: cross compilation for AArch64 Linux, whose programs qemu runs.
# TESTUDO_ARM_ROOT is where scripts/arm-root put the libraries.
# SPDX-License-Identifier: BSD-2-Clause

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

set(TESTUDO_ARM_ROOT "${CMAKE_CURRENT_LIST_DIR}/../build/arm-root"
  CACHE PATH "Libraries for AArch64")
get_filename_component(TESTUDO_ARM_ROOT "${TESTUDO_ARM_ROOT}" ABSOLUTE)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TESTUDO_ARM_ROOT)
set(arm_libraries "${TESTUDO_ARM_ROOT}/usr/lib/aarch64-linux-gnu")

set(CMAKE_FIND_ROOT_PATH "${TESTUDO_ARM_ROOT}" /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${TESTUDO_ARM_ROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${arm_libraries}/pkgconfig")
set(CMAKE_C_STANDARD_INCLUDE_DIRECTORIES
  "${TESTUDO_ARM_ROOT}/usr/include/aarch64-linux-gnu")

# Libraries of libraries; where they are when the program runs is qemu's
# business.
set(CMAKE_SKIP_BUILD_RPATH TRUE)
set(CMAKE_EXE_LINKER_FLAGS_INIT
  "-Wl,-rpath-link,${arm_libraries}:${TESTUDO_ARM_ROOT}/lib/aarch64-linux-gnu")

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L "${TESTUDO_ARM_ROOT}")
