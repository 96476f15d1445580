# Testudo: the manual, where Sphinx is installed.
# SPDX-License-Identifier: BSD-2-Clause

find_program(SPHINX_BUILD sphinx-build)
if(SPHINX_BUILD)
  add_custom_target(manual
    COMMAND "${SPHINX_BUILD}" -q -W --keep-going -b html
      -D "version=${PROJECT_VERSION}" -D "release=${PROJECT_VERSION}"
      -d "${PROJECT_BINARY_DIR}/manual/doctrees"
      "${PROJECT_SOURCE_DIR}/manual" "${PROJECT_BINARY_DIR}/manual/html"
    COMMENT "Manual: ${PROJECT_BINARY_DIR}/manual/html/index.html"
    VERBATIM)
endif()
