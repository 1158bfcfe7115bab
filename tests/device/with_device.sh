#!/bin/sh
# SPDX-License-Identifier: MIT
# Run a test with an OpenCL device: the one the caller named, else the first. CTest cannot give a default.
set -eu
CAROM_TEST_DEVICE="${CAROM_TEST_DEVICE:-0}"
export CAROM_TEST_DEVICE
exec "$@"
