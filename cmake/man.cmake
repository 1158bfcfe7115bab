# SPDX-License-Identifier: MIT
# Manual pages, and what shells complete command lines with. A page of the command is its --help, by help2man; a page of
# the library is a comment of a public header, by doxygen; that of lmp-carom has the syntax in docs/lammps.md, as its help
# is LAMMPS's. Completions are what `carom completion` prints. So nothing is written twice. Run by cmake -P for each of
# the two folders of pages (COMMAND or HEADERS, with OUTPUT and VERSION), included for the target.

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.21)
  set(ENV{LC_ALL} C)

  # carom-bake-drop.1 from `carom bake drop --help`; `command` is empty for carom.1.
  function(carom_page program command summary)
    get_filename_component(name ${program} NAME)
    string(REPLACE " " "-" page "${name} ${command}")
    string(REGEX REPLACE "-$" "" page ${page})
    file(WRITE ${OUTPUT}/include "[see also]\n${carom_see_also}\n")
    execute_process(COMMAND ${HELP2MAN} --no-info --name=${summary} --version-string=${VERSION}
      --help-option=${command}\ --help --include=${OUTPUT}/include ${program}
      OUTPUT_VARIABLE text ERROR_VARIABLE said RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "carom: no manual page of ${page}: ${said}")
    endif()
    # help2man knows a program, and no commands of one.
    string(TOUPPER ${page} title)
    string(REPLACE "-" "\\-" escaped ${page})
    string(REGEX REPLACE "\n[.]TH [^ ]+ " "\n.TH ${title} " text "${text}")
    string(REGEX REPLACE "\n[.]SH NAME\n[^ ]+ " "\n.SH NAME\n${page} " text "${text}")
    file(WRITE ${OUTPUT}/${page}.1 "${text}")
  endfunction()

  file(REMOVE_RECURSE ${OUTPUT})
  file(MAKE_DIRECTORY ${OUTPUT})
  if(COMMAND_MPI) # its options are those of carom bake; Open MPI needs no daemon and no network to print them
    set(ENV{OMPI_MCA_ess_singleton_isolated} 1)
    set(carom_see_also ".BR carom-bake (1)")
    carom_page(${COMMAND_MPI} "" "carom bake by several ranks")
  endif()
  if(COMMAND)
    execute_process(COMMAND ${COMMAND} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "\n  [a-z][a-z ]*[a-z]  +[^\n]+" lines "${help}")
    set(pages)
    foreach(line IN LISTS lines)
      string(REGEX MATCH "^\n  ([a-z ]*[a-z])  +(.*)$" matched "${line}")
      set(command ${CMAKE_MATCH_1})
      set(carom_see_also ".BR carom (1)")
      carom_page(${COMMAND} ${command} "${CMAKE_MATCH_2}")
      string(REPLACE " " "-" command ${command})
      list(APPEND pages ".BR carom-${command} (1)")
    endforeach()
    set(carom_see_also ".BR carom (1)")
    carom_page(${COMMAND} bake "volumes and paths of a mesh, into files")
    list(JOIN pages ",\n" carom_see_also)
    carom_page(${COMMAND} "" "sweeps of spheres against triangles and meshes")
    file(REMOVE ${OUTPUT}/include)
    if(LAMMPS)
      file(READ ${LAMMPS} text)
      if(NOT text MATCHES "\n```text\n(fix ID group wall/carom [^`]*)```")
        message(FATAL_ERROR "carom: no syntax of fix wall/carom in ${LAMMPS}")
      endif()
      string(REPLACE "-" "\\-" syntax "${CMAKE_MATCH_1}")
      string(TIMESTAMP date "%B %Y" UTC) # of SOURCE_DATE_EPOCH, if there is one
      file(WRITE ${OUTPUT}/lmp-carom.1 ".TH LMP\\-CAROM 1 \"${date}\" \"carom ${VERSION}\" \"User Commands\"
.SH NAME
lmp\\-carom \\- LAMMPS with fix wall/carom
.SH SYNOPSIS
.B lmp\\-carom
[\\fIOPTION\\fR]...
.br
.B mpirun
[\\fIOPTION\\fR]...
.B lmp\\-carom
[\\fIOPTION\\fR]...
.SH DESCRIPTION
A LAMMPS in which triangle meshes are walls of granular grains. Options are those of lmp (1); input scripts may hold
.PP
.nf
${syntax}.fi
.SH SEE ALSO
.BR lmp (1),
.BR carom (1)
")
    endif()
  elseif(HEADERS)
    if(XML) # for cmake/site.cmake
      set(form "FILE_PATTERNS += *.hpp
      GENERATE_MAN = NO
      GENERATE_XML = YES
      XML_PROGRAMLISTING = NO
      TYPEDEF_HIDES_STRUCT = YES")
    else()
      set(form "GENERATE_MAN = YES")
    endif()
    file(WRITE ${OUTPUT}/doxygen.txt "PROJECT_NAME = carom
      INPUT = ${HEADERS}
      FILE_PATTERNS = *.h
      RECURSIVE = YES
      STRIP_FROM_PATH = ${HEADERS}
      STRIP_FROM_INC_PATH = ${HEADERS}
      GENERATE_HTML = NO
      GENERATE_LATEX = NO
      ${form}
      OPTIMIZE_OUTPUT_FOR_C = YES
      MACRO_EXPANSION = YES
      EXPAND_ONLY_PREDEF = YES
      PREDEFINED = CAROM_API= CAROM_RENAMED=union
      EXPAND_AS_DEFINED = CAROM_HPP_QUERY
      EXTRACT_ALL = YES
      EXTRACT_STATIC = YES
      SORT_MEMBER_DOCS = NO
      INPUT_FILTER = \"awk -f ${CMAKE_CURRENT_LIST_DIR}/headers.awk\"
      QUIET = YES
      OUTPUT_DIRECTORY = ${OUTPUT}/doxygen\n")
    execute_process(COMMAND ${DOXYGEN} ${OUTPUT}/doxygen.txt COMMAND_ERROR_IS_FATAL ANY)
    if(XML)
      return()
    endif()
    file(GLOB pages ${OUTPUT}/doxygen/man/man3/[a-z]*.3)
    string(TIMESTAMP date "%Y-%m-%d" UTC) # of SOURCE_DATE_EPOCH, if there is one
    execute_process(COMMAND awk -v OUT=${OUTPUT} -v DATE=${date} -v VERSION=${VERSION}
      -f ${CMAKE_CURRENT_LIST_DIR}/man3.awk ${pages} COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE_RECURSE ${OUTPUT}/doxygen ${OUTPUT}/doxygen.txt)
  endif()
  return()
endif()

option(CAROM_MAN "Make manual pages and completions for shells, with help2man and doxygen if they are installed"
  ${PROJECT_IS_TOP_LEVEL})
if(NOT CAROM_MAN)
  return()
endif()
find_program(CAROM_HELP2MAN help2man)
find_program(CAROM_DOXYGEN doxygen)
find_program(CAROM_AWK awk)
mark_as_advanced(CAROM_HELP2MAN CAROM_DOXYGEN CAROM_AWK)
set(carom_man ${CMAKE_CURRENT_BINARY_DIR}/man)
set(carom_man_script ${CMAKE_CURRENT_SOURCE_DIR}/cmake/man.cmake)
set(carom_man_outputs)

# carom_man_folder(SECTION ARGUMENTS... DEPENDS files): its pages, made at build time. A build of some targets alone may
# have none to install.
function(carom_man_folder section)
  cmake_parse_arguments(PARSE_ARGV 1 of "" "" "DEPENDS")
  add_custom_command(OUTPUT ${carom_man}/${section}.stamp
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${carom_man}/${section} -DVERSION=${PROJECT_VERSION} ${of_UNPARSED_ARGUMENTS}
      -P ${carom_man_script}
    COMMAND ${CMAKE_COMMAND} -E touch ${carom_man}/${section}.stamp
    DEPENDS ${of_DEPENDS} ${carom_man_script} COMMENT "Manual pages, section ${section}" VERBATIM)
  set(carom_man_outputs ${carom_man_outputs} ${carom_man}/${section}.stamp PARENT_SCOPE)
  if(CAROM_INSTALL)
    install(DIRECTORY ${carom_man}/${section}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} OPTIONAL)
  endif()
endfunction()

if(CMAKE_CROSSCOMPILING)
  message(STATUS "carom: a cross build: no completions and no manual pages of the command, which would have to run")
elseif(CAROM_CLI)
  if(CAROM_HELP2MAN)
    set(programs -DCOMMAND=$<TARGET_FILE:carom_cli>)
    set(depends carom_cli)
    if(TARGET carom_mpi)
      list(APPEND programs -DCOMMAND_MPI=$<TARGET_FILE:carom_mpi>)
      list(APPEND depends carom_mpi)
    endif()
    if(TARGET carom_lmp)
      list(APPEND programs -DLAMMPS=${CMAKE_CURRENT_SOURCE_DIR}/docs/lammps.md)
      list(APPEND depends ${CMAKE_CURRENT_SOURCE_DIR}/docs/lammps.md)
    endif()
    carom_man_folder(1 -DHELP2MAN=${CAROM_HELP2MAN} ${programs} DEPENDS ${depends})
  else()
    message(STATUS "carom: no help2man (Debian: help2man): no manual pages of the command")
  endif()
  set(carom_completions)
  # Where each shell looks, below the prefix: folder, name of the file.
  foreach(place IN ITEMS bash:bash-completion/completions:carom zsh:zsh/vendor-completions:_carom
      fish:fish/vendor_completions.d:carom.fish)
    string(REPLACE ":" ";" place ${place})
    list(GET place 0 shell)
    list(GET place 1 folder)
    list(GET place 2 name)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/completions/${shell}/${name})
    add_custom_command(OUTPUT ${file}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/completions/${shell}
      COMMAND carom_cli completion ${shell} -o ${file} DEPENDS carom_cli COMMENT "Completion for ${shell}" VERBATIM)
    list(APPEND carom_man_outputs ${file})
    if(CAROM_INSTALL)
      install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} OPTIONAL)
    endif()
  endforeach()
endif()
if(CAROM_DOXYGEN AND CAROM_AWK)
  file(GLOB carom_headers CONFIGURE_DEPENDS include/carom/*.h)
  carom_man_folder(3 -DDOXYGEN=${CAROM_DOXYGEN} -DHEADERS=${CMAKE_CURRENT_SOURCE_DIR}/include
    DEPENDS ${carom_headers} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/headers.awk ${CMAKE_CURRENT_SOURCE_DIR}/cmake/man3.awk)
else()
  message(STATUS "carom: no doxygen or awk (Debian: doxygen, mawk): no manual pages of the library")
endif()
add_custom_target(carom_man ALL DEPENDS ${carom_man_outputs})
