# SPDX-License-Identifier: MIT
"""Memory that may lie on the device, and arrays in it that calls take where they take NumPy's."""
import math
import operator
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Iterator

import numpy as np

from . import _arrays
from ._carom import ffi, lib
from ._enums import Access, BufferWhere
from ._opencl import is_array, is_memory, range_of
from ._owned import Owned
from ._words import words_of

if TYPE_CHECKING:
    from ._context import Context

made = []  # not empty once there is a buffer: calls then look whether their arrays lie in one
PLACES, ACCESSES = words_of(BufferWhere), words_of(Access)


class Buffer(Owned):
    """Memory of a context, from Context.buffer. Where the context computes on a discrete device, calls use arrays in it
    there. `array()` names an array in it, for calls; read() and write() copy. One that was made of pyopencl's buffer or
    array is that memory: both see what the other writes."""

    def __init__(self, context: "Context", data: Any, where: Any) -> None:
        if is_memory(data):
            self._wrap(context, data, where)
            return
        array = None if isinstance(data, (int, np.integer)) else _plain(data)
        d = ffi.new("carom_buffer_desc *")
        d.size, d.where = ffi.sizeof("carom_buffer_desc"), PLACES[where]
        self._maps = weakref.WeakSet()
        made[:] = [True]
        d.bytes = self.nbytes = int(data) if array is None else array.nbytes
        self._create(context, lib.carom_buffer_create, lib.carom_buffer_destroy, d)
        self._address = int(ffi.cast("uintptr_t", lib.carom_buffer_address(self._handle)))
        self._dtype, self._shape = (np.dtype("u1"), (self.nbytes,)) if array is None else (array.dtype, array.shape)
        if array is not None:
            self.write(array)

    def _wrap(self, context, memory, where):
        """Use pyopencl's memory, which is kept: its owner might give it to someone else."""
        if PLACES[where] != BufferWhere.DEVICE:
            raise ValueError("memory of pyopencl lies where it lies; where must be 'device'")
        handle, first, self.nbytes = range_of(memory)
        self._maps, self._memory = weakref.WeakSet(), memory
        made[:] = [True]
        self._create(context, lib.carom_buffer_wrap_opencl, lib.carom_buffer_destroy, handle, first, self.nbytes)
        self._address = int(ffi.cast("uintptr_t", lib.carom_buffer_address(self._handle)))
        is_shaped = is_array(memory)
        self._dtype = np.dtype(memory.dtype if is_shaped else "u1")
        self._shape = memory.shape if is_shaped else (self.nbytes,)

    def write(self, data: Any, offset: int = 0) -> None:
        """Copy an array into it, from byte `offset` on."""
        data = _plain(data)
        place = ffi.cast("void *", _arrays.address(data))
        self._context._do(lib.carom_buffer_write, self._handle, offset, place, data.nbytes)

    def read(self, shape: Any = None, dtype: Any = None, offset: int = 0) -> np.ndarray:
        """A copy of its bytes, from byte `offset` on, as an array; without arguments as the array it was made from."""
        data = np.empty(
            self._shape if shape is None else shape, _without_objects(self._dtype if dtype is None else dtype)
        )
        place = ffi.cast("void *", _arrays.address(data))
        self._context._do(lib.carom_buffer_read, self._handle, offset, place, data.nbytes)
        return data

    def __repr__(self):
        return f"<carom.Buffer, {self.nbytes} bytes>"

    @contextmanager
    def map(
        self, access: str = "read_write", shape: Any = None, dtype: Any = None, offset: int = 0
    ) -> Iterator[np.ndarray]:
        """Its bytes in place, as an array, for a `with` block alone. access: 'read', 'write' or 'read_write'."""
        dtype = _without_objects(self._dtype if dtype is None else dtype)
        shape, nbytes = _extent(self._shape if shape is None else shape, dtype)
        out = ffi.new("void **")
        self._context._do(lib.carom_buffer_map, self._handle, offset, nbytes, ACCESSES[access], out)
        mapped = _Mapped(self, int(ffi.cast("uintptr_t", out[0])), shape, dtype, ACCESSES[access] == Access.READ)
        self._maps.add(mapped)
        array = np.asarray(mapped)
        try:
            yield array
        finally:
            self._context._do(lib.carom_buffer_unmap, self._handle)

    def _hand_over(self):
        """Arrays of maps outlive their `with` blocks: the memory stays with the last of them."""
        maps, handle = list(self._maps), self._release()
        if not maps or not handle:
            return handle
        memory = _Memory(self._destroy, handle, self._context._lock)
        for mapped in maps:
            mapped.buffer = memory
        return ffi.NULL

    @property
    def info(self) -> dict[str, Any]:
        """(bytes, where, reachable, mapped) as a dict."""
        i = ffi.new("carom_buffer_info *", {"size": ffi.sizeof("carom_buffer_info")})
        self._context._do(lib.carom_buffer_get_info, self._handle, i)
        return {
            "bytes": i.bytes,
            "where": BufferWhere(i.where),
            "reachable": bool(i.reachable),
            "mapped": bool(i.mapped),
        }

    def array(self, shape: Any = None, dtype: Any = None, offset: int = 0) -> "BufferArray":
        """An array in the buffer, from byte `offset` on: an input or an output of calls of this context."""
        return BufferArray(
            self, self._shape if shape is None else shape, self._dtype if dtype is None else dtype, offset
        )


