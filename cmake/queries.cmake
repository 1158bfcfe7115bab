# SPDX-License-Identifier: MIT
# The query registry, for the command, the tests and the fuzz targets; never part of the library. A pair query is a file
# in queries/pairs, one of meshes in queries/mesh, so the files are found, not listed.
file(GLOB carom_query_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
  queries/*.c queries/pairs/*.c queries/mesh/*.c)
add_library(carom_queries STATIC ${carom_query_sources})
target_link_libraries(carom_queries PRIVATE carom_flags PUBLIC carom carom_reference m)
target_include_directories(carom_queries PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
