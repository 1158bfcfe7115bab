#!/bin/bash
# SPDX-License-Identifier: MIT
# bake_formats.sh CAROM: one volume in every format, each read by a program of its own, and the same bytes by every way.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
# shellcheck source=tests/support/bake.sh
. "$(dirname "$0")/../support/bake.sh"
bake_begin "$1"
printf '%s\n' OFF '4 2 0' '-1.5 0.25 3' '2.5 0.1 3.7' '0.3 4.7 3.1' '-0.7 1.9 5.3' '3 0 1 2' '3 0 2 3' > wing.off
formats=(nrrd vti vtkhdf h5)
hdf5=$("$carom" info --backend cpu | sed -n 's/^build: .*, HDF5 //p')

# ---- a build without HDF5 --------------------------------------------------------------------------------------------
if [ "$hdf5" = no ]; then
    formats=(nrrd vti)
    bake distance --mesh cube.off --spacing 0.5 --part 1/1 -o whole
    for suffix in h5 vtkhdf; do
        refused "no HDF5: .$suffix" 2 "no.$suffix: this carom was built without HDF5" bake distance --mesh cube.off \
            --spacing 0.5 -o no.$suffix
        refused "no HDF5: .$suffix of parts" 2 "no.$suffix: this carom was built without HDF5" bake join \
            no.$suffix whole
    done
    skip ".h5 and .vtkhdf" "this carom was built without HDF5"
fi

# ---- readers ---------------------------------------------------------------------------------------------------------
cat > readers.py << 'END' # FORMAT WANTED.npy FILE H ORIGIN ARRAY...: the first array bit by bit, all at their nodes
import sys, numpy
form, wanted, path, h, origin = sys.argv[1], numpy.load(sys.argv[2], allow_pickle=False), sys.argv[3], \
    float(sys.argv[4]), [float(x) for x in sys.argv[5].split(',')]
names, image = sys.argv[6:], None
is_map = wanted.ndim == 2
nz, ny, nx = (1,) * is_map + wanted.shape
nodes = numpy.stack(numpy.meshgrid(*(numpy.arange(n) * h + o for n, o in zip((nz, ny, nx), origin[::-1])),
                                   indexing='ij')[::-1], -1).reshape(-1, 3)
def of_vtk(reader):
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonDataModel import vtkImageData
    assert reader.CanReadFile(path)
    reader.SetFileName(path)
    reader.Update()
    image = vtkImageData() # the HDF reader of VTK 9.1 leaves the direction to copies
    image.DeepCopy(reader.GetOutput())
    data = image.GetPointData()
    at = numpy.array([image.GetPoint(i) for i in range(image.GetNumberOfPoints())])
    assert numpy.allclose(at, nodes, rtol=0, atol=1e-12), (at[1], nodes[1])
    return {data.GetArrayName(i): vtk_to_numpy(data.GetArray(i)) for i in range(data.GetNumberOfArrays())}
if form == 'vti':
    from vtkmodules.vtkIOXML import vtkXMLImageDataReader
    arrays = of_vtk(vtkXMLImageDataReader())
elif form == 'vtkhdf':
    from vtkmodules.vtkIOHDF import vtkHDFReader
    arrays = of_vtk(vtkHDFReader())
elif form == 'nrrd':
    from vtkmodules.vtkIOImage import vtkNrrdReader
    arrays = {names[0]: of_vtk(vtkNrrdReader())['ImageFile']}
else:
    import h5py
    with h5py.File(path, 'r') as file:
        arrays = {name: array[:] for name, array in file.items()}
        for name, array in file.items():
            assert list(array.attrs['origin']) == origin[:2 if is_map else 3] and array.attrs['spacing'] == h, name
            assert array.attrs['command'].decode().startswith('carom bake '), array.attrs['command']
            assert array.shape == wanted.shape + (3,) * (name in ('point', 'gradient')), array.shape
        assert file.attrs['fingerprint'].decode().endswith('\nformat h5\n')
