# SPDX-License-Identifier: MIT
"""How contexts, meshes, jobs and buffers live and end: closing, other threads, fork, signals, memory."""
import gc
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import carom
from asked import Subjects, arguments, names
from conftest import cube, same, waves


def test_a_closed_context_says_so(context, floor, spheres):
    buffer = context.buffer(64)
    context.close()
    context.close()  # nothing to do any more
    for call in (
        lambda: floor.sweep_first(*spheres),
        lambda: context.mesh(*cube()),
        lambda: floor.info,
        lambda: floor.update(waves()[0]),
        lambda: buffer.read(),
        lambda: context.threads,
        lambda: context.spheres([[0, 0, 0]], 1),
    ):
        with pytest.raises(ValueError, match="the context is closed"):
            call()


@pytest.mark.parametrize("name", names())
def test_every_call_of_a_closed_context(name):
    subjects = Subjects()
    method = subjects.method(name)
    given = arguments(method)
    subjects.context.close()
    for more in ({}, {"job": True}):
        with pytest.raises(ValueError, match="the context is closed"):
            method(**given, **more)


def test_errors_are_values_and_memory_errors(floor):
    with pytest.raises(ValueError) as caught:
        floor.sweep_first([[0, 0, 1]], [0, 0, -1], 0.1, t_max=-1)
    assert isinstance(caught.value, carom.Error) and caught.value.status == carom.Status.ERROR_INVALID_ARGUMENT
    assert "t_max" in caught.value.sentence
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) and again.sentence == caught.value.sentence
    with pytest.raises(MemoryError):
        raise carom.OutOfMemory(2, "none")
    with pytest.raises(carom.Error, match="device"):
        carom.Context(backend="opencl", device="no such device")
    for wrong in ({"backend": "cuda"}, {"accuracy": "high"}, {"isa": "mmx"}, {"log": print, "log_level": "all"}):
        with pytest.raises(ValueError, match="one of"):
            carom.Context(**wrong)


def test_meshes_of_another_context_and_wrong_ones(context):
    with carom.Context(backend="cpu") as other:
        mesh = other.mesh(*cube())
        with pytest.raises(ValueError):
            context.scene([(mesh, None)])
    vertices, triangles = cube()
    for wrong, error in (
        ((vertices.astype("f8"), triangles), TypeError),
        ((vertices[:, :2], triangles), ValueError),
        ((vertices, triangles.astype("f4")), TypeError),
        ((vertices, triangles - 1), ValueError),
        ((vertices, triangles + 1), ValueError),
        ((vertices, triangles[:, :2]), ValueError),
        ((vertices[:7],), ValueError),
        ((vertices, triangles, np.ones(3, "u4")), ValueError),
    ):
        with pytest.raises(error):
            context.mesh(*wrong)
    for dtype in ("i1", "u1", "i2", "i8", "u8", ">i4"):
        assert context.mesh(vertices, triangles.astype(dtype)).info.triangle_count == 12
    assert context.mesh(vertices[triangles]).info.triangle_count == 12
    assert context.mesh(np.empty((0, 3), "f4")).info.triangle_count == 0


def test_calls_of_threads_take_turns(context, floor, spheres):
    alone, results = floor.sweep_first(*spheres), []

    def ask():
        for _ in range(30):
            results.append(floor.sweep_first(*spheres))
            results.append(context.mesh(*waves()).sweep_first(*spheres))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 240 and all(same(alone, result) for result in results)


def test_the_gil_is_released(floor):
    """While one thread is in a call, another goes on."""
    n, spins, is_over = 2_000_000, 0, threading.Event()
    center = np.random.default_rng(1).uniform((-7, -7, 1), (7, 7, 2), (n, 3)).astype("f4")
    seen = []

    def count():
        nonlocal spins
        while not is_over.is_set():
            spins += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        floor.sweep_first(center, (0, 0, -1), 0.1, progress=lambda done, count: seen.append(spins))
    finally:
        is_over.set()
        thread.join()
    assert spins > 0 and seen[-1] > seen[0]


