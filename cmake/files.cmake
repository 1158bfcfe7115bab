# SPDX-License-Identifier: MIT
# What the command and carom-files have in common: mesh files, tables, volumes. carom-files is what the Python package reads
# and writes files with.
file(GLOB carom_import_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} cli/import/*.c)
set(carom_import_base child decimal memory number progress system text)
list(TRANSFORM carom_import_base REPLACE "(.+)" "cli/base/\\1.c")
list(APPEND carom_import_sources ${carom_import_base})
file(GLOB carom_table_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} cli/base/*.c cli/table/*.c
  cli/volume/*.c)
set(carom_rows_formats write columns hdf5 npy number points vtp xyz)
list(TRANSFORM carom_rows_formats REPLACE "(.+)" "cli/rows/rows_\\1.c")
list(APPEND carom_table_sources ${carom_rows_formats})
list(REMOVE_ITEM carom_table_sources ${carom_import_sources})

option(CAROM_ASSIMP "Read mesh formats beyond PLY, STL, OBJ, OFF and glTF, if assimp is installed" ON)
option(CAROM_JANSSON "Read glTF and earlier results of carom bench, if jansson is installed" ON)
option(CAROM_HDF5 "Read and write .h5 files, and write .vtkhdf, if HDF5 is installed" ON)
find_package(PkgConfig QUIET)
if(CAROM_ASSIMP AND PkgConfig_FOUND)
  pkg_check_modules(CAROM_ASSIMP_PC QUIET IMPORTED_TARGET assimp)
endif()

if(CAROM_JANSSON AND PkgConfig_FOUND)
  pkg_check_modules(CAROM_JANSSON_PC QUIET IMPORTED_TARGET jansson>=2.12)
endif()

# The serial library: that for MPI cannot be linked with it, and nothing here needs it. Debian has it as hdf5-serial
# too, because hdf5 may be either.
if(CAROM_HDF5 AND PkgConfig_FOUND)
  pkg_check_modules(CAROM_HDF5_PC QUIET IMPORTED_TARGET hdf5-serial>=1.10.5)
  if(NOT CAROM_HDF5_PC_FOUND)
    pkg_check_modules(CAROM_HDF5_PC QUIET IMPORTED_TARGET hdf5>=1.10.5)
  endif()
endif()
add_library(carom_hdf5 INTERFACE)
if(CAROM_HDF5_PC_FOUND)
  target_link_libraries(carom_hdf5 INTERFACE PkgConfig::CAROM_HDF5_PC)
  target_compile_definitions(carom_hdf5 INTERFACE CAROM_HAVE_HDF5)
elseif(CAROM_HDF5)
  message(STATUS "carom: no HDF5 (Debian: libhdf5-dev, pkg-config): the command has no .h5 and no .vtkhdf")
endif()

# The mesh readers alone, because the demo reads meshes too.
add_library(carom_mesh_import OBJECT ${carom_import_sources})
target_link_libraries(carom_mesh_import PRIVATE carom_flags carom)
target_include_directories(carom_mesh_import PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
if(CAROM_ASSIMP_PC_FOUND)
  target_link_libraries(carom_mesh_import PUBLIC PkgConfig::CAROM_ASSIMP_PC ${CMAKE_DL_LIBS})
  target_compile_definitions(carom_mesh_import PUBLIC CAROM_HAVE_ASSIMP)
  message(STATUS "carom: assimp ${CAROM_ASSIMP_PC_VERSION}: the command reads its mesh formats too")
elseif(CAROM_ASSIMP)
  message(STATUS "carom: no assimp (Debian: libassimp-dev, pkg-config): "
    "the command reads PLY, STL, OBJ, OFF and glTF only")
endif()
if(CAROM_JANSSON_PC_FOUND)
  target_link_libraries(carom_mesh_import PUBLIC PkgConfig::CAROM_JANSSON_PC)
  target_compile_definitions(carom_mesh_import PUBLIC CAROM_HAVE_JANSSON)
elseif(CAROM_JANSSON)
  message(STATUS "carom: no jansson (Debian: libjansson-dev, pkg-config): "
    "the command reads no glTF, and carom bench no earlier result")
endif()

# Tables, volumes and outputs, which carom-files has in common with the command.
add_library(carom_tables OBJECT ${carom_table_sources})
target_link_libraries(carom_tables PRIVATE carom_flags carom carom_queries carom_reference PUBLIC carom_hdf5)
target_include_directories(carom_tables PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})

if(NOT CAROM_FILES)
  return()
endif()
# It stands beside libcarom.so in the package.
file(GLOB carom_files_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} cli/files/*.c)
add_executable(carom_files ${carom_files_sources})
target_link_libraries(carom_files PRIVATE carom_flags carom carom_queries carom_reference carom_mesh_import carom_tables
  m)
target_include_directories(carom_files PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
set_target_properties(carom_files PROPERTIES OUTPUT_NAME carom-files
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
