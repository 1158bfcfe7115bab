# SPDX-License-Identifier: MIT
# The query registry, for the command, the tests and the fuzz targets; never part of the library. A pair query is a file
# in queries/pairs, one of meshes in queries/mesh, so the files are found, not listed.
file(GLOB carom_query_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
  queries/*.c queries/pairs/*.c queries/mesh/*.c calls/*.c)
# Pair queries that query.h does not list by name.
file(STRINGS queries/query.h carom_listed_pairs REGEX "^ +X\\([a-z_]+, [A-Z_]+\\)")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/queries/query.h)
set(carom_other_pairs)
foreach(file IN LISTS carom_query_sources)
  get_filename_component(name ${file} NAME_WE)
  if(file MATCHES "^queries/pairs/" AND NOT carom_listed_pairs MATCHES "X\\(${name},")
    string(APPEND carom_other_pairs " X(${name}, PAIRS_ONLY)")
  endif()
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/queries/query_other_pairs.h CONTENT
  "/* Made by cmake/queries.cmake from queries/pairs. */\n#define QUERY_OTHER_PAIRS(X)${carom_other_pairs}\n" @ONLY)
add_library(carom_queries STATIC ${carom_query_sources})
target_link_libraries(carom_queries PRIVATE carom_flags PUBLIC carom carom_reference m)
target_include_directories(carom_queries PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}
  PUBLIC ${CMAKE_CURRENT_BINARY_DIR}/queries)
