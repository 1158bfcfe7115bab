# SPDX-License-Identifier: MIT
"""The caller's OpenCL, from pyopencl: arrays are used where they lie, in the order of the caller's queue."""
import gc
import os
import signal
import threading

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


def test_memory_may_be_released_by_the_caller(cl, queue, gpu, floor, places):
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    memory = cl.Buffer(queue.context, flags, hostbuf=places)
    buffer, twin = gpu.buffer(memory), cl.Buffer.from_int_ptr(memory.int_ptr)
    assert twin.reference_count > 2
    memory.release()
    twin.release()
    others = [cl.Buffer(queue.context, flags, hostbuf=np.zeros_like(places)) for _ in range(4)]
    assert same(gpu.mesh(*waves()).closest(buffer.array((N, 3), "f4")), floor.closest(places)) and others


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


# ---- events ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def work(cl, queue, places):
    """A mesh, an input and an output of a context that has no queue: events alone are its order."""
    with carom.Context(backend="opencl", opencl=queue.context) as made:
        center, distance = cl.array.to_device(queue, places), cl.array.zeros(queue, N, "f4")
        mesh, source, target = made.mesh(*waves()), made.buffer(center).array(), made.buffer(distance).array()
        mesh.closest(source, out={"distance": target}, prepare=True)  # later calls begin at once
        queue.finish()
        yield mesh, center, distance, source, target


@pytest.fixture
def new_gate(cl, queue, work):
    """A function that makes a user event. A test that fails must leave none behind for which its context would wait."""
    made = []

    def make():
        made.append(cl.UserEvent(queue.context))
        return made[-1]

    yield make
    for gate in made:
        if gate.command_execution_status > cl.command_execution_status.COMPLETE:
            gate.set_status(cl.command_execution_status.COMPLETE)


def test_calls_wait_for_events(cl, queue, floor, places, work, new_gate):
    mesh, center, distance, source, target = work
    shift, gate = cl.Program(queue.context, SHIFT).build().shift, new_gate()
    shifted = shift(queue, (N,), None, center.data, np.float32(0.25), wait_for=[gate])
    queue.flush()
    job = mesh.closest(source, out={"distance": target}, job=True, wait=[shifted])  # PoCL orders these by itself, too
    then = mesh.closest(source, columns=["distance"], job=True, wait=[shifted, job, gate])
    assert not job.wait(0.1) and not then.done
    gate.set_status(cl.command_execution_status.COMPLETE)
    expected = floor.closest(places + np.float32((0, 0, 0.25))).distance
    assert job.result() and then.result().distance.tobytes() == expected.tobytes()
    assert distance.get(queue).tobytes() == expected.tobytes()


def test_commands_wait_for_jobs(cl, queue, floor, places, work, new_gate):
    mesh, _, distance, source, target = work
    gate, copy = new_gate(), np.zeros(N, "f4")
    job = mesh.closest(source, out={"distance": target}, job=True, wait=[gate])
    end = job.event
    assert isinstance(end, cl.Event) and end.context == queue.context
    copied = cl.enqueue_copy(queue, copy, distance.data, is_blocking=False, wait_for=[end])
    queue.flush()
    assert not job.wait(0.1) and end.command_execution_status > cl.command_execution_status.COMPLETE
    assert not copy.any()
    gate.set_status(cl.command_execution_status.COMPLETE)
    copied.wait()
    assert copy.tobytes() == floor.closest(places).distance.tobytes()
    job.result()
    assert end.command_execution_status == job.event.command_execution_status == cl.command_execution_status.COMPLETE


def test_events_have_one_owner(cl, queue, work, new_gate):
    mesh, gate = work[0], new_gate()
    job = mesh.closest(work[3], job=True, wait=[gate])
    ends = [job.event for _ in range(3)]
    gate.set_status(cl.command_execution_status.COMPLETE)
    job.result()
    for end in ends:
        end.wait()
    again = job.event  # of a job that has ended
    del job
    gc.collect()
    mesh.closest(work[3])  # the job's thread has let go of all
    assert [event.reference_count for event in [gate, again] + ends] == [1] * 5


