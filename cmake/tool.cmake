# Testudo: the programs behind the testudo command, which replay the shield's
# own code and measure the platform's: they see the inside.
# SPDX-License-Identifier: BSD-2-Clause

foreach(tool IN ITEMS replay calibrate)
  add_executable(testudo_${tool} "${PROJECT_SOURCE_DIR}/tool/${tool}.c")
  set_target_properties(testudo_${tool} PROPERTIES
    OUTPUT_NAME testudo-${tool})
  target_include_directories(testudo_${tool} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(testudo_${tool} PRIVATE testudo_flags testudo_static)
  install(TARGETS testudo_${tool} DESTINATION "${CMAKE_INSTALL_BINDIR}")
endforeach()
