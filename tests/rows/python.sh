#!/bin/bash
# SPDX-License-Identifier: MIT
# python.sh: the wheel of the library that $BUILD has, made from the source distribution, installed in a fresh virtual
# environment, and its tests there; the editable install.
set -euo pipefail
root=$PWD work=$BUILD/python
rm -rf "$work"
mkdir -p "$work/source"
/usr/bin/python3 -m venv --system-site-packages "$work/venv" # NumPy, cffi and pytest are Debian's
"$work/venv/bin/python" setup.py -q sdist -d "$work" > "$work/sdist.log" 2>&1 || { cat "$work/sdist.log" && exit 1; }
tar -xzf "$work"/carom-*.tar.gz -C "$work/source" --strip-components=1
export CAROM_BUILD_DIR=$BUILD
"$work/venv/bin/python" -m pip wheel -q --no-build-isolation --no-deps --no-index -w "$work" "$work/source"
"$work/venv/bin/python" -m pip install -q --no-index --no-deps "$work"/carom-*.whl
cp -r "$root/python/tests" "$work/tests"

/usr/bin/python3 -m venv --system-site-packages "$work/editable"
"$work/editable/bin/python" -m pip install -q --no-build-isolation --no-deps --no-index -e "$work/source"
cd "$work/tests"
"$work/editable/bin/python" -c "import carom; assert carom.__file__.startswith('$work/source/'); print(carom.Context())"
echo "[       OK ] python: editable install"

mkdir "$work/bin"
if [ -x "$BUILD/lmp-carom" ]; then ln -s "$BUILD/lmp-carom" "$work/bin/"; fi # that pages run
export PATH=$work/bin:$PATH
# What the marks of tests/rows/count.awk begin with stands at the beginning of a line: pytest prints dots before.
CAROM_COMMAND=$BUILD/carom CAROM_SOURCE=$root "$work/venv/bin/python" -m pytest -q -p no:cacheprovider -s "$@"
