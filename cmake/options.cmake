# SPDX-License-Identifier: MIT
# Flags that every target shares. The first line is what the bits depend on.
add_library(carom_flags INTERFACE)
target_compile_features(carom_flags INTERFACE c_std_17)
target_compile_definitions(carom_flags INTERFACE _GNU_SOURCE)
target_compile_options(carom_flags INTERFACE
  -fno-fast-math -ffp-contract=off -fno-math-errno -fno-trapping-math
  -Wall -Wextra -Wshadow -Wdouble-promotion -Werror=double-promotion -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith)
# gcc 12.2 takes loads whose address it has computed as a whole for loads through NULL, and what follows them for code
# that never runs: a function that stores behind such a load is "pure", and its callers do not see what it stored.
# tests/unit/test_compiler.c has such a function.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(carom_flags INTERFACE -fno-delete-null-pointer-checks)
endif()
if(CAROM_SANITIZE)
  target_compile_options(carom_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(carom_flags INTERFACE -fsanitize=address,undefined)
endif()
if(CAROM_SANITIZE_THREADS)
  target_compile_options(carom_flags INTERFACE -fsanitize=thread)
  target_link_options(carom_flags INTERFACE -fsanitize=thread)
endif()
if(CAROM_FUZZ)
  include(CheckCSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS -fsanitize=fuzzer)
  check_c_source_compiles("#include <stdint.h>
    #include <stddef.h>
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return data && size > 1000000; }" CAROM_LIBFUZZER)
  unset(CMAKE_REQUIRED_FLAGS)
  if(CAROM_LIBFUZZER) # coverage of the whole library is what leads it
    target_compile_options(carom_flags INTERFACE
      -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(carom_flags INTERFACE -fsanitize=address,undefined)
  else()
    message(WARNING "carom: ${CMAKE_C_COMPILER_ID} without libFuzzer (Debian: clang, libclang-rt-dev): no libfuzzer_* targets")
  endif()
endif()