def _without_objects(dtype):
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError("a buffer cannot hold Python objects")
    return dtype


def _plain(data):
    """`data` as a dense array of numbers."""
    array = np.ascontiguousarray(data)
    _without_objects(array.dtype)
    return array


def _extent(shape, dtype):
    """(a shape as a tuple, its bytes)."""
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if any(n < 0 for n in map(operator.index, shape)):
        raise ValueError(f"the shape {shape} has a negative number")
    return shape, math.prod(map(int, shape)) * dtype.itemsize


class _Mapped:
    """What NumPy makes the array of a map of; the array keeps it, and so the buffer."""

    def __init__(self, buffer, address, shape, dtype, is_read_only):
        self.buffer = buffer
        self.__array_interface__ = {
            "data": (address, is_read_only),
            "shape": shape,
            "typestr": dtype.str,
            "descr": dtype.descr,
            "version": 3,
        }


def check_own(arrays, context):
    """Buffers serve calls of their own context alone: another may be closed by another thread at any time."""
    for array in arrays:
        if isinstance(array, BufferArray) and array.buffer._context is not context:
            where = "of another context" if array.buffer._handle else "whose context is closed"
            raise ValueError(f"an array lies in a buffer {where}")


class _Memory:
    """A buffer of a context that is closed."""

    def __init__(self, destroy, handle, lock):
        self.destroy, self.handle, self.lock = destroy, handle, lock

    def __del__(self):
        with self.lock:  # buffers of one context go one at a time
            self.destroy(self.handle)


class BufferArray:
    """A dense array in a Buffer. Its numbers may lie on a device: only calls look at them."""

    def __init__(self, buffer, shape, dtype, offset):
        self.buffer, self.dtype = buffer, _without_objects(dtype)
        self.shape, nbytes = _extent(shape, self.dtype)
        if offset < 0 or offset + nbytes > buffer.nbytes:
            raise ValueError(f"the array ends {offset + nbytes} bytes into a buffer of {buffer.nbytes}")
        self._carom_range = buffer._address + offset

    def __repr__(self):
        return f"<carom.BufferArray, {self.shape} {self.dtype}>"

    def __len__(self) -> int:
        return self.shape[0]

    def _check(self, name, dtype, width):
        if not self.buffer._handle:
            raise ValueError(f"{name} lies in a buffer whose context is closed")
        if self.dtype != dtype:
            raise TypeError(f"{name} has the dtype {self.dtype}, not {dtype}")
        if len(self.shape) != (2 if width > 1 else 1) or (width > 1 and self.shape[1] != width):
            raise ValueError(f"{name} has the shape {self.shape}; it must be (n{f', {width}' if width > 1 else ''})")

    def _place(self, view, pointer):
        x = ffi.cast(pointer, self._carom_range)
        view.x, view.y, view.z, view.stride = x, x + 1, x + 2, 12

    def _fill_points(self, view, name, n):
        self._check(name, _arrays.F4, 3)
        self._place(view, "float *")
        return _arrays._same_rows(self.shape[0], n, name)

    def _fill_column(self, view, name, n, dtype):
        self._check(name, dtype, 1)
        view.data = ffi.cast("float *" if dtype == _arrays.F4 else "uint32_t *", self._carom_range)
        view.stride = 4
        return _arrays._same_rows(self.shape[0], n, name)

    def _fill_output(self, o, column):
        self._check(column.name, column.dtype, column.width)
        if column.is_points:
            self._place(getattr(o, column.name), "float *")
        else:
            setattr(o, column.name, ffi.cast(column.pointer, self._carom_range))
