#!/bin/bash
# SPDX-License-Identifier: MIT
# bake_bits.sh CAROM [TORTURE]: distances as whole numbers of 8 and 16 bits. Oracle: the same bake in binary32, rounded
# by NumPy, and the readers of each format.
# shellcheck disable=SC2016 # eval gets them
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
torture=${2:+$(realpath "$2")}
bake_begin "$1"
formats=(nrrd vti)
"$carom" info --backend cpu | grep -q '^build: .*, HDF5 no$' || formats+=(h5 vtkhdf)
cat > judge.py << 'END' # FORMAT WANTED.npy FILE BITS SIGN BAND H ORIGIN: number by number, and the scale
import math, sys, numpy
form, wanted, path = sys.argv[1], numpy.load(sys.argv[2]), sys.argv[3]
bits, is_signed, band, h = int(sys.argv[4]), sys.argv[5] != 'none', float(sys.argv[6]), float(sys.argv[7])
origin = [float(x) for x in sys.argv[8].split(',')]
kind = '%sint%d' % ('' if is_signed else 'u', bits)
end = 2 ** (bits - is_signed) - 1
if math.isinf(band): # around the cube [0, 1]^3
    ends = [(numpy.float32(o), numpy.float32(o + (n - 1) * h)) for o, n in zip(origin, wanted.shape[::-1])]
    square = 0.0
    for near, far in ends:
        square += max(abs(float(x) - y) for x in (near, far) for y in (0.0, 1.0)) ** 2
    reach = numpy.float32(math.sqrt(square) * (1 + 2 ** -20))
else:
    reach = numpy.float32(band)
scale = float(reach) / end
names = {'scale_factor': None, 'add_offset': None}
if form == 'nrrd':
    head, _, raw = open(path, 'rb').read().partition(b'\n\n')
    lines = head.decode().split('\n')
    fields = dict(line.split(': ', 1) for line in lines if ': ' in line and line[0] != '#')
    names = {key: float(value) for key, _, value in (line.partition(':=') for line in lines) if key in names}
    types = {'short': 'int16', 'ushort': 'uint16', 'signed char': 'int8', 'uchar': 'uint8'}
    numbers = numpy.frombuffer(raw, types[fields['type']]).reshape(wanted.shape)
    least = numpy.iinfo(numbers.dtype).min # each number is a cell
    low, high = float(fields['old min']), float(fields['old max'])
    for number in (least, 0, end):
        value = low + (number - least + 0.5) * (high - low) / 2 ** bits
        assert abs(value - number * scale) <= 1e-9 * reach, (number, value)
elif form == 'h5':
    import h5py
    with h5py.File(path, 'r') as file:
        numbers = file['distance'][:]
        names = {name: float(file['distance'].attrs[name]) for name in names}
else:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    if form == 'vti':
        from vtkmodules.vtkIOXML import vtkXMLImageDataReader as reader_of
    else:
        from vtkmodules.vtkIOHDF import vtkHDFReader as reader_of
    reader = reader_of()
    reader.SetFileName(path)
    reader.Update()
    image = reader.GetOutput()
    numbers = vtk_to_numpy(image.GetPointData().GetArray('distance')).reshape(wanted.shape)
    if form == 'vti':
        names = {name: image.GetFieldData().GetArray(name).GetTuple1(0) for name in names}
    else:
        import h5py
        with h5py.File(path, 'r') as file:
            attributes = file['VTKHDF/PointData/distance'].attrs
            names = {name: float(attributes[name]) for name in names}
assert names == {'scale_factor': scale, 'add_offset': 0.0}, (names, scale)
assert numbers.dtype == kind, numbers.dtype
distance = wanted.astype('f8')
assert (numpy.abs(distance) <= reach).all()
assert (numbers == numpy.rint(distance / scale)).all(), 'other numbers' # NumPy rounds to even, too
error = numpy.abs(numbers * scale - distance).max()
assert error <= 0.5000001 * scale, (error, scale)
assert ((numbers > 0) <= (distance > 0)).all() and ((numbers < 0) <= (distance < 0)).all(), 'a sign has changed'
if not math.isinf(band):
    far = numpy.abs(wanted) == reach
    assert far.any() and (numpy.abs(numbers[far].astype('i4')) == end).all()
