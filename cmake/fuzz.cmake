# SPDX-License-Identifier: MIT
# Fuzz targets: fuzz/fuzz_NAME.c, one for each query type and for each reader of files. With CAROM_FUZZ each becomes
# libfuzzer_NAME, for libFuzzer to drive; in any case it is a short test on bytes from a fixed seed.
file(GLOB carom_fuzz_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} fuzz/fuzz_*.c)

set(carom_fuzz_readers csv gltf npy obj off ply polygon stl)
if(NOT CAROM_CLI)
  list(FILTER carom_fuzz_sources EXCLUDE REGEX "fuzz_(csv|gltf|npy|obj|off|ply|polygon|stl)[.]c$")
elseif(NOT CAROM_JANSSON_PC_FOUND)
  list(REMOVE_ITEM carom_fuzz_sources fuzz/fuzz_gltf.c)
endif()

function(carom_fuzz_target target source driver)
  add_executable(${target} ${source} fuzz/fuzz.c fuzz/mesh.c fuzz/pair.c ${driver})
  target_link_libraries(${target} PRIVATE carom_flags carom carom_queries carom_reference m)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "^(lib)?fuzz(er)?_" "" name ${target})
  if(name IN_LIST carom_fuzz_readers)
    target_sources(${target} PRIVATE fuzz/reader.c tests/support/reader_host.c tests/support/polygon_oracle.c)
    target_link_libraries(${target} PRIVATE carom_mesh_import)
    if(name STREQUAL csv)
      target_sources(${target} PRIVATE tests/support/csv_oracle.c ${carom_csv_sources})
    elseif(name STREQUAL npy)
      target_sources(${target} PRIVATE cli/table/npy.c)
    endif()
  endif()
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fuzz)
endfunction()

if(CAROM_FUZZ)
  add_custom_target(libfuzzers)
endif()
foreach(source IN LISTS carom_fuzz_sources)
  string(REGEX REPLACE "^fuzz/fuzz_(.*)[.]c$" "\\1" name ${source})
  if(TARGET carom_cmocka) # without test tools the command is all that is built
    carom_fuzz_target(fuzz_${name} ${source} fuzz/replay.c)
    set(inputs 50000)
    if(name IN_LIST carom_fuzz_readers) # each is several files
      set(inputs 20000)
    elseif(name MATCHES "^(mesh|image)$") # each is asked seven queries
      set(inputs 20000)
    elseif(name STREQUAL scene) # the same, of up to three meshes
      set(inputs 10000)
    elseif(name STREQUAL cloud) # each is asked nine times, about up to 28 pairs with 27 images
      set(inputs 3000)
    endif()
    if(CMAKE_CROSSCOMPILING OR CAROM_SANITIZE OR CAROM_FUZZ)
      set(inputs 5000)
    endif()
    add_test(NAME fuzz_${name} COMMAND fuzz_${name} --inputs ${inputs})
    set_tests_properties(fuzz_${name} PROPERTIES LABELS unit TIMEOUT ${carom_test_timeout})
  endif()
  if(CAROM_LIBFUZZER)
    carom_fuzz_target(libfuzzer_${name} ${source} "")
    target_link_options(libfuzzer_${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(libfuzzers libfuzzer_${name})
  endif()
endforeach()
