# SPDX-License-Identifier: MIT
"""Calls that go on after they have returned."""
import atexit
import math
import threading
import weakref
from typing import Any, Generic, TypeVar

from ._carom import ffi, lib
from ._enums import Status
from ._error import Error, error_of
from ._opencl import Awaited, end_of, is_event
from ._owned import Handle
from ._watch import PROGRESS, Watch

Answer = TypeVar("Answer")
CANCELLED = "the job was cancelled before the rest of its list"
HEARD = 0.05  # seconds after which a signal is heard while something is waited for
_jobs = weakref.WeakSet()  # for a child of fork()
_started = set()  # of Started that have not been seen to end: their arrays belong to the library


class Started:
    """A job of the library, with all that it reads and writes. It stays in `_started` until it has ended, whatever
    becomes of who started it. The library's handle goes with it: another thread may be about to use it before."""

    def __init__(self, context, running, progress):
        self.context, self.running, self.watch = context, running, Watch(id(context))
        self.watch.begin(progress)
        self.place = ffi.new("carom_job **")
        self.info = ffi.new("carom_job_info *", {"size": ffi.sizeof("carom_job_info")})
        self.is_dropped = False
        b = running.d.batch
        b.job = self.place
        if progress is not None:  # else nothing of Python is asked: only the main thread hears signals
            b.progress.fn, b.progress.user = PROGRESS, self.watch.pointer
        else:
            b.progress.fn = ffi.NULL

    def start(self):
        """Make the call; in a turn of the context."""
        _started.add(self)
        self.context._jobs[self] = True
        err = ffi.new("carom_error *")
        status = self.running.invoke(err)
        if status:
            self.forget()
            raise error_of(status, err)

    def has_ended(self):
        if not self.place[0]:
            return True
        lib.carom_job_get_info(self.place[0], self.info, ffi.NULL)
        return bool(self.info.has_ended)

    def wait(self, seconds):
        """Whether it has ended within so many seconds; one step, in which no signal is heard."""
        if not self.place[0]:
            return True
        err = ffi.new("carom_error *")
        status = lib.carom_job_wait(self.place[0], seconds, err)
        if self.has_ended():
            return True
        if status != Status.ERROR_TIMEOUT:  # in its own progress function, or in a child of fork()
            raise error_of(status, err)
        return False

    def failure(self):
        """What a job that has ended raises, or None."""
        exception, self.watch.exception = self.watch.exception, None
        if exception is not None:
            return exception
        err = ffi.new("carom_error *")
        status = lib.carom_job_wait(self.place[0], 0, err)
        return error_of(status, err) if status else None

    def progress(self):
        self.has_ended()
        return self.info.done, self.info.count

    def cancel(self):
        if self.place[0]:
            lib.carom_job_cancel(self.place[0])

    def forget(self):
        """It has ended: its arrays are the caller's."""
        _started.discard(self)
        self.context._jobs.pop(self, None)

    def __del__(self, destroy=lib.carom_job_destroy):
        place = self.__dict__.get("place")
        if place is not None:
            destroy(place[0])


def reap():
    """Let go of jobs that were dropped and have ended since."""
    for started in list(_started):
        if started.is_dropped and started.has_ended():
            started.forget()


def after_fork():
    """Locks that threads of the parent have held."""
    for job in _jobs:
        job._lock = threading.RLock()


@atexit.register
def _end_all():
    """A job must not outlive the interpreter that its arrays belong to."""
    for started in list(_started):
        started.cancel()
    for started in list(_started):
        if not started.place[0] or lib.carom_job_wait(started.place[0], math.inf, ffi.NULL) is not None:
            _started.discard(started)


