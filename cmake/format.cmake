# SPDX-License-Identifier: MIT
# `format` rewrites, `format-check` only tells.
find_program(CAROM_CLANG_FORMAT NAMES clang-format-14 clang-format)
mark_as_advanced(CAROM_CLANG_FORMAT)
if(CAROM_CLANG_FORMAT)
  file(GLOB carom_formatted CONFIGURE_DEPENDS
    include/*/*.h calls/*.[ch] kernels/*.h kernels/*.cl cpu/*.[ch] cpu/*/*.[ch] host/*/*.[ch]
    queries/*.[ch] queries/*/*.[ch] reference/*.[ch] cli/*.[ch] cli/*/*.[ch] bench/*.[ch] bench/peers/*.[ch]
    bench/peers/*.[ch]pp examples/*.[ch] examples/*.cpp include/*/*.hpp examples/*/*.[ch]
    contrib/*/*.h contrib/*/*.cpp contrib/*/*/*/*.h fuzz/*.[ch] tests/*/*.[ch] tests/*/*/*.[ch])
  add_custom_target(format COMMAND ${CAROM_CLANG_FORMAT} -i ${carom_formatted} VERBATIM)
  add_custom_target(format-check COMMAND ${CAROM_CLANG_FORMAT} --dry-run -Werror ${carom_formatted} VERBATIM)
else()
  message(STATUS "carom: no clang-format (Debian: clang-format): no target `format`")
endif()
