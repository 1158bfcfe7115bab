# SPDX-License-Identifier: MIT
"""The caller's OpenCL, as pyopencl has it. The library retains the objects that it is given, so the caller may release
his references. One that was released before cannot be told from others."""
import sys
from typing import Any, Protocol

from ._carom import ffi, lib
from ._enums import Status
from ._error import check

MOST_DEVICES = 16  # CAROM_DEVICES_MAX


class Event(Protocol):
    """A pyopencl.Event, for type checkers: pyopencl has no types."""

    @property
    def int_ptr(self) -> int:
        ...

    def wait(self) -> Any:
        ...


def _is(value: Any, name: str) -> bool:
    """Whether it is an object of pyopencl; if that is not imported, there are none."""
    module = sys.modules.get("pyopencl")
    return module is not None and isinstance(value, getattr(module, name))


def is_array(value: Any) -> bool:
    module = sys.modules.get("pyopencl.array")
    return module is not None and isinstance(value, module.Array)


def is_memory(value: Any) -> bool:
    """Whether a buffer can be made of it without a copy."""
    return _is(value, "MemoryObjectHolder") or is_array(value)


def is_event(value: Any) -> bool:
    return _is(value, "Event")


def _parts(opencl):
    """(context, devices, queue or None) of what the caller gives."""
    given = opencl if isinstance(opencl, tuple) and opencl else (opencl,)
    context, queue = given[0], given[-1] if _is(given[-1], "CommandQueue") else None
    if len(given) == 1 and queue is not None:
        return queue.context, [queue.device], queue
    if not _is(context, "Context") or len(given) > 2 or (len(given) == 2 and queue is None):
        raise TypeError("opencl must be a pyopencl.Context, a pyopencl.CommandQueue, or a pair of both")
    if queue is not None and queue.context != context:
        raise ValueError("opencl: the queue is of another pyopencl.Context")
    devices = context.devices
    if len(devices) > MOST_DEVICES:
        raise ValueError(f"opencl: the context has {len(devices)} devices; at most {MOST_DEVICES}")
    return context, devices, queue


def create(desc, opencl, place, err):
    """Make a context where the caller computes."""
    context, devices, queue = _parts(opencl)
    handles = ffi.new("cl_device_id[]", [ffi.cast("cl_device_id", device.int_ptr) for device in devices])
    cl = ffi.new("carom_opencl_desc *", {"size": ffi.sizeof("carom_opencl_desc")})
    cl.context = ffi.cast("cl_context", context.int_ptr)
    cl.devices, cl.device_count = handles, len(devices)
    if queue is not None:
        cl.queue = ffi.cast("cl_command_queue", queue.int_ptr)
    check(lib.carom_context_create_opencl(desc, cl, place, err), err)


def range_of(memory: Any) -> tuple[Any, int, int]:
    """(cl_mem, first byte, bytes) of a buffer or an array; of a part of a buffer, in the whole."""
    offset, size = 0, None
    if is_array(memory):
        if not memory.flags.c_contiguous:
            raise ValueError("the pyopencl.array.Array is not contiguous; copy it")
        offset, size, memory = memory.offset, memory.nbytes, memory.base_data
        if not _is(memory, "MemoryObjectHolder"):
            raise TypeError("the pyopencl.array.Array lies in no pyopencl.Buffer, but in shared virtual memory")
    info = sys.modules["pyopencl"].mem_info
    size = memory.size if size is None else size
    whole = memory.get_info(info.ASSOCIATED_MEMOBJECT)
    if whole is not None:
        offset, memory = offset + memory.get_info(info.OFFSET), whole
    return ffi.cast("cl_mem", memory.int_ptr), offset, size


# ---- events ----------------------------------------------------------------------------------------------------------


class Awaited:
    """An event as a job of the library, for other calls to wait for."""

    def __init__(self, context, event):
        self.event = event  # that of a copy from NumPy waits for its end when nothing refers to it any more
        self.place = ffi.new("carom_job **")
        handle = ffi.cast("cl_event", event.int_ptr)
        context._do(lib.carom_job_wrap_event, context._handle, handle, self.place, is_job=True)

    def wait(self, seconds):
        """Whether it has ended within so many seconds, well or not; one step, in which no signal is heard."""
        return lib.carom_job_wait(self.place[0], seconds, ffi.NULL) != Status.ERROR_TIMEOUT

    def __del__(self, destroy=lib.carom_job_destroy):
        destroy(self.place[0])


def end_of(context, started, status):
    """A pyopencl.Event for the end of a job; started: None if it has ended, with `status`."""
    if context._opencl is None:
        raise ValueError("the job's context was not made with `opencl`, so it has no events")
    opencl, err = sys.modules["pyopencl"], ffi.new("carom_error *")
    if started is None:
        event = opencl.UserEvent(_parts(context._opencl)[0])
        event.set_status(-status)
        return event
    place = ffi.new("cl_event *")
    check(lib.carom_job_get_event(started.place[0], place, err), err)
    return opencl.Event.from_int_ptr(int(ffi.cast("intptr_t", place[0])), retain=False)  # the reference is ours
