# SPDX-License-Identifier: MIT
set(carom_sources
  cpu/dispatch.c cpu/threads.c cpu/pairs.c cpu/settle.c cpu/settle_mesh.c cpu/isa_scalar.c
  cpu/integer.c cpu/exact_root.c cpu/exact_motion.c cpu/exact_touch.c cpu/exact_sweep.c cpu/exact_overlap.c
  cpu/exact_spheres.c
  host/context.c host/error.c host/names.c host/pairs.c host/batch.c host/mesh.c host/mesh_sweep.c host/bvh.c)

# One file per instruction set, each with flags of its own: nothing else may use them.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  list(APPEND carom_sources cpu/isa_sse41.c cpu/isa_avx2.c cpu/isa_avx512.c)
  set_source_files_properties(cpu/isa_sse41.c PROPERTIES COMPILE_OPTIONS "-msse4.1")
  set_source_files_properties(cpu/isa_avx2.c PROPERTIES COMPILE_OPTIONS "-mavx2")
  set_source_files_properties(cpu/isa_avx512.c PROPERTIES
    COMPILE_OPTIONS "-mavx512f;-mavx512dq;-mavx512bw;-mavx512vl;-mprefer-vector-width=512")
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  list(APPEND carom_sources cpu/isa_neon.c)
else()
  message(WARNING "carom: no vector path for ${CMAKE_SYSTEM_PROCESSOR}; the scalar path answers")
endif()
# The scalar path is scalar: it is the reference the others are compared with, in bits and in speed.
set_property(SOURCE cpu/isa_scalar.c APPEND PROPERTY COMPILE_OPTIONS -fno-tree-vectorize -fno-tree-slp-vectorize)

if(CAROM_OPENCL)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(CAROM_CL QUIET IMPORTED_TARGET OpenCL)
  endif()
  if(CAROM_CL_FOUND)
    set(carom_cl_target PkgConfig::CAROM_CL)
    set(carom_cl_requires OpenCL)
  else()
    find_package(OpenCL QUIET)
    if(NOT OpenCL_FOUND)
      message(FATAL_ERROR "carom: no OpenCL loader and headers (Debian: ocl-icd-opencl-dev); or configure with -DCAROM_OPENCL=OFF")
    endif()
    set(carom_cl_target OpenCL::OpenCL)
  endif()
  list(APPEND carom_sources host/cl_device.c host/cl_select.c host/cl_program.c host/cl_probe.c
    host/cl_rounding.c host/cl_stream.c host/cl_pairs.c host/cl_mesh.c)
  include(cmake/embed.cmake)
  carom_embed_kernels(${CMAKE_CURRENT_BINARY_DIR}/carom_kernels.c)
  list(APPEND carom_sources ${CMAKE_CURRENT_BINARY_DIR}/carom_kernels.c)
else()
  list(APPEND carom_sources host/cl_none.c)
endif()

add_library(carom ${carom_sources})
add_library(carom::carom ALIAS carom)
target_link_libraries(carom PRIVATE $<BUILD_INTERFACE:carom_flags>)
target_include_directories(carom PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                                        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(carom PROPERTIES C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} OUTPUT_NAME carom)
if(CAROM_OPENCL)
  target_link_libraries(carom PRIVATE ${carom_cl_target})
  target_compile_definitions(carom PRIVATE CL_TARGET_OPENCL_VERSION=120)
endif()
target_link_libraries(carom PRIVATE m)

find_package(OpenMP QUIET COMPONENTS C)
if(OpenMP_C_FOUND)
  target_link_libraries(carom PRIVATE OpenMP::OpenMP_C)
else()
  message(WARNING "carom: no OpenMP for ${CMAKE_C_COMPILER_ID} (Debian, clang: libomp-dev); the CPU path uses one thread")
endif()
