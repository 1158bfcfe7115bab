# SPDX-License-Identifier: MIT
"""The caller's OpenCL, from pyopencl: arrays are used where they lie, in the order of the caller's queue."""
import gc

import numpy as np
import pytest

import carom
from conftest import cube, same, waves

N = 5000
SHIFT = "__kernel void shift(__global float *x, float by) { x[3 * get_global_id(0) + 2] += by; }"


@pytest.fixture(scope="module")
def cl():
    pyopencl = pytest.importorskip("pyopencl", reason="there is no pyopencl")
    pytest.importorskip("pyopencl.array", reason="there is no pyopencl.array")
    try:
        platforms = pyopencl.get_platforms()
    except pyopencl.Error:
        platforms = []
    if not any(platform.get_devices() for platform in platforms):
        pytest.skip("no OpenCL device")
    return pyopencl


@pytest.fixture(scope="module")
def queue(cl):
    device = next(device for platform in cl.get_platforms() for device in platform.get_devices())
    return cl.CommandQueue(cl.Context([device]))


@pytest.fixture(scope="module")
def gpu(queue):
    """On the queue's device, or an error."""
    with carom.Context(backend="opencl", opencl=queue) as made:
        yield made


@pytest.fixture
def places():
    return np.random.default_rng(3).uniform((-9, -9, 0.1), (9, 9, 1), (N, 3)).astype("f4")


def test_arrays_are_used_in_place(cl, queue, gpu, floor, places):
    mesh = gpu.mesh(*waves())
    center = cl.array.to_device(queue, places)
    distance = cl.array.zeros(queue, N, "f4")
    shift = cl.Program(queue.context, SHIFT).build().shift
    shift(queue, (N,), None, center.data, np.float32(0.25))  # nobody waits for it
    _, stats = mesh.closest(
        gpu.buffer(center).array(), out={"distance": gpu.buffer(distance).array()}, stats=True, columns=["distance"]
    )
    expected = floor.closest(places + np.float32((0, 0, 0.25))).distance
    assert distance.get().tobytes() == expected.tobytes() and np.ptp(expected) > 0.1
    assert stats.on_device == N and stats.brought + stats.returned < 1000
    assert [device.name for device in gpu.devices] == [queue.device.name]


def test_jobs_take_their_turn_in_the_queue(cl, queue, gpu, floor, places):
    mesh = gpu.mesh(*waves())
    center = cl.array.to_device(queue, places)
    distance = cl.array.zeros(queue, N, "f4")
    source, target = gpu.buffer(center).array(), gpu.buffer(distance).array()
    shift = cl.Program(queue.context, SHIFT).build().shift
    mesh.closest(source, columns=["distance"], prepare=True, out={"distance": target})
    job = mesh.closest(source, out={"distance": target}, job=True)
    shift(queue, (N,), None, center.data, np.float32(5))  # after the job has read
    job.result()
    assert distance.get(queue).tobytes() == floor.closest(places).distance.tobytes()
    assert np.array_equal(center.get(queue)[:, 2], places[:, 2] + np.float32(5))


@pytest.mark.parametrize("given", ("context", "queue", "pair"))
def test_what_a_context_is_made_of(queue, floor, places, given):
    opencl = {"context": queue.context, "queue": queue, "pair": (queue.context, queue)}[given]
    with carom.Context(opencl=opencl) as context:
        assert same(context.mesh(*waves()).closest(places), floor.closest(places))


