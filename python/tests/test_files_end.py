# SPDX-License-Identifier: MIT
"""Readers and writers of files that end before their end, and what they leave behind."""
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import carom
from carom import _program
from conftest import waves
from mesh_files import off

ODD = np.float32([0.1, -0.0, 1e-45])
pytestmark = pytest.mark.skipif(not _program.PROGRAM.exists(), reason="built without carom-files")


# ---- ends before the end ---------------------------------------------------------------------------------------------

LONG = """
import sys, time, numpy as np, carom
from carom._program import Program
send = Program.send
def slow(program, array):
    send(program, array)
    print("going", flush=True)
    time.sleep(0.01)
Program.send = slow
try:
    if sys.argv[1] == "write":
        carom.write(sys.argv[2], {"x": np.broadcast_to(np.float32(0), 1 << 30)})
    else:
        print("going", flush=True)
        getattr(carom, sys.argv[1])(sys.argv[2], *[["x"]] * (sys.argv[1] == "read"))
except KeyboardInterrupt:
    sys.exit(77)
"""


def wait_until(is_true):
    end = time.monotonic() + 60
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.02)


def started(what, path):
    process = subprocess.Popen([sys.executable, "-c", LONG, what, path], stdout=subprocess.PIPE)
    process.stdout.readline()
    time.sleep(0.2)
    return process


@pytest.mark.parametrize("what", ("open_mesh", "read", "write"))
def test_ctrl_c(tmp_path, what):
    """It ends a reader that waits for ever, and a writer, which leaves nothing behind."""
    path = tmp_path / ("rows.csv" if what == "write" else "pipe.obj" if what == "open_mesh" else "pipe.csv")
    if what != "write":
        os.mkfifo(path)
    with started(what, path) as process:
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        while process.poll() is None and time.monotonic() < begin + 60:
            process.stdout.read1(1 << 16)
        assert process.returncode == 77
    assert [p.name for p in tmp_path.iterdir()] == ([] if what == "write" else [path.name])


def test_a_pipe_needs_names(tmp_path):
    """The names are read from a file's beginning, which a pipe has only once."""
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(ValueError, match="no regular file"):
        carom.read(tmp_path / "pipe.csv")


def test_names_that_could_not_be_read(tmp_path):
    for path, name in (("a.csv", ""), ("a.h5", "n" * 256), ("a.h5", "")):
        with pytest.raises((ValueError, carom.Error)):
            carom.write(tmp_path / path, {name: np.float32([1])})
    assert not list(tmp_path.iterdir())


def children(process):
    return pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def is_there(process):
    """Whether a process that is no child of ours goes on."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("who", ("python", "writer"))
def test_killed(tmp_path, who):
    """If Python or the writer is killed while it writes, nothing is left: the file has no name yet. (Where the file
    system has no files without a name, the writer's end leaves one.)"""
    with started("write", tmp_path / "rows.csv") as process:
        (writer,) = children(process)
        if who == "python":
            process.kill()
        else:
            os.kill(int(writer), signal.SIGKILL)
            assert process.wait(60) == 1
    wait_until(lambda: not is_there(writer))
    wait_until(lambda: who == "writer" or not list(tmp_path.iterdir()))
    assert not list(tmp_path.iterdir()) or (who == "writer" and not has_nameless(tmp_path))


def has_nameless(folder):
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600))
    except OSError:
        return False
    return True


def test_error_while_writing(tmp_path, monkeypatch):
    """An exception of ours on the way leaves the old file."""
    path = tmp_path / "rows.csv"
    path.write_text("old")

    def fail(program, array):
        raise RuntimeError("on the way")

    monkeypatch.setattr(_program.Program, "send", fail)
    with pytest.raises(RuntimeError, match="on the way"):
        carom.write(path, {"x": ODD})
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_program_dies(tmp_path, monkeypatch):
    """A reader that crashes is an OSError, and one that is not there says so."""
    path = tmp_path / "carom-files"
    monkeypatch.setattr(_program, "PROGRAM", path)
    with pytest.raises(carom.Error, match="without its program carom-files") as raised:
        carom.open_mesh("x.obj")
    assert raised.value.status == carom.Status.ERROR_UNSUPPORTED
    for script, words in {
        "kill -SEGV $$": "ended by SIGSEGV",
        "exit 0": "ended with status 0",
        "echo no such library >&2; exit 127": "no such library",
        "echo carom: out of memory for 9 GiB >&2; exit 1": "out of memory for 9 GiB",
    }.items():
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        with pytest.raises((OSError, carom.Error), match=words) as raised:
            carom.open_mesh("x.obj")
        assert isinstance(raised.value, MemoryError) == ("memory" in words)


def test_nothing_leaks(tmp_path):
    """Errors leave no descriptors, processes or files."""
    (tmp_path / "bad.obj").write_text("v 0 0 zero\nf\n")

    def fail():
        for call in (carom.open_mesh, carom.read):
            with pytest.raises(ValueError):
                call(tmp_path / "bad.obj")
        with pytest.raises(OSError):
            carom.write(tmp_path / "none" / "x.csv", {"x": ODD})

    fail()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        fail()
    assert len(os.listdir("/proc/self/fd")) == before
    children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children")
    assert not children.exists() or not children.read_text().split()


def test_threads(tmp_path):
    """Files can be read by several threads at once."""
    mesh, results = tmp_path / "floor.off", []
    off(mesh, *waves(20))
    threads = [threading.Thread(target=lambda: results.append(carom.open_mesh(mesh))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6 and all(r.vertices.tobytes() == results[0].vertices.tobytes() for r in results)


def test_names(tmp_path, monkeypatch):
    """Names that mean something else to the command, and names of columns with everything in them."""
    monkeypatch.chdir(tmp_path)
    for name in ("-", "--lattice", "mesh", "é=1 \n.csv", b"\xff.csv"):
        carom.write(name, {"a=b c": ODD})
        assert carom.read(name)["a=b c"].tobytes() == ODD.tobytes()
    assert len(os.listdir(tmp_path)) == 5
