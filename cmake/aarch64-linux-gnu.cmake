# SPDX-License-Identifier: MIT
# Toolchain: cross build for 64-bit ARM with Debian's compiler; tests run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
find_program(carom_qemu NAMES qemu-aarch64 qemu-aarch64-static)
if(carom_qemu)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${carom_qemu};-L;/usr/aarch64-linux-gnu)
endif()