def test_parts_of_memory(cl, queue, gpu, floor, places):
    mesh, align = gpu.mesh(*waves()), queue.device.mem_base_addr_align // 8
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    whole = cl.Buffer(queue.context, flags, hostbuf=np.concatenate([np.zeros(align // 4, "f4"), places.reshape(-1)]))
    part = whole.get_sub_region(align, places.nbytes)
    expected = floor.closest(places)
    assert same(mesh.closest(gpu.buffer(part).array((N, 3), "f4")), expected)
    gc.collect()
    assert same(mesh.closest(gpu.buffer(whole).array((N, 3), "f4", align)), expected)
    gc.collect()
    rows = cl.array.to_device(queue, np.concatenate([places[::-1], places]))[N:]
    assert rows.offset > 0 and same(mesh.closest(gpu.buffer(rows).array()), expected)


def test_memory_stays_as_long_as_its_buffer(cl, queue, gpu, floor, places):
    pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(queue))
    buffer = gpu.buffer(cl.array.to_device(queue, places, allocator=pool))  # nothing else refers to the array
    gc.collect()
    others = [cl.array.zeros(queue, places.shape, "f4", allocator=pool) for _ in range(4)]
    queue.finish()
    assert same(gpu.mesh(*waves()).closest(buffer.array()), floor.closest(places)) and others
    assert buffer.read().tobytes() == places.tobytes() and buffer.info["bytes"] == places.nbytes
    buffer.write(places + 1)
    with buffer.map("read") as rows:
        assert np.array_equal(rows, places + 1)


def test_wrong_contexts(cl, queue):
    other = cl.CommandQueue(cl.Context([queue.device]))
    for wrong in (3, "pyopencl", (), (queue,) * 2, (queue, queue.context), (queue.context, 5), queue.device, [queue]):
        with pytest.raises(TypeError, match="opencl must be a pyopencl.Context"):
            carom.Context(opencl=wrong)
    with pytest.raises(ValueError, match="the queue is of another"):
        carom.Context(opencl=(other.context, queue))
    for more in ({"backend": "cpu"}, {"device": 0}):
        with pytest.raises(carom.InvalidArgument):
            carom.Context(opencl=queue, **more)


def test_wrong_memory(cl, queue, gpu, context, places):
    center, mesh = cl.array.to_device(queue, places), gpu.mesh(*cube())
    with pytest.raises(carom.Error, match="carom_context_create_opencl"):
        context.buffer(center)  # of a context without the caller's OpenCL
    with pytest.raises(ValueError, match="must be 'device'"):
        gpu.buffer(center, where="host")
    with pytest.raises(ValueError, match="not contiguous"):
        gpu.buffer(center[:, 1])
    with pytest.raises(TypeError):
        mesh.closest(center)  # an array of pyopencl is no input: a buffer of it is
    other = cl.CommandQueue(cl.Context([queue.device]))
    with pytest.raises(carom.InvalidArgument):
        gpu.buffer(cl.array.to_device(other, places))
    buffer = gpu.buffer(center)
    with pytest.raises(carom.InvalidArgument):
        gpu.buffer(center)  # these bytes have a buffer
    with pytest.raises(TypeError, match="has the dtype float32, not uint32"):
        mesh.closest(buffer.array(), mask=buffer.array(N, "f4"))
    read_only = cl.Buffer(queue.context, cl.mem_flags.READ_ONLY, 4 * N)
    with pytest.raises(carom.InvalidArgument, match="distance"):
        mesh.closest(buffer.array(), out={"distance": gpu.buffer(read_only).array(N, "f4")})
    with pytest.raises(ValueError, match="of another context"):
        context.mesh(*cube()).closest(buffer.array())


def test_a_closed_context(queue, places, cl):
    center = cl.array.to_device(queue, places)
    with carom.Context(opencl=queue) as context:
        array, mesh = context.buffer(center).array(), context.mesh(*cube())
        assert mesh.closest(array).distance.shape == (N,)
    with pytest.raises(ValueError, match="closed"):
        mesh.closest(array)
    with pytest.raises(ValueError, match="closed"):
        context.buffer(center)
    assert center.get().tobytes() == places.tobytes()


def test_without_pyopencl():
    """Objects of other kinds are no memory of OpenCL, whatever they look like."""

    class Fake:
        int_ptr, size, devices = 16, 64, ()

    with pytest.raises(TypeError, match="opencl must be a pyopencl.Context"):
        carom.Context(opencl=Fake())
    with carom.Context(backend="cpu") as context, pytest.raises(TypeError):
        context.buffer(Fake())
