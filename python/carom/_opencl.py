# SPDX-License-Identifier: MIT
"""The caller's OpenCL, as pyopencl has it. Its objects must not be released while carom uses them, as it does not see
that; carom keeps those that it is given."""
import sys
from typing import Any

from ._carom import ffi, lib
from ._error import check

MOST_DEVICES = 16  # CAROM_DEVICES_MAX


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
