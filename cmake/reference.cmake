# SPDX-License-Identifier: MIT
# The exact reference: for tests, the benchmark and `carom verify`; never part of the library.
file(GLOB carom_reference_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} reference/*.c)
list(FILTER carom_reference_sources EXCLUDE REGEX "/selftest") # tests/ builds these
if(CAROM_SANITIZE) # its long arithmetic was most of the time of tests; the preset fuzz checks it
  set_source_files_properties(${carom_reference_sources} PROPERTIES COMPILE_OPTIONS "-O2;-fno-sanitize=all")
endif()
add_library(carom_reference STATIC ${carom_reference_sources})
target_link_libraries(carom_reference PRIVATE carom_flags m)
target_include_directories(carom_reference PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
