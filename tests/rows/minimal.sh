#!/bin/bash
# SPDX-License-Identifier: MIT
# minimal.sh: what a machine without the optional packages sees: none of them is found.
set -euo pipefail
work=build/test
seen=$work/minimal.txt
if ! pkg-config --exists OpenCL; then
    echo "SKIP: no OpenCL headers (Debian: ocl-icd-opencl-dev)"
    exit 77
fi
rm -rf $work/minimal $work/minimal-pc
mkdir -p $work/minimal-pc
for name in OpenCL OpenCL-Headers assimp; do
    pkg-config --exists $name || continue
    ln -sf "$(pkg-config --variable=pcfiledir $name)/$name.pc" $work/minimal-pc/
done
cmake --preset minimal | tee $seen
cmake --build --preset minimal -j "$(nproc)"
executables() { find $work/minimal -type f -perm -u+x ! -name '*.so*' ! -path '*/CMakeFiles/*' -printf '%f\n'; }
if [ "$(executables | sort | tr '\n' ' ')" != 'carom carom-files rain ' ]; then
    echo "not the command, its program of files and the example that needs no package, but:"
    executables
    exit 1
fi
for name in cmocka png jansson embree bullet hdf5 lammps openmpi; do
    grep -q "Debian: lib$name-dev" $seen || { echo "nothing says that lib$name-dev is absent"; exit 1; }
done
$work/minimal/carom --version
if [ "$($work/minimal/carom bench --quick --backend cpu --isa scalar --scene spheres-cached |
    grep -cE '^(Embree|Bullet|FCL) is not measured: not in this build$')" -ne 3 ]; then
    echo "carom bench does not say which peers are absent"
    exit 1
fi