assert sorted(arrays) == sorted(names), arrays.keys()
types = {'triangle': 'int32', 'feature': 'uint8', 'point': 'float32', 'gradient': 'float32', names[0]: wanted.dtype}
assert all(a.dtype == types[name] for name, a in arrays.items())
assert numpy.ascontiguousarray(arrays[names[0]]).tobytes() == wanted.tobytes(), 'other values'
if 'point' in arrays:
    point = arrays['point'].reshape(-1, 3).astype('f8')
    triangle, feature = arrays['triangle'].ravel(), arrays['feature'].ravel()
    met = triangle >= 0
    if is_map: # the ball's radius lies between its centre and the point of contact
        nodes[met, 2] = wanted.ravel()[met]
        assert numpy.ptp(numpy.sqrt(((point - nodes)[met] ** 2).sum(1))) < 1e-5 and (met == (wanted.ravel() > -9)).all()
        assert 0 < met.sum() < met.size and not point[~met].any() and triangle.min() == -1
    else:
        assert numpy.abs(numpy.sqrt(((point - nodes) ** 2).sum(1)) - wanted.ravel()).max() < 1e-5 and met.all()
    assert triangle.max() <= 1 and feature.max() <= 7 and ((feature > 0) == met).all()
if 'gradient' in arrays: # from the closest point to the node
    away, far = nodes - point, wanted.ravel() > 1e-3
    assert far.any() and numpy.abs(arrays['gradient'].reshape(-1, 3)[far] -
                                   (away / wanted.ravel()[:, None])[far]).max() < 1e-3
print('read')
END
vtk=$(python_with numpy vtkmodules.vtkIOXML vtkmodules.vtkIOHDF vtkmodules.vtkIOImage)
h5py=$(python_with numpy h5py)
unu=$(command -v unu || command -v teem-unu || true)
[ -n "$vtk" ] || skip "VTK's readers" "no python3 with NumPy and VTK (Debian: python3-vtk9)"
[ -n "$h5py" ] || [ "$hdf5" = no ] || skip "h5py" "no python3 with h5py (Debian: python3-h5py)"
[ -n "$unu" ] || skip "teem" "no unu (Debian: teem-apps)"

