# SPDX-License-Identifier: MIT
# What `cmake --install` puts down: library, header, CMake package, pkg-config file, command.
include(CMakePackageConfigHelpers)
set(carom_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/carom)

install(TARGETS carom EXPORT carom-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(header carom context batch pairs mesh scene lattice cloud renamed)
  install(FILES include/carom/${header}.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/carom)
endforeach()
install(FILES include/carom/carom.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/carom)
if(CAROM_OPENCL)
  install(FILES include/carom/carom_opencl.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/carom)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(CAROM_CLI)
  install(TARGETS carom_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(TARGET carom_mpi)
    install(TARGETS carom_mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
  if(TARGET carom_lmp)
    install(TARGETS carom_lmp RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
  if(TARGET carom_plugin)
    install(TARGETS carom_plugin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endif()

# A static archive does not carry what it needs: the package and the .pc file must name it. A shared library does.
get_target_property(carom_type carom TYPE)
set(carom_needs_opencl OFF)
set(carom_needs_threads OFF)
set(carom_pc_private -lm)
set(carom_pc_requires_private "")
if(CAROM_OPENCL)
  if(CAROM_CL_FOUND)
    set(carom_pc_requires_private OpenCL)
  else()
    string(APPEND carom_pc_private " -lOpenCL")
  endif()
endif()
string(APPEND carom_pc_private " -pthread")
set(carom_pc_libs "-L\${libdir} -lcarom")
set(carom_pc_requires "")
set(carom_pc_cflags "-I\${includedir}")
if(carom_type STREQUAL STATIC_LIBRARY)
  set(carom_needs_opencl ${CAROM_OPENCL})
  set(carom_needs_threads ON)
  # There is no shared library beside it, so plain `pkg-config --libs` must be enough.
  string(APPEND carom_pc_libs " ${carom_pc_private}")
  string(APPEND carom_pc_cflags " -DCAROM_STATIC")
  set(carom_pc_requires "${carom_pc_requires_private}")
  set(carom_pc_private "")
  set(carom_pc_requires_private "")
endif()

# Paths relative to the file itself: the tree may be moved, or installed with another --prefix.
file(RELATIVE_PATH carom_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" carom_pc_prefix "${carom_pc_prefix}")
file(RELATIVE_PATH carom_pc_libdir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH carom_pc_includedir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(cmake/carom.pc.in carom.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/carom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(cmake/carom-config.cmake.in carom-config.cmake INSTALL_DESTINATION ${carom_package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(carom-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/carom-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/carom-config-version.cmake
  DESTINATION ${carom_package_dir})
install(EXPORT carom-targets NAMESPACE carom:: DESTINATION ${carom_package_dir})
