# SPDX-License-Identifier: MIT
# The benchmark, made on demand: `carom_bench` builds it, `bench` and `bench-quick` run it too. Not part of `all`.
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

add_executable(carom_bench EXCLUDE_FROM_ALL ${carom_bench_sources})
target_link_libraries(carom_bench PRIVATE carom_flags carom carom_reference m)
target_include_directories(carom_bench PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
set_target_properties(carom_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})

string(TOUPPER "${CMAKE_BUILD_TYPE}" carom_bench_type)
set(carom_bench_flags "${CMAKE_BUILD_TYPE}: ${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${carom_bench_type}}")
get_target_property(carom_bench_shared carom_flags INTERFACE_COMPILE_OPTIONS)
list(FILTER carom_bench_shared INCLUDE REGEX "^-f")
list(JOIN carom_bench_shared " " carom_bench_shared)
string(REGEX REPLACE "[ \t]+" " " carom_bench_flags "${carom_bench_flags} ${carom_bench_shared}")
set_source_files_properties(bench/main.c PROPERTIES COMPILE_DEFINITIONS
  "CAROM_BENCH_COMPILER=\"${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}\";CAROM_BENCH_FLAGS=\"${carom_bench_flags}\"")

add_custom_target(bench COMMAND carom_bench USES_TERMINAL)
add_custom_target(bench-quick COMMAND carom_bench --quick USES_TERMINAL)