print('read', is_signed == bool((numbers < 0).any()))
END
python=$(python_with numpy vtkmodules.vtkIOXML vtkmodules.vtkIOHDF h5py)
unu=$(command -v unu || command -v teem-unu || true)
[ -n "$python" ] || skip "readers" "no python3 with NumPy, VTK and h5py (Debian: python3-vtk9, python3-h5py)"
[ -n "$unu" ] || skip "teem" "no unu (Debian: teem-apps)"

lattice=(--spacing 0.125 --origin '-1,-0.75,-0.5' --dims '24,22,30')
for bits in 8 16; do
    for sign in none winding; do
        for band in inf 0.375; do
            name="$bits bits, --sign $sign, --band $band"
            volume=(distance --mesh cube.off "${lattice[@]}" --sign "$sign" --band "$band" --accuracy exact)
            bake "${volume[@]}" -o wanted.npy --resume 2> stderr.txt
            outputs=()
            rm -f at.*
            for format in "${formats[@]}"; do outputs+=(-o "at.$format"); done
            bake "${volume[@]}" --bits $bits "${outputs[@]}"
            for format in "${formats[@]}"; do
                [ -z "$python" ] || equal "$name: .$format" 'read True' "$("$python" judge.py "$format" wanted.npy \
                    "at.$format" $bits $sign $band 0.125 -1,-0.75,-0.5 2>&1 | tail -n 1)"
                check "$name: .$format: check" bake check "at.$format" --mesh cube.off --samples 300
            done
            equal "$name: status" "--bits $bits" "$(bake status at.vti | grep -o -- '--bits [0-9]*')"
            if [ -n "$unu" ] && [ -n "$python" ]; then
                check "$name: teem reads the numbers" cmp <("$unu" data at.nrrd) \
                    <(tail -c $((24 * 22 * 30 * bits / 8)) at.nrrd)
            fi
        done
    done
done
# unu unquantize takes unsigned numbers
bake distance --mesh cube.off "${lattice[@]}" --accuracy exact -o wanted.npy --resume 2> stderr.txt
bake distance --mesh cube.off "${lattice[@]}" --accuracy exact --bits 16 -o at.nrrd 2> stderr.txt
if [ -n "$unu" ] && [ -n "$python" ]; then
    equal "teem has the distances back, to half a step" True "$("$unu" unquantize -i at.nrrd -double | "$unu" data - |
        "$python" -c 'import sys, numpy
data = numpy.frombuffer(sys.stdin.buffer.read(), "f8")
wanted = numpy.load("wanted.npy").ravel()
print(data.size == wanted.size and numpy.abs(data - wanted).max() < 3.18e-5)')"
fi

# ---- the same bytes by every way -------------------------------------------------------------------------------------
volume=(distance --mesh cube.off --dims '24,24,80' --sign parity --bits 16 --with 'triangle,gradient')
bake "${volume[@]}" -o one.vti
bake "${volume[@]}" -o two.vti --threads 1 --isa scalar --backend cpu
check "other threads and instructions" cmp one.vti two.vti
for part in 1 2 3; do bake "${volume[@]}" --part $part/3 -o part$part; done
bake join joined.vti part3 part1 part2
check "parts" cmp one.vti joined.vti
check "a part: check" bake check part2 --mesh cube.off --samples 200
refused "parts to .npy" 2 'a .npy file holds one array' bake join no.npy part1 part2 part3
bake distance --mesh cube.off --dims '24,24,80' --part 1/3 --sign parity --with triangle,gradient -o binary32
refused "a part of binary32" 2 'what differs: format part \(there part 16 bits to [0-9.]*\)' bake join no.vti part3 \
    binary32 part2
mkdir out
bake "${volume[@]}" --format vti -o out/ 2> stderr.txt
check "a folder" cmp one.vti out/cube.vti
expect "is up to date" 0 '0 baked, 1 up to date before' bake "${volume[@]}" --format vti -o out/
expect "but not with other bits" 0 '1 baked, 0 up to date before' bake "${volume[@]}" --bits 8 --format vti -o out/

bake distance --mesh cube.off --dims 20,20,20 --sign parity --bits 16 -o changed.nrrd
cp changed.nrrd rounded.nrrd
printf '\x01' | dd of=changed.nrrd bs=1 seek=$(($(stat -c %s changed.nrrd) - 1)) conv=notrunc status=none
refused "check of a changed byte" 1 'changed.nrrd: node 7999 at .*; computed anew: ' bake check changed.nrrd --mesh \
    cube.off --samples 10000
# The number beside the right one
if [ -n "$python" ]; then
    "$python" -c 'import sys
