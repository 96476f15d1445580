# Testudo: the programs behind the testudo command, which replay the shield's
# own code and measure the platform's: they see the inside.
# SPDX-License-Identifier: BSD-2-Clause

set(tool_replay_parts recording.c bound.c looks.c)
foreach(tool IN ITEMS replay calibrate)
  set(tool_sources ${tool}.c ${tool_${tool}_parts})
  list(TRANSFORM tool_sources PREPEND "${PROJECT_SOURCE_DIR}/tool/")
  add_executable(testudo_${tool} ${tool_sources})
  set_target_properties(testudo_${tool} PROPERTIES
    OUTPUT_NAME testudo-${tool})
  target_include_directories(testudo_${tool} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(testudo_${tool} PRIVATE testudo_flags testudo_doubles
    testudo_static)
  install(TARGETS testudo_${tool} DESTINATION "${CMAKE_INSTALL_BINDIR}")
endforeach()
