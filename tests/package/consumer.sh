#!/bin/bash
# SPDX-License-Identifier: MIT
# consumer.sh BUILD BINDIR LIBDIR: install BUILD to a fresh prefix, move that prefix (a package must not remember where
# it was built), then build and run a stranger's project against it, by CMake and by pkg-config.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/support/check.sh
. "$here/../support/check.sh"
build=$1 bindir=$2 libdir=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
check "installs" cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/prefix"
prefix=$work/prefix

project() { # name, languages, further CMake arguments
    local name=$1
    shift
    check "find_package: configures ($name)" cmake -S "$here/consumer" -B "$work/$name" -G Ninja \
        -DCMAKE_PREFIX_PATH="$prefix" "$@"
    check "find_package: builds ($name)" cmake --build "$work/$name"
}
project "C and C++"
check "find_package: C program runs" "$work/C and C++/consumer_c"
check "find_package: C++ program runs" "$work/C and C++/consumer_cxx"
project "C++ alone" -DUSE_C=OFF
check "find_package: C++ program runs (C++ alone)" "$work/C++ alone/consumer_cxx"
# Before 1.0 another minor version is another interface.
cat > "$work/version.cmake" << SCRIPT
set(PACKAGE_FIND_VERSION 0.3)
set(PACKAGE_FIND_VERSION_MAJOR 0)
set(PACKAGE_FIND_VERSION_MINOR 3)
set(PACKAGE_FIND_VERSION_COUNT 2)
include($prefix/$libdir/cmake/carom/carom-config-version.cmake)
if(PACKAGE_VERSION_COMPATIBLE)
  message(FATAL_ERROR "0.3 accepted")
endif()
SCRIPT
check "the package refuses another minor version" cmake -P "$work/version.cmake"

export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig LD_LIBRARY_PATH=$prefix/$libdir
if command -v pkg-config > /dev/null; then
    cc=${CC:-cc} cxx=${CXX:-c++}
    read -ra flags <<< "$(pkg-config --cflags --libs carom)"
    check "pkg-config: C99 -pedantic builds" "$cc" -std=c99 -pedantic-errors -Wall -Wextra -Werror \
        "$here/consumer/main.c" \
        -o "$work/pc_c" "${flags[@]}"
    check "pkg-config: C program runs" "$work/pc_c"
    check "pkg-config: C++11 -pedantic builds" "$cxx" -std=c++11 -pedantic-errors -Wall -Wextra -Werror \
        "$here/consumer/main.cpp" -o "$work/pc_cxx" "${flags[@]}"
    check "pkg-config: C++ program runs" "$work/pc_cxx"
    for other in "$cxx" clang++; do
        if ! command -v "$other" > /dev/null; then
            skip "carom.hpp with $other" "not installed"
            continue
        fi
        for standard in 17 20; do
            check "carom.hpp: C++$standard builds ($other)" "$other" "-std=c++$standard" -Wall -Wextra -Wpedantic \
                -Werror "$here/consumer/modern.cpp" -o "$work/modern" "${flags[@]}"
            check "carom.hpp: C++$standard program runs ($other)" "$work/modern"
        done
    done
    check "pkg-config knows the version" pkg-config --exact-version="$(sed -n 's/^Version: //p' \
        "$prefix/$libdir/pkgconfig/carom.pc")" carom
else
    skip "pkg-config" "not installed (Debian: pkg-config)"
fi
# The headers alone. Only carom_opencl.h needs OpenCL's, and it is installed with a library that has OpenCL.
compiles() { # NAME HEADER COMPILER...
    local name=$1 header=$2
    shift 2
    printf '#include <%s>\n' "$header" > "$work/alone"
    check "$name" "$@" -pedantic-errors -Wall -Wextra -Werror -fsyntax-only -I"$prefix/include" "$work/alone"
}
for header in carom context batch pairs mesh scene lattice cloud; do
    compiles "$header.h alone is C99" "carom/$header.h" "${CC:-cc}" -x c -std=c99
    compiles "$header.h alone is C++11" "carom/$header.h" "${CXX:-c++}" -x c++ -std=c++11
done
compiles "carom.hpp alone is C++17" carom/carom.hpp "${CXX:-c++}" -x c++ -std=c++17
nothing "carom.h includes no header of OpenCL" \
    "$("${CC:-cc}" -M -I"$prefix/include" -x c "$prefix/include/carom/carom.h" | grep -F /CL/ || true)"
if grep -q '^CAROM_OPENCL:BOOL=ON' "$build/CMakeCache.txt"; then
    read -ra flags <<< "$(pkg-config --cflags OpenCL 2> /dev/null || true)"
    compiles "carom_opencl.h alone is C99" carom/carom_opencl.h "${CC:-cc}" -x c -std=c99 ${flags[@]+"${flags[@]}"}
    compiles "carom_opencl.h alone is C++11" carom/carom_opencl.h "${CXX:-c++}" -x c++ -std=c++11 \
        ${flags[@]+"${flags[@]}"}
else
    nothing "without OpenCL its header is not installed" "$(find "$prefix/include" -name 'carom_opencl.h')"
fi
unset LD_LIBRARY_PATH
if [ -x "$prefix/$bindir/carom" ]; then
    check "the installed command finds its library" "$prefix/$bindir/carom" --version
fi
nothing "no private header is installed" \
    "$(comm -23 <(cd "$prefix/include" && find . -name "*.h*" | sort) \
        <(cd "$here/../../include" && find . -name "*.h*" | sort))"
nothing "no file names the place it was built" \
    "$(grep -rlF "$work/first" "$prefix" --include='*.cmake' --include='*.pc' || true)"
check_end
