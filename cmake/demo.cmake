# SPDX-License-Identifier: MIT
# What scripts/rain runs. With libpng its frames have pictures.
find_package(PNG QUIET)
file(GLOB carom_rain_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} examples/rain/*.c)
add_executable(carom_rain ${carom_rain_sources})
target_link_libraries(carom_rain PRIVATE carom_flags carom m)
set_target_properties(carom_rain PROPERTIES OUTPUT_NAME rain)
if(PNG_FOUND)
  target_link_libraries(carom_rain PRIVATE PNG::PNG)
  target_compile_definitions(carom_rain PRIVATE RAIN_HAVE_PNG)
endif()

# What scripts/demo runs: particles, table, CSV and picture. Needs the mesh readers and libpng.
if(NOT PNG_FOUND)
  message(STATUS "carom: no libpng (Debian: libpng-dev): the demo is not built, and rain has no pictures")
elseif(NOT CAROM_CLI)
  message(STATUS "carom: the demo's picture tool needs the command's mesh readers (CAROM_CLI); it is not built")
else()
  add_executable(carom_demo examples/demo.c examples/demo_picture.c)
  target_link_libraries(carom_demo PRIVATE carom_flags carom carom_mesh_import PNG::PNG m)
  target_include_directories(carom_demo PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
endif()
