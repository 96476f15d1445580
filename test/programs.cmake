# Testudo: tests of sources, archives, tools and whole programs.
# SPDX-License-Identifier: BSD-2-Clause

# testudo_python_test(NAME ARGUMENTS...): runs test/NAME.py.
function(testudo_python_test name)
  testudo_add_test(${name} "${Python3_EXECUTABLE}"
    "${CMAKE_CURRENT_SOURCE_DIR}/${name}.py" ${ARGN})
endfunction()

testudo_python_test(test_floors)

# Sanitizers and coverage add names of their own.
if(NOT TESTUDO_SANITIZE AND NOT TESTUDO_COVERAGE)
  testudo_python_test(test_symbols "${CMAKE_C_COMPILER}"
    $<TARGET_FILE:testudo_static> $<TARGET_FILE:testudo>)
endif()
if(NOT TESTUDO_SANITIZE)
  testudo_python_test(test_tool "${CMAKE_C_COMPILER}")
endif()
