#!/bin/bash
# SPDX-License-Identifier: MIT
# rain.sh SOURCE BUILD: the examples bounce, particles, jobs and rain. No sphere is outside, the checker sees one that
# is, positions have the same hash on every backend and thread count, and VTK reads the frames.
set -euo pipefail
# shellcheck source=tests/support/check.sh
. "$(dirname "$0")/../support/check.sh"
source=$(realpath "$1") build=$(realpath "$2")
check_begin "$build/carom"
rain=$build/rain

# ---- bounce ----------------------------------------------------------------------------------------------------------
for name in bounce particles jobs; do
    check "$name compiles as a stranger's program" "${CC:-cc}" -std=c99 -pedantic -Wall -Wextra -Werror -O1 \
        -ffp-contract=off -I"$source/include" "$source/examples/$name.c" -o "$name" -L"$build" -Wl,-rpath,"$build" \
        -lcarom -lm
done
check "bounce runs" ./bounce
inside() { # every sphere, of these radii, is in the box from 0 to 1
    ./bounce | awk -v radii="0.1 0.05 0.02" '
        BEGIN { split(radii, r, " ") }
        { for (i = 3; i <= 5; i++) if ($i < r[NR] - 0.001 || $i > 1 - r[NR] + 0.001) bad = 1 }
        END { exit bad || NR != 3 }'
}
check "bounce keeps its spheres in the box" inside

# ---- particles -------------------------------------------------------------------------------------------------------
check "particles run in buffers" ./particles 4
check "they hit the pipe and stay in it" grep -qE ': [1-9][0-9]* hits, 0 particles are outside$' <(./particles 4)

# ---- jobs ------------------------------------------------------------------------------------------------------------
check "jobs run" ./jobs 4
check "particles hit the box and stay in it" grep -qE ': [1-9][0-9]* hits, 0 particles are outside$' <(./jobs 4)

check "job_cost compiles as a stranger's program" "${CC:-cc}" -std=c99 -pedantic -Wall -Wextra -Werror -O1 \
    -ffp-contract=off -I"$source/include" "$source/examples/job_cost.c" -o job_cost -L"$build" -Wl,-rpath,"$build" \
    -lcarom -lm
shares() { # four lines, and a job leaves the calling thread less than the blocking call
    ./job_cost 300000 | awk '
        / s of them on the calling thread$/ { own[NR] = $(NF - 7) }
        / us blocking, .* us as a job$/ { costs++ }
        END { exit !(NR == 4 && costs == 2 && own[2] < own[1]) }'
}
check "a job leaves the calling thread free" shares

# ---- rain ------------------------------------------------------------------------------------------------------------
small=(--particles 2000 --triangles 10000 --steps 320 --every 160 --sample 50)
hash_of() { sed -n 's/^hash of all centres after .* steps: //p' "$1"; }
first_run() { "$rain" "${small[@]}" --backend cpu --threads 1 --frames frames > cpu1.txt; }
check "rain runs" first_run
equal "rain: no sphere is outside" "outside, over 3 frames: 0" "$(grep '^outside' cpu1.txt)"
hit_both() { # a thousandth of the particle-steps hit the mesh, a tenth another sphere
    awk '/hits with the mesh/ {
            gsub(",", "")
            for (i = 1; i < NF; i++) if ($(i + 1) == "hits") { mesh = $i; spheres = $(i + 5) }
        }
        END { exit !(mesh > 0.001 && spheres > 0.1) }' cpu1.txt
}
check "rain: spheres hit the mesh and each other" hit_both
deepest() {
    awk '/deepest of 50/ { n++; for (i = 1; i < NF; i++) if ($(i + 1) == "radii" && $i > 1e-3) bad = 1 }
        END { exit bad || n != 3 }' cpu1.txt
}
check "rain: spheres of the sample are not in the mesh" deepest
for threads in 2 5; do
    "$rain" "${small[@]}" --backend cpu --threads $threads > "cpu$threads.txt"
    equal "rain: the same hash with $threads threads" "$(hash_of cpu1.txt)" "$(hash_of cpu$threads.txt)"