def test_ctrl_c_ends_a_call(floor):
    n = 4_000_000
    center = np.random.default_rng(1).uniform((-7, -7, 1), (7, 7, 2), (n, 3)).astype("f4")
    before = center.copy()
    is_sent = threading.Event()

    def send():
        is_sent.set()
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.05, send)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(200):  # however fast the machine is
            floor.sweep_first(center, (0, 0, -1), 0.1)
    assert is_sent.is_set() and (center == before).all()
    assert floor.sweep_first(center[:1], (0, 0, -1), 0.1).t[0] > 0  # and the context goes on


def test_ctrl_c_ends_the_wait_for_a_job_alone(floor):
    center = np.random.default_rng(1).uniform((-7, -7, 1), (7, 7, 2), (4_000_000, 3)).astype("f4")
    job = floor.sweep_first(center, (0, 0, -1), 0.1, job=True, accuracy="exact")
    threading.Timer(0.02, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        while not job.wait(0.01):
            pass
        time.sleep(0.1)  # a fast machine has ended before the signal
    except KeyboardInterrupt:
        pass
    assert job.result().t.shape == (4_000_000,)


def test_jobs_can_be_cancelled_and_dropped(floor):
    center = np.random.default_rng(1).uniform((-7, -7, 1), (7, 7, 2), (1_000_000, 3)).astype("f4")
    job = floor.sweep_first(center, (0, 0, -1), 0.1, accuracy="exact", job=True)
    blocked = floor.sweep_first(center, (0, 0, -1), 0.1, job=True, wait=[job])
    blocked.cancel()
    with pytest.raises(carom.Error, match="") as caught:
        blocked.result()
    assert caught.value.status == carom.Status.ERROR_CANCELLED
    done, count = job.progress
    assert count == 1_000_000 and done <= count
    assert job.result().t.shape == (1_000_000,)
    floor.sweep_first(center, (0, 0, -1), 0.1, job=True)  # dropped at once: it ends before its arrays do
    gc.collect()
    with pytest.raises(ZeroDivisionError):
        with floor.sweep_first(center, (0, 0, -1), 0.1, job=True):
            1 / 0


def test_a_callback_must_not_use_its_context(floor, spheres):
    with pytest.raises(RuntimeError, match="must not use the context"):
        floor.sweep_first(*spheres, progress=lambda done, count: floor.sweep_first(*spheres))
    with pytest.raises(RuntimeError, match="must not use the context"):
        floor.sweep_first(*spheres, progress=lambda done, count: floor._context.close())
    kept = [floor._context.mesh(*cube()) for _ in range(3)]
    floor.sweep_first(*spheres, progress=lambda done, count: kept.clear())  # destroyed afterwards
    assert floor.sweep_first(*spheres).t.shape == (500,)


def many_triangles():
    """Vertices of 700,000 triangles: to build over them takes several reports."""
    first = np.random.default_rng(5).uniform(-9, 9, (700_000, 1, 3))
    return (first + np.random.default_rng(6).uniform(-0.1, 0.1, (700_000, 3, 3))).astype("f4")


def test_building_a_mesh_reports_progress(context):
    vertices, seen = many_triangles(), []
    mesh = context.mesh(vertices, progress=lambda done, count: seen.append((done, count)))
    assert len(seen) > 1 and seen == sorted(seen) and seen[-1] == (700_000, 700_000)
    assert {count for _, count in seen} == {700_000}
    assert mesh.image().tobytes() == context.mesh(vertices).image().tobytes()
    with pytest.raises(TypeError, match="progress must be a function"):
        context.mesh(vertices[:9], progress=3)
    with pytest.raises(RuntimeError, match="must not use the context"):
        context.mesh(vertices, progress=lambda done, count: mesh.info)


@pytest.mark.parametrize("is_signal", (False, True))
def test_building_a_mesh_ends_early(context, is_signal):
    vertices, living = many_triangles(), len(context._owned)

    def stop(done, count):
        assert done < count
        if not is_signal:
            raise ZeroDivisionError
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt if is_signal else ZeroDivisionError):
        context.mesh(vertices, progress=stop)
    assert len(context._owned) == living and not context._doomed
    assert context.mesh(vertices[:9]).info.triangle_count == 9


