# SPDX-License-Identifier: MIT
"""Contexts: how and where is computed."""
import os
import threading
import weakref
from collections import deque
from os import PathLike
from typing import Any, Callable, Iterable, Literal

from ._arrays import Points, Uints
from ._buffer import Buffer, check_own, made as buffers
from ._calls import ContextCalls
from ._carom import ffi, lib
from ._devices import Device, device_of
from ._enums import Accuracy, Backend, BufferWhere, Isa, LogLevel
from ._error import check
from ._files import open_mesh
from ._owned import Handle
from ._match import match
from ._mesh import Mesh, Scene
from ._inputs import whole
from ._job import HEARD, after_fork, reap
from ._watch import Watch, reporting
from ._opencl import create
from ._words import words_of

ACCURACIES, BACKENDS, ISAS = words_of(Accuracy), words_of(Backend), words_of(Isa)
LEVELS = words_of(LogLevel)
_all = weakref.WeakSet()  # contexts, for a child of fork()


class Context(Handle, ContextCalls):
    """Computes on the CPU or a device; calls of one context take turns, those of several run side by side.

    Parameters
    ----------
    backend : 'auto' (a device where it pays), 'cpu' or 'opencl' (the device or an error)
    device : a number of carom.devices() or a part of a name; several, separated by commas
    accuracy : 'fast' or 'exact', for calls that do not say
    threads : CPU threads; 0: all
    isa : instruction set of the CPU: 'auto', 'scalar', 'sse41', 'avx2', 'avx512' or 'neon'
    log : a function of (level, message); it must not use the context
    log_level : the least severe level that it gets: 'error', 'warning' or 'info'
    device_lanes, device_chunk, auto_from : as in carom_context_desc
    opencl : where you compute with pyopencl: a Context (on its devices), a CommandQueue (on its device) or a pair of
        both. Calls take their turn in the queue, and buffer() takes pyopencl's buffers and arrays

    A context is closed at the end of its `with` block, by close(), or when nothing refers to it any more. After a fork
    the child can use it on one thread, unless a call was running.
    """

    def __init__(
        self,
        backend: Literal["auto", "cpu", "opencl"] | Backend = "auto",
        device: int | str | None = None,
        accuracy: Literal["fast", "exact"] | Accuracy = "fast",
        threads: int = 0,
        isa: Literal["auto", "scalar", "sse41", "avx2", "avx512", "neon"] | Isa = "auto",
        log: Callable[[int, str], object] | None = None,
        log_level: Literal["error", "warning", "info"] | LogLevel = "warning",
        device_lanes: int = 0,
        device_chunk: int = 0,
        auto_from: int = 0,
        opencl: Any = None,
    ) -> None:
        d = ffi.new("carom_context_desc *", lib.carom_context_desc_default())
        self._handle = ffi.NULL
        self._accuracy = ACCURACIES[accuracy]
        d.backend, d.isa, d.threads = BACKENDS[backend], ISAS[isa], whole(threads, "threads")
        d.device_lanes, d.device_chunk = whole(device_lanes, "device_lanes"), whole(device_chunk, "device_chunk")
        d.auto_from = whole(auto_from, "auto_from")
        name = None if device is None else ffi.new("char[]", str(device).encode())
        if name is not None:
            d.device = name
        if log is not None:
            self._log = ffi.new_handle(log)
            d.log, d.log_user, d.log_level = lib.carom_py_log, self._log, LEVELS[log_level]
        self._watch = Watch(id(self))
        self._shared = self._watch.shared  # between its calls, which take turns
        self._err = ffi.addressof(self._shared, "err")
        self._lock, self._is_busy, self._is_broken = threading.RLock(), False, False
        self._doomed, self._owned, self._jobs, self._ratios = deque(), weakref.WeakSet(), {}, {}  # jobs by age
        self._place = ffi.new("carom_context **")  # a signal must not lose the handle
        self._opencl = opencl  # what it is made of stays
        if opencl is None:
            check(lib.carom_context_create(d, self._place, self._err), self._err)
        else:
            create(d, opencl, self._place, self._err)
        self._handle = self._place[0]
        _all.add(self)

    # ---- life --------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Wait for its jobs; destroy its meshes, scenes and buffers; give back its threads and memory."""
        with self._turn:
            if self._is_broken:
                return
            self._check_free()
            self._await_jobs()
            self._doomed.extend((owned._destroy, owned._hand_over()) for owned in list(self._owned))
            self._drain()
            handle, self._place[0], self._handle = self._place[0], ffi.NULL, ffi.NULL
            lib.carom_context_destroy(handle)

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, kind, value, traceback) -> None:
        if kind is not None:
            for started in list(self._jobs):
                started.cancel()
        self.close()

    def __del__(self):
        place = self.__dict__.get("_place")
        if place is None or not place[0] or self._is_broken:
            return
        self._drain()  # nothing refers to it: no call runs
        lib.carom_context_destroy(place[0])
        place[0] = ffi.NULL

    def __repr__(self):
        if not self._handle:
            return "<carom.Context, closed>"
        return f"<carom.Context, {self.isa}, {self.threads} threads{', a device' * bool(self.devices)}>"

    @property
    def _context(self):
        return self

    @property
    def _turn(self):
        """The lock of its calls, which take turns."""
        if reporting and reporting.get(threading.get_ident()) == id(self):
            raise RuntimeError("a progress function must not use the context that calls it")
        return self._lock

    def _check_free(self):
        if self._is_broken:
            raise RuntimeError("this process was forked during a call of the context; make a new one")
        if self._is_busy:  # the lock lets the same thread in twice
            raise RuntimeError("a log function must not use the context that calls it")

    def _enter(self, is_job=False):
        """What comes before a call, in a turn. The caller sets `_is_busy` within `try` and clears it in `finally`: no
        signal can come between."""
        if self._is_broken or self._is_busy:
            self._check_free()
        if not self._handle:
            raise ValueError("the context is closed")
        if self._jobs and not is_job:
            self._await_jobs()
        if self._doomed and not self._jobs:
            self._drain()

    def _await_jobs(self):
        """A blocking call begins when the jobs have ended. The library would wait for them without hearing signals."""
        for started in list(self._jobs):
            while not (started.has_ended() or started.wait(HEARD)):
                pass
            self._jobs.pop(started, None)
        reap()

    def _drain(self):
        while self._doomed:
            destroy, handle = self._doomed.popleft()
            destroy(handle)

    def _destroy_later(self, destroy, handle):
        """Destroy what nothing refers to any more: now, or if a call runs, before the next."""
        self._doomed.append((destroy, handle))
        if (
            self._is_broken
            or reporting.get(threading.get_ident()) == id(self)
            or not self._lock.acquire(blocking=False)
        ):
            return
        try:
            if not self._is_busy and not self._jobs:
                self._drain()
        finally:
            self._lock.release()

    def _check_own(self, arrays):
        if buffers:
            check_own(arrays, self)

    def _do(self, function, *arguments, is_job=False):
        """A function of the library that can fail, on something that the context has made or is to make. is_job: it
        need not wait for the context's jobs."""
        with self._turn:
            self._enter(is_job)
            try:
                self._is_busy = True
                status = function(*arguments, self._err)
            finally:
                self._is_busy = False
            check(status, self._err)

    def _do_watched(self, progress, function, *arguments):
        """The same for a function whose descriptor has the context's watch."""
        with self._turn:
            self._enter()
            try:
                self._is_busy = True
                self._watch.begin(progress)
                status = function(*arguments, self._err)
                self._watch.end()
            finally:
                self._is_busy = False
            check(status, self._err)

    # ---- what it is --------------------------------------------------------------------------------------------------

    @property
    def isa(self) -> Isa:
        """The instruction set of the CPU path."""
        with self._turn:
            return Isa(lib.carom_context_isa(self._open()))

    @property
    def threads(self) -> int:
        """The number of CPU threads."""
        with self._turn:
            return lib.carom_context_threads(self._open())

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices that it uses, as named tuples; none as long as no device was looked for. One that was refused has
        no name and `available` 0."""
        infos, count = ffi.new("carom_device_info[16]"), ffi.new("uint32_t *")
        infos[0].size = ffi.sizeof("carom_device_info")
        self._do(lib.carom_context_get_devices, self._open(), infos, 16, count)
        return tuple(device_of(infos[i]) for i in range(count[0]))

    def _open(self):
        if not self._handle:
            raise ValueError("the context is closed")
        return self._handle

    # ---- what it makes -----------------------------------------------------------------------------------------------

    def mesh(
        self,
        vertices: Points,
        triangles: Any = None,
        masks: Uints | None = None,
        patches: Uints | None = None,
        *,
        progress: Any = None,
    ) -> Mesh:
        """A mesh; the arrays are copied.

        vertices : (n, 3) float32, or three (n,)
        triangles : (m, 3) whole numbers; None: every three vertices are one
        masks : (m,) uint32; a triangle counts for a query if (its mask & the query's) != 0
        patches : (m,) uint32 that contacts report as `patch`
        progress : a function of (done, count), or a bar of tqdm; it counts triangles, as a share of the work. What it
            raises ends the call, as Ctrl-C does
        """
        return Mesh(self, vertices, triangles, masks, patches, progress=progress)

    def open_mesh(
        self, path: str | PathLike, masks: Uints | None = None, patches: Uints | None = None, *, progress: Any = None
    ) -> Mesh:
        """A mesh of a file that carom.open_mesh reads; masks and patches as in mesh(), of the triangles of the file.
        progress : of the reading, as in carom.open_mesh; the building that follows reports nothing."""
        file = open_mesh(path, progress=progress)
        return self.mesh(file.vertices, file.triangles, masks, patches)

    def open_image(self, image: Any) -> Mesh:
        """A mesh that reads an image of Mesh.image() where it lies, or a copy if that is no multiple of 64 bytes. The
        image must stay as it is. It is checked: damaged bytes are an InvalidArgument that tells where."""
        return Mesh._of_image(self, image)

    def scene(self, instances: Iterable[Any], velocity: Points | None = None) -> Scene:
        """A scene of instances: (mesh, matrix) or (mesh, matrix, mask), and their velocities; see carom.Scene."""
        return Scene(self, instances, velocity)

    def buffer(self, data: Any, where: Literal["device", "host"] | BufferWhere = "device") -> Buffer:
        """Memory that may lie on the device. data: a number of bytes, or an array that it is filled with. A buffer or
        an array of pyopencl is used where it lies, by a context that was made with `opencl`."""
        return Buffer(self, data, where)

    match = match


def _after_fork():
    reporting.clear()
    after_fork()
    for context in _all:
        context._is_broken = context._is_busy
        context._lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)
