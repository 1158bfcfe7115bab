# SPDX-License-Identifier: MIT
"""Progress of readers and writers of files."""
import os
import threading

import numpy as np
import pytest

import carom
from carom import _program
from conftest import waves
from mesh_files import H5, WRITERS

pytestmark = pytest.mark.skipif(not _program.PROGRAM.exists(), reason="built without carom-files")
ROWS = {name: np.random.default_rng(i).random(400_000, "f4") for i, name in enumerate("xyzr")}


class Seen(list):
    """A function that keeps what it is told."""

    def __call__(self, done, count):
        self.append((done, count))

    def check(self, count, least):
        """It was told all of `count`, in steps, `least` of them within."""
        done = [d for d, _ in self]
        assert all(c == count for _, c in self) and done == sorted(done) and done[-1] == count
        assert len({d for d in done if 0 < d < count}) >= least, self


@pytest.fixture
def always(monkeypatch):
    """Reports whenever there is anything to report."""
    monkeypatch.setattr(_program, "EVERY", 0)


@pytest.mark.parametrize("suffix", ("csv", "npy", H5))
def test_tables(tmp_path, always, suffix):
    path, seen = tmp_path / f"rows.{suffix}", Seen()
    carom.write(path, ROWS, progress=seen)
    seen.check(4 * sum(map(len, ROWS.values())), 3)
    for columns in (list(ROWS), None):
        seen = Seen()
        rows = carom.read(path, columns, progress=seen)
        seen.check(path.stat().st_size, 3)
        again = carom.read(path, columns)
        if isinstance(rows, dict):
            assert all(rows[name].tobytes() == again[name].tobytes() == ROWS[name].tobytes() for name in ROWS)
        else:
            assert rows.tobytes() == again.tobytes() == np.column_stack(list(ROWS.values())).tobytes()


def test_named_columns(tmp_path, always):
    rows = np.zeros(300_000, [("x", "f4"), ("id", "i8")])
    rows["x"] = ROWS["x"][:300_000]
    np.save(tmp_path / "rows.npy", rows)
    seen = Seen()
    assert (carom.read(tmp_path / "rows.npy", progress=seen)["x"] == rows["x"]).all()
    seen.check((tmp_path / "rows.npy").stat().st_size, 2)


@pytest.mark.parametrize("suffix", (".npy", ".nrrd", ".vti"))
def test_volumes(tmp_path, always, suffix):
    lattice, seen = carom.Lattice((0, 0, 0), 1, (128, 128, 64)), Seen()
    volume = np.random.default_rng(1).random((64, 128, 128), "f4")
    carom.write(tmp_path / f"a{suffix}", {"distance": volume}, lattice=lattice, progress=seen)
    seen.check(volume.nbytes, 2)
    carom.write(tmp_path / f"b{suffix}", {"distance": volume}, lattice=lattice)
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


@pytest.mark.parametrize("name", ("off", "obj", "ply", "stl"))
def test_meshes(tmp_path, always, context, name):
    """Reports come while the file is parsed, too."""
    path, seen = tmp_path / f"mesh.{name}", Seen()
    WRITERS[name](path, *waves(400))
    file = carom.open_mesh(path, progress=seen)
    seen.check(path.stat().st_size, 3)
    assert len({done for done, count in seen if 0 < done < 0.9 * count}) >= 3
    plain = carom.open_mesh(path)
    assert file.vertices.tobytes() == plain.vertices.tobytes() and file.triangles.tobytes() == plain.triangles.tobytes()
    seen = Seen()
    assert context.open_mesh(path, progress=seen).info.triangle_count == len(file.triangles)
    seen.check(path.stat().st_size, 3)


def test_done_never_falls(always):
    """Faces of a PLY that stand in front of its vertices are parsed later."""
    seen = Seen()
    progress = _program.Progress(seen, 200)
    for share in (0.1, 0.5, 0.2, 0.75, 2):
        progress.move(share)
    assert seen == [(20, 200), (100, 200), (100, 200), (150, 200), (200, 200)]


def test_seldom(tmp_path):
    """A file that is there at once has its end alone, as a small call has."""
    seen = Seen()
    carom.write(tmp_path / "rows.csv", {"x": np.float32([1, 2])}, progress=seen)
    assert carom.read(tmp_path / "rows.csv", progress=seen)["x"].tolist() == [1, 2]
    assert (8, 8) in seen and seen[-1][0] == seen[-1][1] == (tmp_path / "rows.csv").stat().st_size
    empty = Seen()
    carom.write(tmp_path / "none.csv", {"x": np.float32([])}, progress=empty)
    assert empty[-1] == (1, 1)


@pytest.mark.parametrize("what", ("read", "open_mesh"))
def test_while_a_reader_waits(tmp_path, what):
    """It is called, and what it raises ends the reader, though nothing ever comes through the pipe."""
    path, calls = tmp_path / ("pipe.csv" if what == "read" else "pipe.obj"), []
    os.mkfifo(path)

    def watch(done, count):
        calls.append(done)
        if len(calls) == 3:
            raise TimeoutError("long enough")

    with pytest.raises(TimeoutError, match="long enough"):
        getattr(carom, what)(path, *[["x"]] * (what == "read"), progress=watch)
    assert calls == [0, 0, 0]


def test_a_pipe_of_rows(tmp_path, always):
    """Of which nobody knows the length."""
    path, seen = tmp_path / "pipe.csv", Seen()
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_text("x\n" + "0.5\n" * 200_000))
    writer.start()
    assert carom.read(path, ["x"], progress=seen)["x"].tolist() == [0.5] * 200_000
    writer.join()
    assert seen[-1] == (1, 1)


def test_raising_ends_a_writer(tmp_path, always):
    """The old file stays, and nothing is left."""
    path = tmp_path / "rows.csv"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError):
        carom.write(path, ROWS, progress=lambda done, count: 1 // (done < count / 2))
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_a_writer_that_cannot(tmp_path, always):
    seen = Seen()
    with pytest.raises(OSError):
        carom.write(tmp_path / "none" / "rows.csv", ROWS, progress=seen)
    with pytest.raises(FileNotFoundError):
        carom.read(tmp_path / "none.csv", progress=seen)
    assert all(done < count for done, count in seen)


def test_bars(tmp_path, always):
    class Bar:  # as tqdm's
        total, n = None, 0

        def update(self, more):
            self.n += more

    bar = Bar()
    carom.write(tmp_path / "rows.npy", ROWS, progress=bar)
    assert bar.n == bar.total == 16 * 400_000
    for call in (
        lambda: carom.read(tmp_path / "rows.npy", progress=3),
        lambda: carom.write(tmp_path / "rows.npy", ROWS, progress="yes"),
        lambda: carom.open_mesh(tmp_path / "x.obj", progress=[]),
    ):
        with pytest.raises(TypeError, match="progress must be a function"):
            call()
