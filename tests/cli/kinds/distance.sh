# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# Read by kind_of (tests/support/bake.sh), which says what stands here.
axes=3 array=distance more=triangle,feature,point,gradient
needs=()
own=(--sign parity --band 0.5)
shown='--sign parity --band 0.5'
changed=(--sign winding --band 0.5)
differs=sign

# Against rationals: bake.sh.
values() { :; }
refusals() { :; }
