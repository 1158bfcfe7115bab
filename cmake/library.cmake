# SPDX-License-Identifier: MIT
set(carom_sources
  host/arrays.c host/batch.c host/choice.c host/context.c host/error.c host/fallback.c host/memory.c host/names.c
  host/pairs.c
  host/mesh/batch.c host/mesh/block.c host/mesh/check.c host/mesh/clearance.c host/mesh/closest.c host/mesh/compact.c
  host/mesh/hierarchy.c host/mesh/list.c host/mesh/list_calls.c host/mesh/masks.c host/mesh/mesh.c host/mesh/query.c
  host/mesh/query_sort.c host/mesh/run.c host/mesh/stage.c host/mesh/sweep.c host/mesh/update.c
  host/bvh/build.c host/bvh/refit.c host/bvh/share.c host/bvh/split.c host/bvh/wide.c
  cpu/columns.c cpu/dispatch.c cpu/float_mode.c cpu/pairs.c cpu/pool.c cpu/settle.c cpu/settle_closest.c
  cpu/settle_mesh.c cpu/exact_closest.c cpu/exact_motion.c cpu/exact_overlap.c cpu/exact_root.c cpu/exact_side.c
  cpu/exact_spheres.c cpu/exact_sweep.c cpu/exact_touch.c cpu/integer.c)

# Two files per instruction set, each with flags of its own: nothing else may use them. The _fma one may fuse
# multiplications and additions (cpu/isa_fma_template.h).
function(carom_isa name)
  if(CAROM_LIBFUZZER) # checked arithmetic in kernels is for CAROM_SANITIZE: here it takes clang minutes for each file
    list(APPEND ARGN -fno-sanitize=undefined)
  endif()
  set_source_files_properties(cpu/isa_${name}.c PROPERTIES COMPILE_OPTIONS "${ARGN}")
  set_source_files_properties(cpu/isa_${name}_fma.c PROPERTIES COMPILE_OPTIONS "${ARGN};-DLANG_ALLOW_FMA;-ffp-contract=fast")
  set(carom_sources ${carom_sources} cpu/isa_${name}.c cpu/isa_${name}_fma.c PARENT_SCOPE)
  set(carom_isas ${carom_isas} ${name} PARENT_SCOPE) # tests/CMakeLists.txt compiles with the same flags
  set(carom_isa_flags_${name} ${ARGN} PARENT_SCOPE)
endfunction()
# The scalar path is scalar: it is the reference the others are compared with, in bits and in speed.
carom_isa(scalar -fno-tree-vectorize -fno-tree-slp-vectorize)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  carom_isa(sse41 -msse4.1)
  carom_isa(avx2 -mavx2 -mfma)
  carom_isa(avx512 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mprefer-vector-width=512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  carom_isa(neon)
else()
  message(WARNING "carom: no vector path for ${CMAKE_SYSTEM_PROCESSOR}; the scalar path answers")
endif()

# A static library is linked where its user stands, in a folder above perhaps: what it needs must be known there.
macro(carom_find_global package target)
  if(NOT TARGET ${target})
    find_package(${package} QUIET)
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES IMPORTED_GLOBAL TRUE)
    endif()
  else()
    set(${package}_FOUND TRUE)
  endif()
endmacro()

if(CAROM_OPENCL)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(CAROM_CL QUIET IMPORTED_TARGET GLOBAL OpenCL)
  endif()
  if(CAROM_CL_FOUND)
    set(carom_cl_target PkgConfig::CAROM_CL)
    set(carom_cl_requires OpenCL)
  else()
    carom_find_global(OpenCL OpenCL::OpenCL)
    if(NOT OpenCL_FOUND)
      message(FATAL_ERROR "carom: no OpenCL loader and headers (Debian: ocl-icd-opencl-dev); or configure with -DCAROM_OPENCL=OFF")
    endif()
    set(carom_cl_target OpenCL::OpenCL)
  endif()
  list(APPEND carom_sources
    host/opencl/compact.c host/opencl/device.c host/opencl/mesh.c host/opencl/mesh_list.c
    host/opencl/pairs.c host/opencl/probe.c host/opencl/probe_mesh.c host/opencl/process.c host/opencl/program.c
    host/opencl/query_sort.c host/opencl/rounding.c host/opencl/select.c host/opencl/slot.c host/opencl/stream.c
    host/opencl/verbs.c)
  include(cmake/embed.cmake)
  carom_embed_kernels(${CMAKE_CURRENT_BINARY_DIR}/embedded/carom_kernels.h)
  list(APPEND carom_sources ${CMAKE_CURRENT_BINARY_DIR}/embedded/carom_kernels.h)
else()
  list(APPEND carom_sources host/opencl/none.c)
endif()

# CAROM_SHARED decides, else BUILD_SHARED_LIBS as everywhere, which is not touched.
if(CAROM_SHARED STREQUAL "")
  set(carom_kind)
elseif(CAROM_SHARED)
  set(carom_kind SHARED)
else()
  set(carom_kind STATIC)
endif()
add_library(carom ${carom_kind} ${carom_sources})
add_library(carom::carom ALIAS carom)
target_link_libraries(carom PRIVATE $<BUILD_INTERFACE:carom_flags>)
target_include_directories(carom PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
  PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}) # an include names the room that it reaches into, but for its own
if(CAROM_INSTALL)
  target_include_directories(carom PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endif()
set_target_properties(carom PROPERTIES C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} OUTPUT_NAME carom
  UNITY_BUILD OFF) # each file of an instruction set has flags of its own
if(CAROM_OPENCL)
  target_include_directories(carom PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  target_link_libraries(carom PRIVATE ${carom_cl_target})
  target_compile_definitions(carom PRIVATE CL_TARGET_OPENCL_VERSION=120)
endif()
set(THREADS_PREFER_PTHREAD_FLAG ON)
carom_find_global(Threads Threads::Threads)
if(NOT TARGET Threads::Threads)
  message(FATAL_ERROR "carom: no POSIX threads")
endif()
target_link_libraries(carom PRIVATE m Threads::Threads)
