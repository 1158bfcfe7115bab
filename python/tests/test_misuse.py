# SPDX-License-Identifier: MIT
"""Wrong use, and use from several threads, that would read memory of others: it raises, or does what it should."""
import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import carom
from conftest import cube, waves


def test_earlier_pairs_of_another_shape(context):
    center = np.random.default_rng(1).random((500, 3), "f4")
    pairs = context.spheres(center, 0.05, period=(1, 1, 1))
    n = len(pairs.a)
    for wrong in (np.zeros(n, "i1"), np.zeros((n, 1), "i1"), np.zeros((n - 1, 3), "i1"), np.zeros((3, n), "i1")):
        with pytest.raises(ValueError, match="before.shift has the shape"):
            context.spheres(center, 0.05, period=(1, 1, 1), before=pairs._replace(shift=wrong))
    with pytest.raises(ValueError, match="before.b has the shape"):
        context.spheres(center, 0.05, before=pairs._replace(b=pairs.b[:-1]))
    found = context.spheres(center, 0.05, period=(1, 1, 1), before=pairs, columns=["previous"])
    assert np.array_equal(found.previous, np.arange(n))


def test_contacts_with_columns_of_another_length(context, floor, spheres):
    scene = context.scene([(floor, None)])
    contacts = scene.contacts(spheres[0], 1)
    n = len(contacts.query)
    assert n > 10 and context.match(contacts, contacts).ended.size == 0
    for column, wrong in (
        ("instance", contacts.instance[:1]),
        ("patch", contacts.patch[: n - 1]),
        ("query", contacts.query.reshape(n, 1)),
        ("point", contacts.point[: n - 1]),
    ):
        with pytest.raises(ValueError, match=f"{column} has"):
            context.match(contacts._replace(**{column: wrong}), contacts)


def test_a_buffer_of_a_closed_context(floor):
    other = carom.Context(backend="cpu")
    buffer = other.buffer(np.zeros((3000, 3), "f4"))
    array, target = buffer.array(), buffer.array(3000, "f4")
    other.close()
    for call in (
        lambda: floor.closest(array),
        lambda: floor.closest(np.zeros((9000, 3), "f4"), mask=buffer.array(9000, "u4")),
        lambda: floor.closest(np.zeros((3000, 3), "f4"), out={"distance": target}),
        lambda: floor._context.mesh(array),
    ):
        with pytest.raises(ValueError, match="lies in a buffer whose context is closed"):
            call()


def test_a_buffer_of_another_context(context, floor):
    """Another thread could close it during the call."""
    other = carom.Context(backend="cpu")
    buffer = other.buffer(np.zeros((3200, 3), "f4"))
    array, numbers, masks = buffer.array(), buffer.array(3200, "f4"), buffer.array(3200, "u4")
    points, scene = np.zeros((3200, 3), "f4"), context.scene([(floor, None)])
    contacts = floor.contacts(points[:3], 9)
    for call in (
        lambda: floor.closest(array),
        lambda: floor.closest(points, radius=numbers, job=True),
        lambda: floor.closest(points, select=masks),
        lambda: floor.closest(points, out={"distance": numbers}),
        lambda: context.spheres(points[:10], 0.1, against={"center": array, "radius": numbers}),
        lambda: context.mesh(buffer.array((3000, 3), "f4")),
        lambda: context.mesh(points[:3], masks=buffer.array(1, "u4")),
        lambda: floor.set_masks(masks),
        lambda: context.mesh(points[:3]).update(buffer.array((3, 3), "f4")),
        lambda: context.scene([(floor, None)], velocity=buffer.array((1, 3), "f4")),
        lambda: scene.update([None], velocity=buffer.array((1, 3), "f4")),
        lambda: context.match(contacts._replace(point=buffer.array((len(contacts.query), 3), "f4")), contacts),
    ):
        with pytest.raises(ValueError, match="lies in a buffer of another context"):
            call()
    assert other.mesh(*waves()).closest(array).distance.shape == (3200,)


def test_a_child_of_fork_while_a_thread_waits_for_a_job(floor):
    """It is told at once: the lock of the thread, which it does not have, is open."""
    job = floor.closest(np.zeros((1_000_000, 3), "f4"), job=True, accuracy="exact")
    is_waiting = threading.Event()
    thread = threading.Thread(target=lambda: (is_waiting.set(), job.result()))
    thread.start()
    is_waiting.wait()
    time.sleep(0.02)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            job.wait()
        except carom.Error:
            pass
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    thread.join()
    assert status == 0


