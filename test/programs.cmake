# Testudo: tests of sources, archives, tools and whole programs.
# SPDX-License-Identifier: BSD-2-Clause

# testudo_python_test(NAME ARGUMENTS...): runs test/NAME.py.
function(testudo_python_test name)
  testudo_add_test(${name} "${Python3_EXECUTABLE}"
    "${CMAKE_CURRENT_SOURCE_DIR}/${name}.py" ${ARGN})
endfunction()

# One build is enough for what does not depend on how it was built.
set(testudo_one_build FALSE)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND TESTUDO_VARIETY STREQUAL "hot"
    AND NOT CMAKE_CROSSCOMPILING)
  set(testudo_one_build TRUE)
endif()

# What the drivers in Python call: the interpreter, under the emulator if
# there is one.
set(testudo_scheme_command $<TARGET_FILE:testudo_scheme>)
if(TARGET testudo_scheme AND CMAKE_CROSSCOMPILING_EMULATOR)
  set(testudo_scheme_command "${PROJECT_BINARY_DIR}/scheme-emulated")
  list(JOIN CMAKE_CROSSCOMPILING_EMULATOR "' '" testudo_emulator)
  file(GENERATE OUTPUT "${testudo_scheme_command}"
    CONTENT "#!/bin/sh
exec '${testudo_emulator}' '$<TARGET_FILE:testudo_scheme>' \"$@\"
"
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endif()

# testudo_scheme_test(NAME ARGUMENTS...): the Scheme programs print what they
# print on Guile, in each of the settings given.
function(testudo_scheme_test name)
  testudo_add_test(${name} "${Python3_EXECUTABLE}"
    "${CMAKE_CURRENT_SOURCE_DIR}/scheme/run.py"
    ${testudo_scheme_command} ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS long TIMEOUT 600)
endfunction()

# testudo_random_test(NAME ARGUMENTS...): random programs in small generations.
function(testudo_random_test name)
  testudo_add_test(${name} "${Python3_EXECUTABLE}"
    "${CMAKE_CURRENT_SOURCE_DIR}/scheme/random_programs.py"
    ${testudo_scheme_command} --option=--gen=200:0.8 --option=--gen=400:0.5
    "--keep=${PROJECT_BINARY_DIR}/random" ${ARGN})
endfunction()

if(TARGET testudo_scheme AND NOT TESTUDO_SANITIZE MATCHES "thread")
  testudo_scheme_test(scheme_small plain
    --option=--gen=1000:0.8 --option=--gen=2000:0.4)
  if(NOT TESTUDO_SANITIZE)
    testudo_scheme_test(scheme_stress TESTUDO_STRESS=50)
    set_tests_properties(scheme_stress PROPERTIES LABELS "long;stress")
  endif()
  if(testudo_one_build)
    testudo_scheme_test(scheme_modes TESTUDO_SHIELD=naive
      TESTUDO_SHIELD=ranged TESTUDO_SHIELD=deferred TESTUDO_SHIELD=dirty
      TESTUDO_SHIELD=off)
    testudo_scheme_test(scheme_every TESTUDO_STRESS=1 --workloads
      --option=--gen=100:0.8 --option=--gen=200:0.5 --size=storm:1,1000,10000)
  endif()
  testudo_random_test(scheme_random plain TESTUDO_SHIELD=naive
    TESTUDO_SHIELD=ranged TESTUDO_SHIELD=dirty TESTUDO_SHIELD=off)
  testudo_random_test(scheme_random_wild --wild plain
    TESTUDO_SHIELD=naive --option=--limit=100M)
  testudo_random_test(scheme_random_stress TESTUDO_STRESS=1,TESTUDO_CHECK=1
    --count=20)
  add_executable(scheme_corpus scheme/fuzz/fuzz_reader.c
    scheme/fuzz/run_corpus.c)
  target_link_libraries(scheme_corpus PRIVATE testudo_scheme_objects)
  file(GLOB scheme_inputs CONFIGURE_DEPENDS scheme/fuzz/corpus/*)
  testudo_add_test(scheme_corpus scheme_corpus ${scheme_inputs})
  testudo_python_test(test_prompt ${testudo_scheme_command})
  set_tests_properties(test_prompt PROPERTIES LABELS programs)
  if(TARGET testudo_replay AND NOT CMAKE_CROSSCOMPILING)
    testudo_python_test(test_damaged $<TARGET_FILE:testudo_scheme>
      $<TARGET_FILE:testudo_replay>)
    set_tests_properties(test_damaged PROPERTIES LABELS programs)
  endif()
endif()

# The small clients of the manual.
foreach(name lists blocks)
  add_executable(${name} "${PROJECT_SOURCE_DIR}/example/${name}.c")
  target_link_libraries(${name} PRIVATE testudo_flags testudo_static)
  testudo_add_test(test_${name} ${name})
endforeach()
set_tests_properties(test_lists PROPERTIES
  PASS_REGULAR_EXPRESSION "^4999500000\n$")
set_tests_properties(test_blocks PROPERTIES
  PASS_REGULAR_EXPRESSION "^32 MiB\n$")

# Notes are read of whatever there is; programs run for it only where they can.
add_executable(counts_client counts_client.c)
target_link_libraries(counts_client PRIVATE testudo_flags testudo_static)
testudo_python_test(test_probes "${CMAKE_C_COMPILER}" "${TESTUDO_PROBES}"
  $<TARGET_FILE:counts_client> $<TARGET_FILE:testudo_static>
  $<TARGET_FILE:testudo>)

# The rest says nothing under a sanitizer, or counts what that adds to; and
# the tools of this machine do not read another's programs.
if(TESTUDO_SANITIZE OR TESTUDO_COVERAGE OR CMAKE_CROSSCOMPILING)
  return()
endif()

testudo_python_test(test_symbols "${CMAKE_C_COMPILER}"
  $<TARGET_FILE:testudo_static> $<TARGET_FILE:testudo>)
testudo_python_test(test_counts $<TARGET_FILE:counts_client>)
if(TARGET testudo_scheme)
  add_library(use_up_mappings MODULE use_up_mappings.c)
  target_link_libraries(use_up_mappings PRIVATE testudo_flags)
  testudo_python_test(test_mappings $<TARGET_FILE:testudo_scheme>
    $<TARGET_FILE:use_up_mappings>)
  add_library(refuse_calls MODULE refuse_calls.c)
  target_link_libraries(refuse_calls PRIVATE testudo_flags)
  testudo_python_test(test_refusals $<TARGET_FILE:testudo_scheme>
    $<TARGET_FILE:refuse_calls> $<TARGET_FILE:test_ap>
    $<TARGET_FILE:test_finalize> $<TARGET_FILE:test_fork>
    $<TARGET_FILE:test_thread> $<TARGET_FILE:test_transform>
    $<TARGET_FILE:test_walk>)
  set_tests_properties(test_mappings test_refusals PROPERTIES LABELS programs)
endif()

if(testudo_one_build)
  testudo_python_test(test_floors)
  testudo_python_test(test_excerpts)
  testudo_python_test(test_conformance)
  testudo_python_test(test_header_names "${CMAKE_C_COMPILER}")
  testudo_python_test(test_platform "${CMAKE_C_COMPILER}")
  testudo_python_test(test_plinth_client "${CMAKE_C_COMPILER}"
    $<TARGET_FILE:testudo_static> $<TARGET_FILE:testudo>)
  testudo_python_test(test_tool "${CMAKE_C_COMPILER}")
  testudo_python_test(test_watch "${CMAKE_C_COMPILER}")
  testudo_python_test(test_demo)
  if(TARGET testudo_scheme)
    testudo_python_test(test_prediction $<TARGET_FILE:testudo_scheme>)
  endif()
  testudo_python_test(test_bench $<TARGET_FILE:testudo_static>)
  testudo_python_test(test_install "${CMAKE_C_COMPILER}"
    "${PROJECT_BINARY_DIR}")
  testudo_python_test(test_umbrella "${CMAKE_C_COMPILER}")
  testudo_python_test(test_tested $<TARGET_FILE:testudo_static>
    $<TARGET_FILE:testudo>)
  testudo_add_test(check_headers
    "${CMAKE_CURRENT_SOURCE_DIR}/check_headers.sh"
    $<TARGET_FILE:testudo_static> $<TARGET_FILE:testudo>)
  if(TARGET testudo_scheme)
    testudo_python_test(test_leaf $<TARGET_FILE:testudo_scheme>)
    testudo_python_test(test_scheme_names $<TARGET_FILE:testudo_scheme>)
  endif()
endif()

# All sources compile as one unit, too.
get_target_property(unity_sources testudo_objects SOURCES)
add_library(testudo_unity OBJECT EXCLUDE_FROM_ALL ${unity_sources})
set_target_properties(testudo_unity PROPERTIES UNITY_BUILD ON
  UNITY_BUILD_BATCH_SIZE 0 UNITY_BUILD_CODE_BEFORE_INCLUDE
  "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif")
target_include_directories(testudo_unity PRIVATE "${PROJECT_SOURCE_DIR}"
  "${PROJECT_SOURCE_DIR}/include")
target_link_libraries(testudo_unity PRIVATE testudo_flags Threads::Threads)
testudo_add_test(test_unity "${CMAKE_COMMAND}" --build "${PROJECT_BINARY_DIR}"
  --target testudo_unity)