data = bytearray(open("rounded.nrrd", "rb").read())
number = int.from_bytes(data[-4:-2], "little", signed=True) + 1
data[-4:-2] = number.to_bytes(2, "little", signed=True)
open("rounded.nrrd", "wb").write(data)'
    refused "check of the number beside" 1 'rounded.nrrd: node 7998 at ' bake check rounded.nrrd --mesh cube.off \
        --samples 10000
fi

# ---- interrupted -----------------------------------------------------------------------------------------------------
if [ -n "$torture" ]; then
    many=(distance --mesh cube.off --dims '40,40,200' --sign parity --bits 8 --threads 1)
    bake "${many[@]}" -o wanted.nrrd
    problems='' continued=0
    for at in 3 7 12 20 33 48 53; do
        rm -f got.nrrd* hit
        { TORTURE_KILL=1 TORTURE_CALL=write TORTURE_AT=$at TORTURE_HIT=hit LD_PRELOAD=$torture "$carom" bake \
            "${many[@]}" -o got.nrrd > stdout.txt 2>&1 || true; } 2> /dev/null
        bake "${many[@]}" -o got.nrrd --resume > stdout.txt 2> stderr.txt ||
            problems+="$at: $(head -n 2 stderr.txt)"$'\n'
        continued=$((continued + $(grep -c 'going on, [1-9]' stderr.txt || true)))
        problems+=$(cmp wanted.nrrd got.nrrd 2>&1 || true)$(left)
    done
    nothing "killed at any time, --resume gives the same bytes" "$problems"
    check "with work of before: $continued" test $continued -gt 3

    # Where a step ends within a slab, which a busy machine may do, it holds numbers in front and distances behind.
    for at in 5 8 11; do
        rm -f got.nrrd* hit
        { TORTURE_SLOW=1 TORTURE_KILL=1 TORTURE_CALL=write TORTURE_AT=$at TORTURE_HIT=hit LD_PRELOAD=$torture "$carom" \
            bake "${many[@]}" -o got.nrrd > stdout.txt 2>&1 || true; } 2> /dev/null
        check "steps, killed at write $at" eval 'TORTURE_SLOW=1 LD_PRELOAD=$torture bake "${many[@]}" -o got.nrrd \
            --resume 2> stderr.txt && cmp wanted.nrrd got.nrrd'
    done
    rm -f got.nrrd* hit
    { TORTURE_KILL=1 TORTURE_CALL=write TORTURE_AT=20 TORTURE_HIT=hit LD_PRELOAD=$torture "$carom" bake "${many[@]}" \
        -o got.nrrd > stdout.txt 2>&1 || true; } 2> /dev/null
    refused "other bits" 2 'differs in: format nrrd 16 bits to [0-9.]* \(there nrrd 8 bits to [0-9.]*\)' bake \
        "${many[@]}" --bits 16 -o got.nrrd --resume
fi

# ---- refused ---------------------------------------------------------------------------------------------------------
for bits in 0 12 32 16.0 x ''; do
    refused "--bits '$bits'" 2 "--bits: expected 8 or 16, got '$bits'" bake distance --mesh cube.off --spacing 1 \
        --bits "$bits" -o no.nrrd
done
refused ".npy" 2 'no.npy: a .npy file has no place for the scale of --bits 8' bake distance --mesh cube.off \
    --spacing 1 --bits 8 -o no.npy
refused ".npy in a folder" 2 'a .npy file has no place for the scale of --bits 8' bake distance --mesh cube.off \
    --spacing 1 --bits 8 --format npy,vti -o out/
refused "a band of 0" 2 '--bits 8: --band is from 2.-126 \(1.2e-38\) to 3.4e38 then, got 0$' bake distance \
    --mesh cube.off --spacing 1 --bits 8 --band 0 -o no.nrrd
refused "a band that is too small, before the mesh is read" 2 '--bits 8: --band is from 2.-126 .* got 1e-39$' bake \
    distance --mesh no.off --spacing 1 --bits 8 --band 1e-39 --format nrrd -o out/
refused "a range beyond binary32" 2 'the largest is from 2.-126 .* to 3.4e38; give a --band' bake distance \
    --mesh cube.off --spacing 1e38 --origin=-3e38,-3e38,-3e38 --dims 2,2,2 --bits 8 -o no.nrrd
for kind in clearance drop; do
    refused "$kind" 2 "bake $kind: option '--bits' is unknown" bake $kind --mesh cube.off --spacing 1 --bits 8 \
        -o no.nrrd
done
check_end
