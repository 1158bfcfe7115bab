# SPDX-License-Identifier: MIT
# The kernel text as C character arrays, so that the library needs no files at run time. Run by cmake -P at build time
# (KERNELS: the directory, OUTPUT: the C file), included by library.cmake for the function at the end.
set(carom_kernel_files lang.h layout.h vec.h nearest.h sweep_view.h twofloat.h sweep_line.h sweep_pieces.h sweep.h contact.h closest.h overlap.h
  spheres.h columns.h pairs.h mesh_course.h mesh_walk.h mesh_pairs.h mesh_run.h mesh_options.h mesh.h overlap_exact.h mesh_overlap.h mesh_closest.h pairs.cl mesh.cl mesh_closest.cl
  rounding.cl cells.h clearance.h order.cl compact.cl)
# Texts of exact mode: the first is where binary64 is spelled, and programs with them are built only for devices that have it.
set(carom_wide_files wide.h residual.h proof.h sweep_exact.h contact_exact.h spheres_exact.h pairs_exact.h mesh_options_exact.h
  mesh_exact.h closest_exact.h mesh_closest_exact.h)
list(APPEND carom_kernel_files ${carom_wide_files})

if(CMAKE_SCRIPT_MODE_FILE)
  set(code "/* Made by cmake/embed.cmake from kernels/. */\n")
  foreach(name IN LISTS carom_kernel_files)
    file(READ ${KERNELS}/${name} text)
    # rusticl rejects a binary32 program that merely mentions the other type.
    if(NOT name STREQUAL "wide.h" AND text MATCHES "(^|[^A-Za-z0-9_])double([^A-Za-z0-9_]|$)")
      message(FATAL_ERROR "kernels/${name}: the word 'double' must not occur in kernels (wide.h spells it)")
    endif()
    # The texts are handed over in order; what they include is there already. Empty lines keep the numbering.
    string(REGEX REPLACE "#include \"[^\"\n]*\"" "" text "${text}")
    set(text "#line 1 \"kernels/${name}\"\n${text}")
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "\n" "\\n\"\n\"" text "${text}")
    string(MAKE_C_IDENTIFIER ${name} id)
    string(APPEND code "extern const char caromi_kernel_${id}[];\nconst char caromi_kernel_${id}[] =\n\"${text}\";\n")
  endforeach()
  file(WRITE ${OUTPUT} "${code}")
  return()
endif()

function(carom_embed_kernels output)
  set(directory ${CMAKE_CURRENT_SOURCE_DIR}/kernels)
  set(script ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake)
  list(TRANSFORM carom_kernel_files PREPEND ${directory}/ OUTPUT_VARIABLE files)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DKERNELS=${directory} -DOUTPUT=${output} -P ${script}
    DEPENDS ${files} ${script}
    COMMENT "Embedding the kernels"
    VERBATIM)
endfunction()
