# SPDX-License-Identifier: MIT
# The carom command. A command is a folder in cli/, so the files are found, not listed.
file(GLOB carom_cli_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
  cli/*.c cli/*/*.c)
list(FILTER carom_cli_sources EXCLUDE REGEX "^cli/(band|files|mpi)/") # programs of their own
list(REMOVE_ITEM carom_cli_sources ${carom_import_sources} ${carom_table_sources})
# The CSV reader, which tests and fuzz targets have by itself.
set(carom_csv_sources base/parallel.c table/csv.c table/csv_lines.c table/table_columns.c)
list(TRANSFORM carom_csv_sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/cli/)

# The library has the target name `carom`, so the command's target has another; its file is <build>/carom.
add_executable(carom_cli ${carom_cli_sources})
target_link_libraries(carom_cli PRIVATE carom_flags carom carom_queries carom_reference carom_mesh_import carom_tables
  carom_hdf5 m)
file(RELATIVE_PATH carom_libdir_from_bindir ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(carom_cli PROPERTIES OUTPUT_NAME carom RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
  INSTALL_RPATH "$ORIGIN/${carom_libdir_from_bindir}")
target_include_directories(carom_cli PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