done
# A few over 1000 steps, on everything that there is: what differs once differs for ever.
few=(--particles 300 --triangles 1000 --steps 1000 --every 1000 --sample 0)
"$rain" "${few[@]}" --backend cpu --threads 1 > few.txt
for threads in 2 3; do
    "$rain" "${few[@]}" --backend cpu --threads $threads > "few$threads.txt"
    equal "rain: 1000 steps, $threads threads" "$(hash_of few.txt)" "$(hash_of few$threads.txt)"
done
for isa in scalar sse4.1 avx2 avx512 neon; do
    if "$rain" "${few[@]}" --backend cpu --threads 1 --isa $isa > isa.txt 2> said.txt; then
        equal "rain: 1000 steps, $isa" "$(hash_of few.txt)" "$(hash_of isa.txt)"
    else
        check "rain: why not $isa" grep -qx "rain: --isa $isa: not on this machine" said.txt
        skip "rain: 1000 steps, $isa" "not on this machine"
    fi
done
on_cpu='^answers: 0 on devices, [1-9][0-9]* on the CPU$'
"$rain" "${few[@]}" --device cpu > device.txt
equal "rain: 1000 steps, --device cpu" "$(hash_of few.txt)" "$(hash_of device.txt)"
check "rain: --device cpu is the CPU path" grep -q "$on_cpu" device.txt
"$rain" "${few[@]}" --device auto > device.txt
equal "rain: 1000 steps, --device auto" "$(hash_of few.txt)" "$(hash_of device.txt)"
check "rain: --device auto leaves few particles to the CPU" grep -q "$on_cpu" device.txt
if "$rain" "${few[@]}" --backend opencl > opencl.txt 2> said.txt; then
    equal "rain: 1000 steps, OpenCL" "$(hash_of few.txt)" "$(hash_of opencl.txt)"
    "$rain" "${few[@]}" --device 0 > device.txt
    equal "rain: 1000 steps, --device 0" "$(hash_of few.txt)" "$(hash_of device.txt)"
    check "rain: a device by its number answers" grep -q '^answers: [1-9][0-9]* on devices from .*, 0 on the CPU$' \
        device.txt
    "$rain" "${few[@]}" --device "$(sed -n 's/^answers: .* on devices from \(.*\), 0 on the CPU$/\1/p' device.txt)" \
        > named.txt
    equal "rain: a device by its name answers" "$(grep '^answers' device.txt)" "$(grep '^answers' named.txt)"
    "$rain" "${few[@]}" --device 0 --backend auto > device.txt
    check "rain: auto leaves few particles to the CPU where a device is named" grep -q "$on_cpu" device.txt
else
    skip "rain: 1000 steps, OpenCL" "$(head -n 1 said.txt)"
fi
# So many that carom's threads share every batch.
more=(--particles 34000 --triangles 10000 --steps 50 --every 50 --backend cpu --sample 0)
for threads in 1 2 7; do
    "$rain" "${more[@]}" --threads $threads > "more$threads.txt"
done
equal "rain: the same hash of 34000 with 2 threads" "$(hash_of more1.txt)" "$(hash_of more2.txt)"
equal "rain: the same hash of 34000 with 7 threads" "$(hash_of more1.txt)" "$(hash_of more7.txt)"
if "$rain" "${small[@]}" --backend opencl > opencl.txt 2> said.txt; then
    equal "rain: the same hash with OpenCL" "$(hash_of cpu1.txt)" "$(hash_of opencl.txt)"
elif grep -q 'OpenCL' said.txt; then
    skip "rain with OpenCL" "$(sed 's/^rain: //' said.txt)"
else
    fail "rain with OpenCL" "$(cat said.txt)"
fi
for threads in 1 3; do
    "$rain" "${small[@]}" --exact --backend cpu --threads $threads > "exact$threads.txt"
done
equal "rain: exact mode has no sphere outside" "outside, over 3 frames: 0" "$(grep '^outside' exact1.txt)"
equal "rain: exact mode has the same hash with 3 threads" "$(hash_of exact1.txt)" "$(hash_of exact3.txt)"
"$rain" "${small[@]}" --seed 2 --backend cpu > seed.txt
check "rain: another seed is another rain" test "$(hash_of seed.txt)" != "$(hash_of cpu1.txt)"

status=0
"$rain" "${small[@]}" --backend cpu --plant 160 > planted.txt 2> said.txt || status=$?
equal "rain: a planted sphere ends with status 3" 3 $status
check "rain: the checker counts it" grep -q '^step    160  outside 1 ' planted.txt
check "rain: and names it" grep -q '^rain: step 160: 1 spheres are not inside of the mesh, the first is 0$' said.txt

