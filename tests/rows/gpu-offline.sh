#!/bin/bash
# SPDX-License-Identifier: MIT
# gpu-offline.sh: the kernels' machine code for GPUs that need not be there.
set -euo pipefail
folder=$BUILD/gpu-offline
rm -rf "$folder" && mkdir -p "$folder"
cmake --build "$BUILD" --target program_files
"$BUILD/tests/program_files" "$folder"
status=0
python3 "$ROOT/tests/device/gpu_offline.py" "$folder" "$ROOT/tests/device/gpu_limits.txt" || status=$?
cat "$folder/figures.txt"
exit $status