def test_no_lattice_is_negative():
    with pytest.raises(ValueError, match="dims are"):
        carom.Lattice((0, 0, 0), 1, (-1, 2, 2))


def is_mapped(address):
    """Whether the process has memory there."""
    with open("/proc/self/maps") as file:
        ranges = [line.split(maxsplit=1)[0].split("-") for line in file]
    return any(int(low, 16) <= address < int(high, 16) for low, high in ranges)


def test_arrays_of_maps_outlive_their_context():
    """And the memory goes with the last of them."""
    count = 20_000_000  # 80 MB: a heap that malloc keeps for a thread has 64 MiB
    context = carom.Context(backend="cpu")
    buffers = [context.buffer(np.full(count, i, "f4")) for i in range(2)]
    arrays = []
    for buffer in buffers:
        with buffer.map() as array:
            arrays += [array, array[::2]]
    context.close()
    del buffers, buffer, array
    gc.collect()
    places = [array.__array_interface__["data"][0] + 2 * count for array in arrays]
    assert all(map(is_mapped, places))
    sums = [float(array.sum()) for array in arrays[1:3]]
    arrays[2][:] = 3
    last = float(arrays[3][-1])
    assert sums == [0, count] and last == 3
    arrays.clear()
    assert not any(map(is_mapped, places))


def test_a_context_that_is_closed_within_a_map():
    context = carom.Context(backend="cpu")
    buffer = context.buffer(np.ones(1_000_000, "f4"))
    with pytest.raises(ValueError, match="the context is closed"):
        with buffer.map() as array:
            context.close()
    assert array.sum() == 1_000_000


def test_scenes_of_meshes_that_are_gone(context):
    with carom.Context(backend="cpu") as other:
        mesh = other.mesh(*cube())
    with pytest.raises(ValueError):
        context.scene([(mesh, None)])


THREADS = """
import sys, threading
import numpy as np
import carom
from shapes import waves

sys.setswitchinterval(1e-6)
mesh = carom.Context(backend="cpu", threads=1).mesh(*waves(10))
points, jobs, is_over = np.zeros((10, 3), "f4"), [], threading.Event()
jobs.append(mesh.closest(points, job=True))

def look():
    while not is_over.is_set():
        job = jobs[0]
        job.progress, repr(job), job.cancel()

def ask():
    while not is_over.is_set():
        mesh.closest(points[:3])

def wait():
    while not is_over.is_set():
        mesh.closest(points, job=True, wait=[jobs[0]]).wait()

threads = [threading.Thread(target=work) for work in WORKS]
for thread in threads:
    thread.start()
for i in range(1500):
    jobs[0] = mesh.closest(points, job=True)
    try:
        jobs[0].result()
    except carom.Error as error:
        assert error.status == carom.Status.ERROR_CANCELLED
is_over.set()
for thread in threads:
    thread.join()
"""


@pytest.mark.parametrize("works", ("look, look", "ask, ask", "wait, ask"))
def test_jobs_are_used_by_several_threads(works):
    """Freed memory has other contents at once: a job that is used when it is gone would crash."""
    done = subprocess.run(
        [sys.executable, "-c", THREADS.replace("WORKS", f"({works})")],
        env={**os.environ, "MALLOC_PERTURB_": "165", "PYTHONPATH": os.path.dirname(__file__)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr[-2000:]


def test_a_cancelled_list_has_no_rest(context):
    """A list whose room was too short goes on in a second job, which hears of a cancel before it."""
    mesh = context.mesh(*waves(30))
    center = np.random.default_rng(1).uniform((-7, -7, 0), (7, 7, 0.5), (3000, 3)).astype("f4")
    context._ratios["carom_mesh_contacts"] = 0
    job = mesh.contacts(np.repeat(center, 20, 0), 1.5, job=True)
    while not job._has_rest:
        job._advance(0.01)
    job.cancel()
    with pytest.raises(carom.Error) as caught:
        job.result()
    assert caught.value.status == carom.Status.ERROR_CANCELLED and job.done