def test_ctrl_c_ends_the_building_of_a_mesh(context):
    """Nobody asks for reports. A signal that comes between two meshes says nothing, so there are several."""
    vertices, heard = many_triangles(), []
    for _ in range(5):
        threading.Timer(0.02, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt) as interrupt:
            while True:
                context.mesh(vertices)
        heard += [entry.name for entry in interrupt.traceback]
    assert "end" in heard  # Watch.end raises what a report has heard
    assert context.mesh(vertices[:9]).info.triangle_count == 9


def test_progress_bars(floor):
    class Bar:  # as tqdm's
        total, n = None, 0

        def update(self, more):
            self.n += more

    bar = Bar()
    floor.sweep_first(np.zeros((100_000, 3), "f4"), (0, 0, -1), 0.1, progress=bar)
    assert bar.n == bar.total == 100_000


def test_the_log_goes_to_a_function():
    lines = []
    with carom.Context(
        backend="cpu", threads=1024, log=lambda level, message: lines.append((level, message)), log_level="info"
    ) as context:
        context.mesh(*cube())
    assert lines and all(level in iter(carom.LogLevel) and message for level, message in lines)


def in_child(work):
    """Whether `work` returns True in a child of fork()."""
    child = os.fork()
    if child == 0:
        ok = False
        try:
            ok = work()
        finally:
            os._exit(0 if ok else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_child_of_fork_can_go_on(floor, spheres):
    alone = floor.sweep_first(*spheres)
    assert in_child(lambda: same(alone, floor.sweep_first(*spheres)))
    assert in_child(lambda: same(alone, carom.Context(backend="cpu").mesh(*waves()).sweep_first(*spheres)))


def test_a_child_of_a_busy_context_is_told(floor):
    center = np.random.default_rng(1).uniform((-7, -7, 1), (7, 7, 2), (100_000, 3)).astype("f4")
    verdicts = []

    def try_in_child():
        try:
            floor.closest(center[:10])
        except RuntimeError as error:
            return "forked" in str(error)
        return False

    floor.sweep_first(center, (0, 0, -1), 0.1, progress=lambda done, count: verdicts.append(in_child(try_in_child)))
    assert verdicts and all(verdicts)


def test_nothing_leaks():
    """Memory stays where it is over many calls, errors and meshes."""
    with carom.Context(backend="cpu", threads=1) as context:
        mesh = context.mesh(*waves(10))
        center = np.zeros((10, 3), "f4") + np.float32((0, 0, 0.2))

        def work(times):
            for i in range(times):
                mesh.sweep_first(center, (0, 0, -1), 0.1)
                mesh.contacts(center, 0.5, stats=True)
                if i % 20 == 0:
                    context.mesh(*waves(3)).closest(center, columns=["distance"])
                    mesh.sweep_first(center, (0, 0, -1), 0.1, job=True).result()
                    with pytest.raises(ValueError):
                        mesh.sweep_first(center, (0, 0, -1), 0.1, t_max=-1)

        def resident():
            gc.collect()
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096

        work(2000)
        before = resident()
        work(10000)
        assert resident() - before < 4 << 20


def test_other_threads_of_python_run_during_a_call(context):
    mesh, points = context.mesh(*waves(200)), np.random.default_rng(1).random((300_000, 3), "f4")
    call = threading.Thread(target=lambda: mesh.closest(points, columns=["distance"]))
    call.start()
    turns = 0
    while call.is_alive():  # with the interpreter's lock held, the first sleep would last as long as the call
        time.sleep(0.001)
        turns += 1
    assert turns >= 10
