# SPDX-License-Identifier: MIT
"""Signals at bad moments, dropped and copied handles, the interpreter's end: nothing is freed twice or too early."""
import copy
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
from carom import _job
from conftest import cube, same, waves


def centers(n):
    return np.random.default_rng(1).uniform((-7, -7, 1), (7, 7, 2), (n, 3)).astype("f4")


def interrupt_after(name):
    """Raise KeyboardInterrupt at the return of a C function, where Python hears a signal that came during it."""

    def profile(frame, event, argument):
        if event == "c_return" and name in repr(argument):
            sys.setprofile(None)
            raise KeyboardInterrupt

    sys.setprofile(profile)


def overwritten():
    """Memory that was freed has other contents after this."""
    return [np.full(3_000_000, 1e30, "f4") for _ in range(4)]


def test_ctrl_c_while_a_job_is_made(floor):
    interrupt_after("carom_mesh_sweep_first")
    with pytest.raises(KeyboardInterrupt):
        floor.sweep_first(centers(1_000_000), (0, 0, -1), 0.1, job=True)
    overwritten()
    assert floor.sweep_first(centers(3), (0, 0, -1), 0.1).t.shape == (3,)
    gc.collect()
    _job.reap()
    assert not _job._started


def test_ctrl_c_while_a_job_is_dropped(floor, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda raised: None)
    job = floor.sweep_first(centers(1_000_000), (0, 0, -1), 0.1, job=True)
    interrupt_after("carom_job_cancel")
    del job
    overwritten()
    sys.setprofile(None)
    assert floor.sweep_first(centers(3), (0, 0, -1), 0.1).t.shape == (3,)


def test_ctrl_c_while_meshes_come_and_go(context, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda raised: None)
    for function in ("carom_mesh_create", "carom_mesh_destroy"):
        interrupt_after(function)
        try:
            context.mesh(*waves(20))
        except KeyboardInterrupt:
            pass
        sys.setprofile(None)
        assert context.mesh(*cube()).closest(centers(3)).distance.shape == (3,)
    assert len(context._owned) == 0 and not context._doomed


def test_ctrl_c_at_every_step_of_a_call(floor, spheres):
    """A signal at any event of the interpreter ends the call or not; the context goes on."""
    alone, step = floor.contacts(spheres[0], 0.5), 0
    while True:
        seen = 0

        def profile(frame, event, argument):
            nonlocal seen
            seen += 1
            if seen == step:
                sys.setprofile(None)
                raise KeyboardInterrupt

        try:
            sys.setprofile(profile)
            floor.contacts(spheres[0], 0.5)
            sys.setprofile(None)
        except KeyboardInterrupt:
            pass
        assert same(alone, floor.contacts(spheres[0], 0.5)), step
        if seen < step:
            break
        step += 1
    assert step > 50


def test_ctrl_c_is_heard_behind_a_job(floor):
    job = floor.closest(np.repeat(centers(1_000_000), 4, 0), job=True, accuracy="exact")
    threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        while not job.done:
            floor.closest(centers(1))
        time.sleep(1)  # the job was quicker than the signal
    job.cancel()
    job.wait()


def test_lists_of_jobs_are_whole_when_they_have_ended(floor, spheres):
    center = spheres[0].copy()
    whole = floor.contacts(center, 1.5)
    for _ in range(5):
        floor._context._ratios["carom_mesh_contacts"] = 0
        with floor.contacts(center, 1.5, job=True) as job:
            pass
        center += 9  # the caller's again
        results = []
        threads = [threading.Thread(target=lambda: results.append(job.result())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 4 and all(same(whole, result) for result in results)
        center = spheres[0].copy()


def test_handles_cannot_be_copied(context, floor):
    job = floor.closest(centers(10), job=True)
    for handle in (context, floor, job, context.buffer(8), context.scene([(floor, None)])):
        with pytest.raises(TypeError, match="cannot be copied"):
            copy.copy(handle)
    job.result()


def test_waiting_says_what_is_true(floor):
    job = floor.closest(centers(300_000), job=True)
    for seconds in (-1, float("nan")):
        with pytest.raises(ValueError, match="seconds"):
            job.wait(seconds)
    child = os.fork()
    if child == 0:
        try:
            job.wait()
            os._exit(1)
        except carom.Error:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert job.wait(1e9) and job.done


def test_a_block_raises_what_its_job_raises(floor):
    with pytest.raises(ZeroDivisionError):
        with floor.closest(centers(10), job=True, progress=lambda done, count: 1 / 0):
            pass
    job = floor.closest(centers(10), job=True, progress=lambda done, count: 1 / 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            job.result()
    with pytest.raises(ZeroDivisionError):
        floor.closest(centers(10), job=True, wait=[job])


def test_a_jobs_progress_must_not_use_its_context(floor):
    job = floor.closest(centers(1_000_000), job=True, progress=lambda done, count: floor.info)
    floor.closest(centers(1))
    with pytest.raises(RuntimeError, match="must not use the context"):
        job.result()


def test_closing_ends_what_the_context_has_made(context):
    mesh, buffer = context.mesh(*cube()), context.buffer(np.float32([1, 2]))
    with buffer.map() as array:
        pass
    del buffer
    gc.collect()
    assert array.tolist() == [1, 2]  # the array keeps its buffer
    context.close()
    with pytest.raises(ValueError, match="closed"):
        mesh.info


def test_room_of_lists_is_a_guess(context, monkeypatch):
    from carom import _run

    mesh = context.mesh(*waves())
    mesh.overlap_all(np.repeat(np.float32([[0, 0, 0]]), 64, 0), 20)  # every triangle for each
    assert context._ratios["carom_mesh_overlap_list"] == 64
    monkeypatch.setattr(_run, "LIST_RATIO", 1 << 40)
    context._ratios.clear()
    assert mesh.overlap_all(centers(100_000) + np.float32((0, 0, 90)), 0.1).query.shape == (0,)


def test_a_script_may_end_with_a_job(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import carom, numpy as np\n"
        "mesh = carom.Context(backend='cpu').mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]])\n"
        "places = np.random.random((4_000_000, 3)).astype('f4')\n"
        "job = mesh.closest(places, job=True, progress=lambda done, count: None)\n"
        "raise SystemExit(7)\n"
    )
    assert subprocess.run([sys.executable, script], timeout=120).returncode == 7