class Job(Handle, Generic[Answer]):
    """A call in the background, from `job=True`. Its arrays, and what it asks, belong to it until it has ended.

    In a `with` block it is waited for at the end, and what it raises is raised there; if the block raises, it is
    cancelled. `result()` gives what the call would have returned, or raises what it would have raised."""

    def __init__(self, context, running, progress):
        self._context, self._running, self._lock = context, running, threading.RLock()
        self._outcome, self._status = None, 0  # (exception, result) once it has ended; the library's status
        self._is_cancelled, self._last = False, (0, 0)
        self._has_rest = self._is_second = False  # a list that was too short goes on in a second job
        _jobs.add(self)
        self._begin(progress)

    def _begin(self, progress):
        reap()
        started = Started(self._context, self._running, progress)
        try:
            with self._context._turn:
                self._context._enter(is_job=True)
                try:
                    self._context._is_busy = True
                    started.start()
                finally:
                    self._context._is_busy = False
            self._now = started  # None once all has ended; who uses it keeps it
            if self._is_cancelled:
                started.cancel()
        except BaseException:
            started.is_dropped = True
            raise

    def _advance(self, seconds):
        """Wait so long, in one step; whether all has ended."""
        with self._lock:
            if self._outcome is not None:
                return True
            if self._has_rest and not self._is_cancelled:
                self._begin(None)
                self._has_rest, self._is_second = False, True
            now = self._now
            if not now.wait(seconds):
                return False
            answer = None
            exception = Error(Status.ERROR_CANCELLED, CANCELLED) if self._has_rest else now.failure()
            try:
                if exception is None and not self._is_second and self._running.rest():
                    now.forget()
                    self._has_rest = True
                    return False
                if exception is None:
                    if self._is_second:
                        self._running.complete()
                    answer = self._running.answer()
            except (ValueError, RuntimeError, MemoryError) as failed:
                exception = failed
            self._last, self._status = now.progress(), now.info.status
            self._outcome = (exception, answer)
            now.forget()
            self._now = None
            return True

    def wait(self, seconds: float = math.inf) -> bool:
        """Wait for its end, `seconds` at most; whether it has ended. Ctrl-C interrupts the wait, not the job."""
        if not seconds >= 0:
            raise ValueError(f"seconds is {seconds}; it must be >= 0")
        while True:
            step = min(seconds, HEARD)
            if self._advance(step):
                return True
            seconds -= step
            if seconds <= 0:
                return False

    def _started_for(self):
        """What another job waits for; None if it has ended. A failure of it is raised."""
        with self._lock:
            if self._outcome is not None and self._outcome[0] is not None:
                raise self._outcome[0]
            return self._now

    def cancel(self) -> None:
        """Ask it to end where it would report progress next."""
        self._is_cancelled, now = True, self._now
        if now is not None:
            now.cancel()

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self._advance(0)

    @property
    def progress(self) -> tuple[int, int]:
        """(done, count): the queries, slabs or spheres that are answered, and all of them."""
        now = self._now
        return self._last if now is None else now.progress()

    @property
    def event(self) -> Any:
        """Its end as a pyopencl.Event, for wait lists of commands; it does not keep the job. If the job fails, so does
        the event. The context must have `opencl`. A list needs your arrays (`out`): else it may go on in a second job.
        """
        running = self._running
        if running.totals is not None and not running.is_fixed and not running.prepares:
            raise ValueError("a list has an event only if `out` has arrays for its records")
        return end_of(self._context, self._now, self._status)

    def result(self) -> Answer:
        """What the call would have returned; waits for its end."""
        self.wait()
        exception, answer = self._outcome
        if exception is not None:
            raise exception
        return answer

    def __await__(self):
        """`await job`: its result; other tasks go on meanwhile. A task that is cancelled leaves the job as it is."""
        import asyncio  # takes longer to import than all of carom

        return asyncio.get_running_loop().run_in_executor(None, self.result).__await__()

    def __repr__(self):
        done, count = self.progress
        state = "has ended" if self._outcome is not None else f"{done} of {count}"
        return f"<carom.Job, {self._running.call.method}, {state}>"

    def __enter__(self) -> "Job[Answer]":
        return self

    def __exit__(self, kind, value, traceback) -> None:
        if kind is None:
            self.result()
        else:
            self.cancel()
            self.wait()

    def __del__(self):
        now = self.__dict__.get("_now")
        if now is not None and now in _started:  # its arrays stay with it until it has ended
            now.is_dropped = True
            now.cancel()


def wait_for(context, batch, wait, keep, is_job):
    """Let a call begin after jobs and events of pyopencl. One that is no job waits for them here, where signals are
    heard. The library looks which of them have failed."""
    if not isinstance(wait, (list, tuple)) or not all(isinstance(other, Job) or is_event(other) for other in wait):
        raise TypeError("wait must be a list of jobs and of events of pyopencl")
    waited = [other._started_for() if isinstance(other, Job) else Awaited(context, other) for other in wait]
    waited = [one for one in waited if one is not None]
    for one in () if is_job else waited:
        while not one.wait(HEARD):
            pass
    handles = ffi.new("carom_job *[]", [one.place[0] for one in waited])
    batch.wait, batch.wait_count = handles, len(handles)
    keep += [handles, waited]