# read_all NAME KIND H ORIGIN ARRAYS option...: in every format, and by every reader
read_all() {
    local name=$1 kind=$2 h=$3 origin=$4 format python shown
    local -a arrays with
    read -r -a arrays <<< "$5"
    shift 5
    rm -f at.*
    bake "$kind" --mesh wing.off --spacing "$h" "$@" -o at.npy
    for format in "${formats[@]}"; do
        with=()
        if [ "$format" != nrrd ] && [ ${#arrays[@]} -gt 1 ]; then with=(--with "$more"); fi
        bake "$kind" --mesh wing.off --spacing "$h" "$@" "${with[@]}" -o "at.$format"
        shown=("${arrays[@]}")
        if [ "$format" = nrrd ]; then shown=("${arrays[0]}"); fi
        if [ "$format" = h5 ]; then python=$h5py; else python=$vtk; fi
        # VTK takes a first axis of one node for that of the components.
        if [ "$format" = nrrd ] && [[ " $* " = *' 1,'* ]]; then python=''; fi
        [ -z "$python" ] || equal "$name: .$format" read \
            "$("$python" readers.py "$format" at.npy "at.$format" "$h" "$origin" "${shown[@]}" 2>&1 | tail -n 1)"
        check "$name: .$format: check" bake check "at.$format" --mesh wing.off --samples 200
        equal "$name: .$format: status" "100% $(stat -c %s "at.$format") bytes $kind --spacing" \
            "$(bake status "at.$format" | cut -d ' ' -f 3-7)"
    done
    if [ -n "$unu" ]; then
        check "$name: .nrrd: teem's data" cmp <("$unu" data at.nrrd) <(tail -c +129 at.npy)
        equal "$name: .nrrd: teem's place" "$(unu_place "$h" "$origin")" \
            "$("$unu" head at.nrrd | grep -E '^space (directions|origin):')"
    fi
}
unu_place() { # H ORIGIN: as the header has it
    local h=$1 x y z
    IFS=, read -r x y z <<< "$2"
    if [ "$axes" = 2 ]; then
        printf 'space directions: (%s,0) (0,%s)\nspace origin: (%s,%s)\n' "$h" "$h" "$x" "$y"
    else
        printf 'space directions: (%s,0,0) (0,%s,0) (0,0,%s)\nspace origin: (%s,%s,%s)\n' "$h" "$h" "$h" "$x" "$y" "$z"
    fi
}
kind_of distance
all=$array,$more
all=${all//,/ }
place=(--origin '-1.75,-0.5,2.125')
read_all "distance" distance 0.25 -1.75,-0.5,2.125 "$all" "${place[@]}" --dims 18,22,9
read_all "distance, a layer of x" distance 0.25 -1.75,-0.5,2.125 "$all" "${place[@]}" --dims 1,22,9
read_all "distance, a layer of y" distance 0.25 -1.75,-0.5,2.125 "$all" "${place[@]}" --dims 18,1,9
read_all "distance, a layer of z" distance 0.25 -1.75,-0.5,2.125 "$all" "${place[@]}" --dims 18,22,1
for kind in $(all_kinds); do
    [ "$kind" != distance ] || continue
    kind_of "$kind"
    # The wing is open, so it has no sign.
    read_all "$kind" "$kind" 0.125 "-1.75,-0.5,$(nodes_of 2.125 0)" "$array ${more//,/ }" \
        --origin="$(nodes_of -1.75,-0.5,2.125 -1.75,-0.5)" --dims "$(nodes_of 18,22,19 31,42)" "${own[@]/parity/none}"
done

# ---- the same bytes by every way -------------------------------------------------------------------------------------
volume=(--mesh cube.off --dims '24,24,80')
for part in 1 2 3; do
    bake distance "${volume[@]}" --part $part/3 -o part$part --threads $part
    bake distance "${volume[@]}" --with point,feature --part $part/3 -o more$part
done
for format in "${formats[@]}"; do
    bake distance "${volume[@]}" -o "one.$format"
    bake distance "${volume[@]}" -o "two.$format" --threads 1 --isa scalar --backend cpu
    check ".$format: other threads and instructions" cmp "one.$format" "two.$format"
    bake join "joined.$format" part3 part1 part2
    check ".$format: parts" cmp "one.$format" "joined.$format"
    check ".$format: of parts: check" bake check "joined.$format" --mesh cube.off --samples 100
    [ "$format" != nrrd ] || continue
    bake distance "${volume[@]}" --with feature,point -o "more.$format"
    bake join "joined.$format" more2 more3 more1
    check ".$format: parts of several arrays" cmp "more.$format" "joined.$format"
done

# ---- what is no such file --------------------------------------------------------------------------------------------
refused "--with and .nrrd" 2 'no.nrrd: a .nrrd file holds one array, so --with needs another format' bake distance \
    --mesh cube.off --spacing 1 --with triangle -o no.nrrd
refused "several arrays in one .nrrd" 2 'joined.nrrd: a .nrrd file holds one array' bake join joined.nrrd more1 more2 \
    more3
for format in "${formats[@]}"; do
    bent=bent.$format
    bake distance --mesh cube.off --dims 10,10,10 -o "small.$format"
    size=$(stat -c %s "small.$format")
    cat "small.$format" > "$bent"
    check ".$format: a copy without attributes" bake check "$bent" --mesh cube.off --samples 10
    printf '\001' | dd of="$bent" bs=1 seek=$((size - 2000)) conv=notrunc status=none
    refused ".$format: one byte of an answer" 1 "$bent: node [0-9]+ at .*; computed anew: " bake check "$bent" \
        --mesh cube.off --samples 10000
    refused ".$format: another mesh" 1 'was baked from another mesh' bake check "small.$format" --mesh wing.off
    cat "small.$format" > "$bent"
    at=$(head -c 16384 "$bent" | grep -aobE 'encoding|Spacing|command' | head -n 1)
    printf x | dd of="$bent" bs=1 seek="${at%%:*}" conv=notrunc status=none
    refused ".$format: the header" 1 "$bent: the header is not that of such a volume" bake check "$bent" \
        --mesh cube.off
    head -c $((size - 1)) "small.$format" > "$bent"
    refused ".$format: a file that was cut off" 1 "$bent: has $((size - 1)) bytes, and must have $size" bake check \
        "$bent" --mesh cube.off
    for bytes in 1 8 9 12 200; do
        head -c $bytes "small.$format" > "$bent"
        refused ".$format: $bytes bytes" 2 "$bent: does not say how it was made" bake check "$bent" --mesh cube.off
    done
done
if [ "$hdf5" != no ]; then
    refused ".vtkhdf: a line of nodes" 2 'no.vtkhdf: a .vtkhdf file needs two nodes or more along two axes' \
        bake distance --mesh cube.off --spacing 1 --dims 4,1,1 -o no.vtkhdf
fi
check_end
