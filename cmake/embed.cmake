# SPDX-License-Identifier: MIT
# The OpenCL programs' text as C arrays, so that the library needs no files at run time. Each kernels/*.cl is a root:
# its text is the file with every include replaced by the included file, once. Run by cmake -P at build time (KERNELS:
# the folder, OUTPUT: the header that host/opencl/program_text.c includes); library.cmake includes it for its last function.
#
# A file is cut at its includes, and a text is a list of such pieces: the texts share the headers they have in common.
# Each piece begins with a #line mark, so a compiler's message names file and line in kernels/.

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.21)

  # Append a piece of `name`, which begins at `line`, to the parts of `name`.
  function(carom_add_piece name line text)
    if(text MATCHES "^\n*$")
      return()
    endif()
    string(MAKE_C_IDENTIFIER ${name}_${line} piece)
    set_property(GLOBAL APPEND PROPERTY carom_parts_${name} ${piece})
    set(text "#line ${line} \"kernels/${name}\"\n${text}")
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "\n" "\\n\"\n\"" text "${text}")
    set_property(GLOBAL APPEND_STRING PROPERTY carom_code "static const char ${piece}[] =\n\"${text}\";\n")
  endfunction()

  # Cut a file: its parts are pieces of text and, between them, the names of the files that it includes.
  function(carom_cut name)
    file(READ ${KERNELS}/${name} text)
    set(line 1)
    while(text MATCHES "(^|\n)#include \"([^\"\n]+)\"[^\n]*\n")
      set(include "${CMAKE_MATCH_0}")
      set(included "${CMAKE_MATCH_2}")
      string(FIND "${text}" "${include}" at)
      string(SUBSTRING "${text}" 0 ${at} before)
      string(APPEND before "${CMAKE_MATCH_1}")
      if(NOT EXISTS ${KERNELS}/${included})
        message(FATAL_ERROR "kernels/${name}: includes ${included}, which is not in kernels/")
      endif()
      carom_add_piece(${name} ${line} "${before}")
      if(NOT included STREQUAL "lang_c.h") # not OpenCL C: lang.h includes it in another branch
        set_property(GLOBAL APPEND PROPERTY carom_parts_${name} ${included})
      endif()
      string(REGEX REPLACE "[^\n]" "" lines "${before}")
      string(LENGTH "${lines}" lines)
      math(EXPR line "${line} + ${lines} + 1")
      string(LENGTH "${include}" length)
      math(EXPR at "${at} + ${length}")
      string(SUBSTRING "${text}" ${at} -1 text)
    endwhile()
    carom_add_piece(${name} ${line} "${text}")
  endfunction()

  # Append the pieces of a file, and of what it includes, to carom_pieces, unless carom_seen has it.
  function(carom_flatten name)
    get_property(seen GLOBAL PROPERTY carom_seen)
    if(name IN_LIST seen)
      return()
    endif()
    set_property(GLOBAL APPEND PROPERTY carom_seen ${name})
    get_property(parts GLOBAL PROPERTY carom_parts_${name})
    if(NOT parts)
      carom_cut(${name})
      get_property(parts GLOBAL PROPERTY carom_parts_${name})
    endif()
    foreach(part IN LISTS parts)
      if(part MATCHES "[.]")
        carom_flatten(${part})
      else()
        set_property(GLOBAL APPEND PROPERTY carom_pieces ${part})
      endif()
    endforeach()
  endfunction()

  # rusticl rejects a binary32 program that merely mentions the other type.
  file(GLOB files ${KERNELS}/*.h ${KERNELS}/*.cl)
  list(REMOVE_ITEM files ${KERNELS}/wide.h ${KERNELS}/wide_real.h)
  foreach(file IN LISTS files)
    file(READ ${file} text)
    if(text MATCHES "(^|[^A-Za-z0-9_])double([^A-Za-z0-9_]|$)")
      message(FATAL_ERROR "${file}: the word 'double' must not occur in kernels (wide_real.h spells it)")
    endif()
  endforeach()

  file(GLOB roots RELATIVE ${KERNELS} ${KERNELS}/*.cl)
  set(programs)
  set(most 0)
  foreach(root IN LISTS roots)
    set_property(GLOBAL PROPERTY carom_seen)
    set_property(GLOBAL PROPERTY carom_pieces)
    carom_flatten(${root})
    get_property(seen GLOBAL PROPERTY carom_seen)
    get_property(pieces GLOBAL PROPERTY carom_pieces)
    list(LENGTH pieces count)
    if(count GREATER most)
      set(most ${count})
    endif()
    list(JOIN pieces ", " pieces)
    set(binary64 0)
    if("wide.h" IN_LIST seen)
      set(binary64 1)
    endif()
    get_filename_component(root ${root} NAME_WE)
    string(APPEND programs
      "static const char *const pieces_${root}[] = {${pieces}};\n"
      "static const kernel_text text_${root} = {pieces_${root}, ${count}, ${binary64}};\n")
  endforeach()
  get_property(code GLOBAL PROPERTY carom_code)
  file(WRITE ${OUTPUT}
    "/* Made by cmake/embed.cmake from kernels/. */\n${code}${programs}enum { PIECES_MAX = ${most} };\n")
  return()
endif()

function(carom_embed_kernels output)
  set(directory ${CMAKE_CURRENT_SOURCE_DIR}/kernels)
  set(script ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake)
  file(GLOB files CONFIGURE_DEPENDS ${directory}/*.h ${directory}/*.cl)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DKERNELS=${directory} -DOUTPUT=${output} -P ${script}
    DEPENDS ${files} ${script}
    COMMENT "Embedding the kernels"
    VERBATIM)
endfunction()
