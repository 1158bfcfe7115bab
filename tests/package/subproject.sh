#!/bin/bash
# SPDX-License-Identifier: MIT
# subproject.sh SOURCE OPENCL [build]: carom as a part of another project, by add_subdirectory and by FetchContent: that
# project's settings, targets, tests and installed files stay its own, and it gets a library. And what is refused or
# undone at top level: targets of 32 bits, an installation. Everything is configured; with `build`, which takes a
# minute, one such project is built, run and installed too.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/support/check.sh
. "$here/../support/check.sh"
source=$(realpath "$1") opencl=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset CFLAGS CXXFLAGS

# A stranger's project, C++ alone, with names of its own that carom might want too.
mkdir parent
cp "$here/consumer/main.cpp" parent/
cat > parent/CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.21)
project(parent LANGUAGES CXX)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_UNITY_BUILD ON)
option(FETCH "By FetchContent" OFF)
get_cmake_property(before CACHE_VARIABLES)
if(FETCH)
  include(FetchContent)
  FetchContent_Declare(carom SOURCE_DIR ${CAROM})
  FetchContent_MakeAvailable(carom)
else()
  add_subdirectory(${CAROM} carom)
endif()
get_cmake_property(after CACHE_VARIABLES)
list(REMOVE_ITEM after ${before})
# Prefixes of ours and of the modules that find OpenCL and threads for us.
list(FILTER after EXCLUDE REGEX "^(carom|CAROM|_?OpenCL|OPENCL|PKG_CONFIG|PKGCONFIG|pkgcfg|__pkg|prefix_result)")
list(FILTER after EXCLUDE REGEX "^(FIND_PACKAGE_MESSAGE|FETCHCONTENT|THREADS|Threads)")
list(FILTER after EXCLUDE REGEX "^CMAKE_(C_|HAVE_|AR|RANLIB|PROJECT_)")
message(STATUS "new in the cache: [${after}]")
foreach(name IN ITEMS cli format uninstall bench tests)
  if(TARGET ${name})
    message(STATUS "leaked: ${name}")
  else()
    add_custom_target(${name})
  endif()
endforeach()
string(CONCAT settings "type [${CMAKE_BUILD_TYPE}] shared [${BUILD_SHARED_LIBS}] C [${CMAKE_C_STANDARD}] "
              "flags [${CMAKE_C_FLAGS}]")
message(STATUS "settings: ${settings}")
add_library(theirs theirs.cpp)
get_target_property(theirs theirs TYPE)
get_target_property(ours carom TYPE)
message(STATUS "kinds: theirs ${theirs}, ours ${ours}")
get_property(tests DIRECTORY PROPERTY TESTS)
get_property(options DIRECTORY PROPERTY COMPILE_OPTIONS)
message(STATUS "tests [${tests}] options [${options}]")
add_executable(user main.cpp)
set_target_properties(user PROPERTIES CXX_STANDARD 11 CXX_STANDARD_REQUIRED ON)
target_link_libraries(user PRIVATE carom::carom theirs)
install(TARGETS user)
END
echo 'int theirs() { return 0; }' > parent/theirs.cpp

configure() { # NAME [CMake arguments]
    local name=$1
    shift
    cmake -S parent -B "$name" -G Ninja -DCAROM="$source" -DCAROM_OPENCL="$opencl" "$@" > "$name.txt" 2>&1
}
says() { # NAME TEXT CONFIGURED
    if grep -qF -- "-- $2" "$3.txt"; then pass "$3: $1"; else fail "$3: $1" "no '$2' in:
$(cat "$3.txt")"; fi
}
for way in subdirectory fetch; do
    fetch=OFF
    [ $way = subdirectory ] || fetch=ON
    check "$way: configures" configure $way -DFETCH=$fetch
    [ -f $way/build.ninja ] || continue
    nothing "$way: nothing of carom's is installed" "$(grep -rl "$source" $way --include=cmake_install.cmake |
        xargs -r grep -h 'file(INSTALL' || true)"
    says "no setting of the project is touched" 'settings: type [] shared [] C [99] flags []' $way
    says "no generic name is cached" 'new in the cache: []' $way
    says "the library follows the project" 'kinds: theirs STATIC_LIBRARY, ours STATIC_LIBRARY' $way
    says "no test, no flag" 'tests [] options []' $way
    nothing "$way: no target of a generic name" "$(grep 'leaked' $way.txt || true)"
    nothing "$way: no step but for the library" "$(ninja -C $way -t targets all 2> /dev/null |
        grep -E '\.o: ' | grep -vE '/(carom|user|theirs)\.dir/' || true)"
    nothing "$way: no tests" "$(find $way -name CTestTestfile.cmake -exec grep -l add_test {} + || true)"
done
check "shared if the project says so" configure shared -DBUILD_SHARED_LIBS=ON
says "both are" 'kinds: theirs SHARED_LIBRARY, ours SHARED_LIBRARY' shared
check "shared if carom's option says so" configure alone -DCAROM_SHARED=ON
says "carom alone is" 'kinds: theirs STATIC_LIBRARY, ours SHARED_LIBRARY' alone
check "static if carom's option says so" configure static -DBUILD_SHARED_LIBS=ON -DCAROM_SHARED=OFF
says "carom alone is" 'kinds: theirs SHARED_LIBRARY, ours STATIC_LIBRARY' static
check "installed if the project says so" configure install -DCAROM_INSTALL=ON -DCAROM_SHARED=ON

# Static, in a C++ project, so that it must find what the archive needs; without optimisation, which takes longest.
if [ "${3:-}" = build ]; then
    check "fetch: builds" cmake --build fetch
    check "fetch: runs" fetch/user
    check "fetch: installs" cmake --install fetch --prefix "$work/theirs"
    check "fetch: installs nothing of carom's" test "$(cd theirs && find . -type f)" = ./bin/user
fi

# ---- at top level ----------------------------------------------------------------------------------------------------
top() { # NAME [CMake arguments]
    local name=$1
    shift
    cmake -S "$source" -B "$name" -G Ninja -DCAROM_OPENCL="$opencl" -DCAROM_TESTS=OFF -DCAROM_CLI=OFF -DCAROM_DEMO=OFF \
        "$@" > "$name.txt" 2>&1
}
if top m32 -DCMAKE_C_FLAGS=-m32; then fail "-m32 is refused"; else
    check "-m32 is refused in a sentence" grep -q 'carom needs a 64-bit target' m32.txt
fi
# A compiler that is asked nothing, for a machine of 32 bits.
if top small -DCMAKE_C_COMPILER_FORCED=ON -DCMAKE_SIZEOF_VOID_P=4; then fail "32 bits are refused"; else
    check "32 bits are refused in a sentence" grep -q 'a target of 32 bits; carom needs 64' small.txt
fi
check "at top level it is shared and optimised" top top
check "so says the cache" \
    test "$(grep -cE '^(BUILD_SHARED_LIBS:BOOL=ON|CMAKE_BUILD_TYPE:STRING=Release)$' top/CMakeCache.txt)" -eq 2
if cmake --build top --target uninstall > uninstall.txt 2>&1; then fail "nothing to uninstall"; else
    check "nothing to uninstall is said" grep -q 'there is nothing to uninstall' uninstall.txt
fi
mkdir -p prefix/bin top
touch prefix/bin/theirs prefix/bin/carom
printf '%s\n' "$work/prefix/bin/carom" "$work/prefix/bin/gone" > top/install_manifest.txt
check "uninstalls" cmake --build top --target uninstall
check "what the list names, and that alone" test "$(cd prefix && find . -type f)" = ./bin/theirs
check_end