def test_calls_in_the_queue_wait_for_events(cl, queue, gpu, floor, places):
    """With a command's event a call that could be enqueued is so still; the host sets user events, and waits for them.
    Of enqueued calls no times are known."""
    mesh, center, distance = gpu.mesh(*waves()), cl.array.to_device(queue, places), cl.array.zeros(queue, N, "f4")
    source, target = gpu.buffer(center).array(), {"distance": gpu.buffer(distance).array()}
    mesh.closest(source, out=target)
    command, user = cl.enqueue_marker(queue), cl.UserEvent(queue.context)
    user.set_status(cl.command_execution_status.COMPLETE)
    for event, is_enqueued in ((command, True), (user, False)):
        job = mesh.closest(source, out=target, job=True, wait=[event], stats=True)
        end = job.event
        assert (end.command_type != cl.command_type.USER) == is_enqueued
        end.wait()
        _, stats = job.result()
        assert stats.on_device == N and (stats.total == 0) == is_enqueued
        assert distance.get(queue).tobytes() == floor.closest(places).distance.tobytes()
        distance.fill(0)


def test_copies_from_numpy_are_waited_for(cl, queue, floor, places, work, new_gate):
    """The event of such a copy waits for its end when nothing refers to it, so carom keeps it."""
    mesh, center, _, source, _ = work
    gate = new_gate()
    copied = cl.enqueue_copy(queue, center.data, places[::-1].copy(), is_blocking=False, wait_for=[gate])
    queue.flush()
    job = mesh.closest(source, job=True, wait=[copied])
    del copied
    gate.set_status(cl.command_execution_status.COMPLETE)
    assert same(job.result(), floor.closest(places[::-1]))


def test_events_that_fail(cl, queue, floor, places, work, new_gate):
    mesh, source, gates = work[0], work[3], [new_gate() for _ in range(2)]
    job = mesh.closest(source, job=True, wait=gates)
    end = job.event
    gates[0].set_status(cl.command_execution_status.COMPLETE)
    gates[1].set_status(-5)
    for fails in (job.result, lambda: mesh.closest(source, wait=[gates[1]]), lambda: mesh.closest(source, wait=[job])):
        with pytest.raises(carom.Error, match="a command of the caller has failed") as caught:
            fails()
        assert caught.value.status == carom.Status.ERROR_DEVICE_LOST
    for event in (end, job.event):
        assert event.command_execution_status == -carom.Status.ERROR_DEVICE_LOST
    assert same(mesh.closest(source), floor.closest(places))  # the device is kept


def test_ctrl_c_ends_the_wait_for_an_event(cl, queue, floor, places, work, new_gate):
    mesh, gate = work[0], new_gate()
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        mesh.closest(places, wait=[gate])
    threading.Timer(0.1, lambda: gate.set_status(cl.command_execution_status.COMPLETE)).start()
    assert same(mesh.closest(places, wait=[gate]), floor.closest(places))
    assert gate.command_execution_status == cl.command_execution_status.COMPLETE


def test_events_of_lists(cl, queue, floor, places, work):
    """A list in arrays of carom may need a second job, so no event is its end."""
    mesh, _, _, source, _ = work
    with pytest.raises(ValueError, match="a list has an event only if `out`"):
        mesh.contacts(source, 0.5, job=True).event
    expected = floor.contacts(places, 0.5)
    triangle = np.empty(len(expected.triangle), "i4")
    job = mesh.contacts(source, 0.5, job=True, out={"triangle": triangle})
    job.event.wait()
    assert np.array_equal(triangle, expected.triangle) and np.array_equal(job.result().triangle, triangle)
    prepares = mesh.contacts(source, 0.5, job=True, prepare=True)
    prepares.event.wait()
    assert prepares.result() is None


def test_wrong_events(cl, queue, floor, places, work):
    mesh, _, distance, source, _ = work
    job, other = mesh.closest(source, job=True), cl.UserEvent(cl.Context([queue.device]))
    for wrong in (3, "event", job.event, [None], [3], [job, queue], [distance], [distance.data], [cl.Event]):
        with pytest.raises(TypeError, match="wait must be a list of jobs and of events"):
            mesh.closest(source, wait=wrong)
    with pytest.raises(carom.InvalidArgument, match="event belongs to another cl_context"):
        mesh.closest(source, job=True, wait=[job, other])
    with pytest.raises(carom.Error, match="was not made by carom_context_create_opencl"):
        floor.closest(places, wait=[job.event])
    with pytest.raises(ValueError, match="was not made with `opencl`"):
        floor.closest(places, job=True).event
    with carom.Context(opencl=queue.context) as context:
        late = context.mesh(*cube())
        ended = late.closest(places, job=True)
    with pytest.raises(ValueError, match="the context is closed"):
        late.closest(places, wait=[job.event])
    assert ended.event.command_execution_status == cl.command_execution_status.COMPLETE
