# SPDX-License-Identifier: MIT
"""Progress of calls: to a function of the caller, and where Ctrl-C is heard."""
from threading import get_ident

from ._carom import ffi, lib

PROGRESS = ffi.addressof(lib, "carom_py_progress")
reporting = {}  # by thread, the number of the context whose progress function runs in it: it must not use that


class Watch:
    """What a call reports to. An exception of the caller's function, or of a signal, ends the call and is raised by it.

    The library reports from C (generator/extension.py); small batches, which report their end alone, never come here
    unless the caller has a function."""

    def __init__(self, owner):
        self.owner = owner  # id() of its context
        self.handle = ffi.new_handle(self)
        self.shared = ffi.new("carom_py_shared *")
        self.pointer = ffi.addressof(self.shared, "watch")
        self.pointer.handle = self.handle
        self.function = self.exception = None
        self.has_to_end = False  # whether end() has anything to do

    def begin(self, progress):
        if progress is None:
            self.pointer.to_end, self.function, self.exception = 0, None, None
            return
        self.has_to_end, function = True, function_of(progress)
        self.pointer.to_end, self.function, self.exception = 1, function, None

    def end(self):
        """Raise what the caller's function or a signal has raised, if anything; let go of both."""
        exception, self.exception, self.function = self.exception, None, None
        self.pointer.to_end, self.has_to_end = 0, False
        if exception is not None:
            try:
                raise exception
            finally:
                del exception  # its traceback holds this frame


def function_of(progress):
    """A caller's progress as a function of (done, count), or None."""
    function = bar_of(progress) if hasattr(progress, "update") else progress
    if function is not None and not callable(function):
        raise TypeError("progress must be a function of (done, count), or have update() as tqdm has")
    return function


def bar_of(bar):
    """A function of (done, count) for a progress bar as of tqdm, which counts steps."""
    shown = 0

    def report(done, count):
        nonlocal shown
        if getattr(bar, "total", count) is None:
            bar.total = count
        bar.update(done - shown)
        shown = done

    return report


def _keep(exception, value, traceback):
    if traceback is not None:
        watch = ffi.from_handle(traceback.tb_frame.f_locals["user"])
        watch.exception, watch.has_to_end = value, True


@ffi.def_extern(error=1, onerror=_keep)
def carom_py_report(user, done, count):
    watch = ffi.from_handle(user)
    if watch.exception is not None:
        return 1
    if watch.function is not None:
        thread = get_ident()
        outer = reporting.get(thread)
        reporting[thread] = watch.owner
        try:
            watch.function(done, count)
        finally:
            reporting[thread] = outer
            if outer is None:
                del reporting[thread]
    return 0


@ffi.def_extern()
def carom_py_log(user, level, message):
    ffi.from_handle(user)(level, ffi.string(message).decode(errors="replace"))
