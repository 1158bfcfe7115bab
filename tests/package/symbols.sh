#!/bin/bash
# SPDX-License-Identifier: MIT
# symbols.sh LIBRARY: the library exports its API and nothing else, and holds no state of its own.
# From a shared library the dynamic table is read; from an archive every global symbol.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
library=$1
nm=${NM:-nm}
headers=$(dirname "$0")/../../include/carom

# AddressSanitizer adds globals of its own.
sanitized=no
if "$nm" "$library" 2> /dev/null | grep -E '__(asan|ubsan)_' > /dev/null; then sanitized=yes; fi

case $library in
*.a) exported=$("$nm" --defined-only -g "$library" 2> /dev/null | awk 'NF == 3 { print $3 }' | sort -u) \
    prefix='^caromi?_' ;;
*) exported=$("$nm" -D --defined-only "$library" | awk 'NF == 3 { print $3 }' | sort -u) prefix='^carom_' ;;
esac
if [ $sanitized = yes ]; then
    skip "exported symbols have the prefix" "a sanitized build adds its own"
else
    nothing "exported symbols have the prefix ${prefix#^}" "$(grep -vE "$prefix" <<< "$exported" || true)"
fi

declared=$(sed -n 's/^CAROM_API.*[ *]\(carom_[a-z0-9_]*\)(.*/\1/p' "$headers"/*.h | sort -u)
nothing "every function of the headers is exported" \
    "$(comm -23 <(echo "$declared") <(grep '^carom_' <<< "$exported"))"
if [[ $library != *.a ]]; then
    nothing "every exported function is in a header" \
        "$(comm -13 <(echo "$declared") <(grep '^carom_' <<< "$exported"))"
fi

# Types b, d and their kin are writable. The names let through belong to the compiler's start-up files and its cpuid.
if [ $sanitized = yes ]; then
    skip "no writable globals" "a sanitized build adds its own"
else
    writable=$("$nm" --defined-only "$library" 2> /dev/null | awk 'NF == 3 && $2 ~ /^[bBdDgGsSC]$/ { print $2, $3 }' |
        grep -vE -e ' (completed\.[0-9]+|__TMC_END__|__dso_handle|_DYNAMIC|_GLOBAL_OFFSET_TABLE_|__data_start)$' \
            -e ' (data_start|__bss_start.*|_edata|_end|_bss_end__|__bss_end__|__end__|__cpu_model|__cpu_features2)$' \
            -e ' __(frame_dummy_init|do_global_dtors_aux_fini)_array_entry$' || true)
    # Tables of pointers that never change live in .data.rel.ro: nm calls them d, the section tells them apart.
    constant=$(objdump -t "$library" 2> /dev/null | awk '/\.data\.rel\.ro/ { print $NF }' | sort -u)
    # Two exceptions: which process called OpenCL first, for a driver is global itself (host/opencl/process.c), and the
    # list of the addresses of all buffers on devices (host/core/range.c).
    writable=$(awk '{ print $2 }' <<< "$writable" | sort -u | comm -23 - <(echo "$constant") |
        grep -vxE 'opencl_process|caromi_range_pages' || true)
    nothing "no writable globals but opencl_process and caromi_range_pages" "$writable"
fi

if [[ $library == *.so* ]]; then
    soname=$(objdump -p "$library" | awk '$1 == "SONAME" { print $2 }')
    # before 1.0 a minor version may change the interface
    check "the SONAME carries major and minor version ($soname)" grep -qE '^libcarom\.so\.[0-9]+\.[0-9]+$' <<< "$soname"
fi
check_end
