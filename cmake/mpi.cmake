# SPDX-License-Identifier: MIT
# carom-mpi: the objects of the command, with another main() and what ranks have.
option(CAROM_MPI "Build carom-mpi, which bakes with several ranks, if MPI is installed" ON)
if(NOT CAROM_MPI)
  return()
endif()
# Without MPI's headers (Debian: openmpi-bin alone) mpicc names a folder that is absent, and FindMPI ends with an error.
find_program(carom_mpicc mpicc HINTS ${MPI_HOME} $ENV{MPI_HOME} PATH_SUFFIXES bin NO_CACHE)
set(carom_mpi_status 0)
if(carom_mpicc)
  execute_process(COMMAND ${carom_mpicc} -E -include mpi.h -x c /dev/null RESULT_VARIABLE carom_mpi_status
    OUTPUT_QUIET ERROR_QUIET)
endif()
if(carom_mpi_status EQUAL 0)
  find_package(MPI QUIET COMPONENTS C)
endif()
if(NOT MPI_C_FOUND)
  message(STATUS "carom: no MPI (Debian: libopenmpi-dev, openmpi-bin): carom-mpi is not built")
  return()
endif()
file(GLOB carom_mpi_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} cli/mpi/*.c)
add_executable(carom_mpi ${carom_mpi_sources} $<FILTER:$<TARGET_OBJECTS:carom_cli>,EXCLUDE,/cli/carom[.]c[.]>)
add_dependencies(carom_mpi carom_cli)
get_target_property(carom_cli_libraries carom_cli LINK_LIBRARIES)
target_link_libraries(carom_mpi PRIVATE ${carom_cli_libraries} MPI::MPI_C)
target_include_directories(carom_mpi PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
set_target_properties(carom_mpi PROPERTIES OUTPUT_NAME carom-mpi RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
  INSTALL_RPATH "$ORIGIN/${carom_libdir_from_bindir}")
message(STATUS "carom: MPI ${MPI_C_VERSION}: carom-mpi bakes with several ranks")
