# SPDX-License-Identifier: MIT
# What `carom bench` measures: part of the command.
file(GLOB carom_bench_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} bench/*.c)

# What carom is compared with is given the best that the compiler has, whatever the build type.
set_source_files_properties(bench/plain_baseline.c PROPERTIES COMPILE_OPTIONS "-O3;-fopenmp-simd")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set_source_files_properties(bench/plain_avx2.c PROPERTIES COMPILE_OPTIONS "-O3;-fopenmp-simd;-mavx2")
  set_source_files_properties(bench/plain_avx512.c PROPERTIES COMPILE_OPTIONS
    "-O3;-fopenmp-simd;-mavx512f;-mavx512dq;-mavx512bw;-mavx512vl;-mprefer-vector-width=512")
else()
  list(REMOVE_ITEM carom_bench_sources bench/plain_avx2.c bench/plain_avx512.c)
endif()

find_package(Threads REQUIRED)
target_link_libraries(carom_cli PRIVATE Threads::Threads)
target_sources(carom_cli PRIVATE ${carom_bench_sources})
if(CAROM_OPENCL) # to copy bytes; queries go through the library
  target_link_libraries(carom_cli PRIVATE ${carom_cl_target})
  target_compile_definitions(carom_cli PRIVATE CAROM_HAVE_OPENCL)
endif()

# What the figures were taken with.
string(TOUPPER "${CMAKE_BUILD_TYPE}" carom_bench_type)
set(carom_bench_flags "${CMAKE_BUILD_TYPE}: ${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${carom_bench_type}}")
get_target_property(carom_bench_shared carom_flags INTERFACE_COMPILE_OPTIONS)
list(FILTER carom_bench_shared INCLUDE REGEX "^-f")
list(JOIN carom_bench_shared " " carom_bench_shared)
# Places of a build are no property of it.
string(REGEX REPLACE "-f[a-z]+-prefix-map=[^ ]*" "" carom_bench_flags "${carom_bench_flags}")
string(REGEX REPLACE "[ \t]+" " " carom_bench_flags "${carom_bench_flags} ${carom_bench_shared}")
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/.git/logs/HEAD)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS .git/logs/HEAD) # so that the name below is today's
endif()
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/.git) # and not that of a folder above
  execute_process(COMMAND git -C ${CMAKE_CURRENT_SOURCE_DIR} describe --always --dirty
    OUTPUT_VARIABLE carom_bench_commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
else() # in a tarball git has written it
  file(STRINGS cmake/commit.txt carom_bench_commit REGEX "^[0-9a-f]+$")
endif()
if(NOT carom_bench_commit)
  set(carom_bench_commit "unknown commit")
endif()
set_source_files_properties(cli/bench/bench_json.c PROPERTIES COMPILE_DEFINITIONS
  "CAROM_BENCH_COMPILER=\"${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}\";CAROM_BENCH_FLAGS=\"${carom_bench_flags}\";CAROM_BENCH_COMMIT=\"${carom_bench_commit}\"")
