# SPDX-License-Identifier: MIT
# A folder's files are the library's, but for those of the instruction sets, which follow.
file(GLOB carom_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
  cpu/*.c cpu/*/*.c host/*/*.c)
list(FILTER carom_sources EXCLUDE REGEX "^(cpu/lanes/(isa|mesh|scene)_|host/opencl/|host/core/no_driver)")

# Files of an instruction set have flags of its own: nothing else may use them. The _fma one may fuse multiplications and
# additions (cpu/lanes/isa_fma_template.h), the others must not. Searches of meshes have a file for each width.
function(carom_isa name)
  if(CAROM_LIBFUZZER) # checked arithmetic in kernels is for CAROM_SANITIZE: here it takes clang minutes for each file
    list(APPEND ARGN -fno-sanitize=undefined)
  endif()
  if(CAROM_SANITIZE) # AddressSanitizer sees what such pointers lead to, and a quarter of the time to compile is saved
    list(APPEND ARGN -fno-sanitize=null,object-size,pointer-overflow)
  endif()
  if(CAROM_SANITIZE_THREADS) # kernels share nothing that they write, and would compile for minutes
    list(APPEND ARGN -fno-sanitize=thread)
  endif()
  file(GLOB meshes CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} cpu/lanes/mesh_${name}_*.c
    cpu/lanes/scene_${name}_*.c)
  set(plain cpu/lanes/isa_${name}.c cpu/lanes/isa_${name}_second.c ${meshes})
  set_source_files_properties(${plain} PROPERTIES COMPILE_OPTIONS "${ARGN}")
  set_source_files_properties(cpu/lanes/isa_${name}_fma.c PROPERTIES COMPILE_OPTIONS "${ARGN};-DLANG_ALLOW_FMA;-ffp-contract=fast")
  set(carom_sources ${carom_sources} ${plain} cpu/lanes/isa_${name}_fma.c PARENT_SCOPE)
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

# Tests see what users of older CPUs see, at full speed.
set(CAROM_HIGHEST_ISA "" CACHE STRING "For tests: no instruction set above this one, SSE41 or AVX2, is found")
if(CAROM_HIGHEST_ISA)
  set_source_files_properties(cpu/lanes/dispatch.c PROPERTIES
    COMPILE_DEFINITIONS CAROM_HIGHEST_ISA=CAROM_ISA_${CAROM_HIGHEST_ISA})
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
  file(GLOB carom_opencl_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} host/opencl/*.c)
  list(APPEND carom_sources ${carom_opencl_sources})
  include(cmake/embed.cmake)
  carom_embed_kernels(${CMAKE_CURRENT_BINARY_DIR}/embedded/carom_kernels.h)
  list(APPEND carom_sources ${CMAKE_CURRENT_BINARY_DIR}/embedded/carom_kernels.h)
else()
  list(APPEND carom_sources host/core/no_driver.c)
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