status=0
"$rain" --particles 5 --triangles 1000 --steps 1 > /dev/full 2> said.txt || status=$?
equal "rain: nowhere to report to" "1 rain: standard output: cannot be written" "$status $(cat said.txt)"

refused() { # NAME SENTENCE OPTION...
    local name=$1 wanted=$2 got
    shift 2
    got=$("$rain" "$@" 2>&1) && got="status 0: $got"
    equal "rain refuses $name" "rain: $wanted" "$(head -n 1 <<< "$got")"
}
refused "a backend" "--backend gpu: not cpu, opencl or auto" --backend gpu
refused "a device and no device" "--device names an OpenCL device, and --backend cpu uses none" --backend cpu --device 0
refused "two backends" "--device cpu and --backend opencl: they name different backends" --backend opencl --device cpu
refused "another two" "--device auto and --backend cpu: they name different backends" --device auto --backend cpu
nowhere=$("$rain" "${few[@]}" --device nowhere 2>&1) && nowhere="status 0"
check "rain: a device that is not there is an error" grep -q '^rain: --device nowhere: ' <<< "$nowhere"
refused "an instruction set" "--isa mmx: not scalar, sse4.1, avx2, avx512 or neon" --isa mmx
refused "a plant behind the last step" "--plant 3: there are only 2 steps" --plant 3 --steps 2
refused "no particles" "--particles 0: not a number from 1 to 100000000" --particles 0
refused "a word" "10: not an option" 10
refused "a folder that cannot be" "cpu1.txt/x: Not a directory" --frames cpu1.txt/x

# ---- frames ----------------------------------------------------------------------------------------------------------
python=$(python_with vtk numpy)
if [ -z "$python" ]; then
    skip "rain: VTK reads the frames" "no Python with vtk and numpy (Debian: python3-vtk9, python3-numpy)"
else
    check "rain: VTK reads the frames" "$python" - << 'END'
import vtk, numpy
from vtk.util.numpy_support import vtk_to_numpy
def read(name):
    appended = open('frames/' + name, 'rb').read().split(b'<AppendedData encoding="raw">')[1]
    assert appended[:appended.index(b'_')].isspace() and appended.index(b'_') >= 2 * 4096
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName('frames/' + name)
    reader.Update()
    return reader.GetOutput()
for number in range(3):
    grid = read('rain-%04d.vtu' % number)
    center = vtk_to_numpy(grid.GetPoints().GetData())
    radius, velocity, quiet = (vtk_to_numpy(grid.GetPointData().GetArray(n)) for n in ('radius', 'velocity', 'quiet'))
    assert center.shape == (2000, 3) and center.dtype == numpy.float32 and velocity.shape == (2000, 3)
    assert grid.GetNumberOfCells() == 2000 and grid.GetCellType(7) == vtk.VTK_VERTEX
    assert grid.GetCell(7).GetPointId(0) == 7 and quiet.max() <= 8
    assert radius.min() > 0 and radius.max() <= 2.001 * radius.min()
    assert abs(center[:, :2]).max() < 1 and center[:, 2].min() > -1.9 and center[:, 2].max() < 1.6
vessel = read('vessel.vtu')
assert vessel.GetNumberOfCells() > 5000 and vessel.GetCellType(0) == vtk.VTK_TRIANGLE
bounds = vessel.GetBounds()
assert abs(bounds[0] + 1) < 1e-6 and abs(bounds[5] - 1.6) < 1e-6
edges = vtk.vtkFeatureEdges()  # closed: no edge with one triangle, none with three
surface = vtk.vtkGeometryFilter()
surface.SetInputData(vessel)
edges.SetInputConnection(surface.GetOutputPort())
edges.FeatureEdgesOff()
edges.ManifoldEdgesOff()
edges.Update()
assert edges.GetOutput().GetNumberOfCells() == 0, edges.GetOutput().GetNumberOfCells()
END
fi
if grep -q '^built without libpng' cpu1.txt; then
    skip "rain: frames have pictures" "built without libpng (Debian: libpng-dev)"
else
    check "rain: frames have pictures" test "$(head -c 4 frames/rain-0002.png | tail -c 3)" = PNG
fi
check_end
