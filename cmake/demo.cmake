# SPDX-License-Identifier: MIT
# What scripts/demo runs: particles, table, CSV and picture. Needs the mesh readers and libpng.
find_package(PNG QUIET)
if(NOT PNG_FOUND)
  message(STATUS "carom: no libpng (Debian: libpng-dev): the demo's picture tool is not built")
elseif(NOT CAROM_CLI)
  message(STATUS "carom: the demo's picture tool needs the command's mesh readers (CAROM_CLI); it is not built")
else()
  add_executable(carom_demo examples/demo.c examples/demo_picture.c)
  target_link_libraries(carom_demo PRIVATE carom_flags carom carom_mesh_import PNG::PNG m)
  target_include_directories(carom_demo PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
endif()
