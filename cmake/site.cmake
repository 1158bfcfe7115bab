# SPDX-License-Identifier: MIT
# The documents as a site: README.md, docs/, the public headers and the Python package as HTML, by Sphinx with MyST
# (Markdown), Breathe (doxygen's XML), autodoc (docstrings) and the theme Furo. Each warning is an error: a dead link, an
# absent picture, a page outside the menu.
# Run by cmake -P (SPHINX, DOXYGEN, VERSION, OUTPUT), included for the target.

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.21)
  get_filename_component(source ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
  get_filename_component(OUTPUT ${OUTPUT} ABSOLUTE)
  file(REMOVE_RECURSE ${OUTPUT})
  file(COPY ${source}/README.md ${source}/CHANGELOG.md ${source}/CONTRIBUTING.md ${source}/docs
    DESTINATION ${OUTPUT}/source)
  execute_process(COMMAND ${CMAKE_COMMAND} -DDOXYGEN=${DOXYGEN} -DHEADERS=${source}/include -DXML=ON
    -DOUTPUT=${OUTPUT}/headers -P ${source}/cmake/man.cmake COMMAND_ERROR_IS_FATAL ANY)
  set(ENV{CAROM_SITE_WORK} ${OUTPUT})
  execute_process(COMMAND ${SPHINX} -W --keep-going -n -q -c ${source}/cmake/site -d ${OUTPUT}/cache
    -D release=${VERSION} ${OUTPUT}/source ${OUTPUT}/html COMMAND_ERROR_IS_FATAL ANY)
  return()
endif()

option(CAROM_SITE "The target `site` makes HTML of the documents, if Sphinx is installed" ${CAROM_MAN})
if(NOT CAROM_SITE OR NOT PROJECT_IS_TOP_LEVEL) # the target has a name of everyone's
  return()
endif()
find_program(CAROM_SPHINX sphinx-build)
find_program(CAROM_DOXYGEN doxygen)
find_program(CAROM_AWK awk)
mark_as_advanced(CAROM_SPHINX CAROM_DOXYGEN CAROM_AWK)
if(CAROM_SPHINX AND CAROM_DOXYGEN AND CAROM_AWK)
  set(carom_site ${CMAKE_CURRENT_BINARY_DIR}/site)
  add_custom_target(site COMMAND ${CMAKE_COMMAND} -DSPHINX=${CAROM_SPHINX} -DDOXYGEN=${CAROM_DOXYGEN}
    -DVERSION=${PROJECT_VERSION} -DOUTPUT=${carom_site} -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/site.cmake
    COMMENT "The documents: ${carom_site}/html/index.html" VERBATIM)
else()
  message(STATUS "carom: no Sphinx, doxygen or awk (Debian: python3-sphinx python3-myst-parser python3-breathe furo "
    "doxygen mawk): no target `site`")
endif()
