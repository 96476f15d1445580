# Testudo: the library, static and shared, from objects compiled once.
# SPDX-License-Identifier: BSD-2-Clause

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

set(testudo_sources "")
foreach(floor IN LISTS TESTUDO_FLOORS)
  file(GLOB floor_sources CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/${floor}/*.c")
  list(APPEND testudo_sources ${floor_sources})
endforeach()
# Doubles of the platform are for the tests and the replayer alone.
set(testudo_double_sources ${testudo_sources})
list(FILTER testudo_double_sources INCLUDE REGEX "_double\\.c$")
list(REMOVE_ITEM testudo_sources ${testudo_double_sources})
file(GLOB testudo_headers CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/include/*.h")

add_library(testudo_objects OBJECT ${testudo_sources})
set_target_properties(testudo_objects PROPERTIES
  POSITION_INDEPENDENT_CODE ON)
target_include_directories(testudo_objects PRIVATE
  "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
target_link_libraries(testudo_objects PRIVATE testudo_flags Threads::Threads)
if(NOT TESTUDO_PLINTH)
  target_compile_definitions(testudo_objects PRIVATE CONFIG_PLINTH_NONE)
endif()

# testudo_library(NAME KIND): one of the two libraries.
function(testudo_library name kind)
  add_library(${name} ${kind} $<TARGET_OBJECTS:testudo_objects>)
  set_target_properties(${name} PROPERTIES OUTPUT_NAME testudo
    LINKER_LANGUAGE C)
  target_include_directories(${name} INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/testudo>")
endfunction()

testudo_library(testudo SHARED)
# Before 1.0 a minor version may change testudo.h.
set(soversion ${PROJECT_VERSION_MAJOR})
if(soversion EQUAL 0)
  set(soversion 0.${PROJECT_VERSION_MINOR})
endif()
set_target_properties(testudo PROPERTIES VERSION ${PROJECT_VERSION}
  SOVERSION ${soversion})
target_link_libraries(testudo PRIVATE Threads::Threads)
set(exports "${PROJECT_SOURCE_DIR}/code/exports.map")
target_link_options(testudo PRIVATE "-Wl,--version-script=${exports}")
set_target_properties(testudo PROPERTIES LINK_DEPENDS "${exports}")
# Handlers of signals, once installed, stay: so does what they are in.
target_link_options(testudo PRIVATE "-Wl,-z,nodelete")
if(TESTUDO_PLINTH AND NOT TESTUDO_SANITIZE)
  target_link_options(testudo PRIVATE -Wl,--no-undefined)
endif()
testudo_library(testudo_static STATIC)
target_link_libraries(testudo_static PUBLIC Threads::Threads)
foreach(lib testudo testudo_static)
  target_link_libraries(${lib} PRIVATE $<BUILD_INTERFACE:testudo_flags>)
endforeach()
add_library(Testudo::testudo ALIAS testudo)
add_library(Testudo::testudo_static ALIAS testudo_static)

add_library(testudo_doubles STATIC EXCLUDE_FROM_ALL ${testudo_double_sources})
target_include_directories(testudo_doubles PUBLIC "${PROJECT_SOURCE_DIR}")
target_link_libraries(testudo_doubles PUBLIC testudo_flags testudo_static)
