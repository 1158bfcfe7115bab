# SPDX-License-Identifier: MIT
"""NumPy arrays as the library's views: in place where rows lie 0 or at least 4 bytes apart, else copied.

A function that fills a view takes the view, the array, its name, and the number of rows that the call has so far (None:
not known yet). It returns that number. The arrays are appended to `keep`, which must live as long as the view.
"""
from typing import TYPE_CHECKING, Any, Sequence, Union

import numpy as np

from ._carom import ffi

if TYPE_CHECKING:
    from ._buffer import BufferArray

# What parameters take, in words of typing: arrays, lists of numbers, tensors, arrays in buffers.
Points = Union[np.ndarray, Sequence[Any], "BufferArray"]
Scalars = Union[np.ndarray, Sequence[float], float, "BufferArray"]
Uints = Union[np.ndarray, Sequence[int], int, "BufferArray"]

F4, U4 = np.dtype("f4"), np.dtype("u4")
FLOATS, UINTS = ffi.typeof("float[]"), ffi.typeof("uint32_t[]")
FLOAT_POINTER, UINT_POINTER = ffi.typeof("float *"), ffi.typeof("uint32_t *")
REPEAT = 2**64 - 1  # CAROM_REPEAT: one element serves all
XYZ = (12, 4)  # strides of rows x y z, one after the other
DENSE = (4,)

ndarray, from_buffer, new, cast = np.ndarray, ffi.from_buffer, ffi.new, ffi.cast


def address(array):
    return array.__array_interface__["data"][0]


def as_array(value, name, dtype):
    """`value` as an array of `dtype`. Lists and numbers are converted; an array must have the dtype already."""
    if not isinstance(value, ndarray):
        device = getattr(value, "__dlpack_device__", None)
        if device is not None:
            if device()[0] != 1:
                raise TypeError(f"{name} lies on a device; copy it to the CPU first: {name}.cpu()")
            value = np.from_dlpack(value)
        elif hasattr(value, "__array__"):
            value = np.asarray(value)
        else:
            value = _from_numbers(value, name, dtype)
    elif isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise TypeError(f"{name} is a masked array; its masked rows would count as the others do")
    if value.dtype != dtype:
        raise TypeError(f"{name} has the dtype {value.dtype}, not {dtype}; convert it: {name}.astype('{dtype}')")
    return value


def _from_numbers(value, name, dtype):
    """Lists, tuples and numbers of Python, which have no dtype."""
    plain = np.asarray(value)
    if plain.dtype.kind not in ("iuf" if dtype.kind == "f" else "iu") and plain.size:
        raise TypeError(f"{name} must be numbers, not {'text' if plain.dtype.kind in 'SU' else plain.dtype}")
    if dtype.kind == "u" and plain.size and (plain.min() < 0 or plain.max() > 0xFFFFFFFF):
        raise ValueError(f"{name} has a number outside 0 to 4294967295")
    with np.errstate(over="ignore"):
        array = plain.astype(dtype)
    if dtype.kind == "f" and not np.array_equal(np.isinf(array), np.isinf(plain)):
        raise ValueError(f"{name} has a number beyond binary32")
    return array


def _same_rows(rows, n, name):
    if n is None or n == rows:
        return rows
    raise ValueError(f"{name} has {rows} rows, but the arrays before it have {n}")


def _stride(array, keep):
    """The array, or a copy of it whose rows can be used, and the bytes between its rows."""
    rows = array.shape[0]
    stride = array.strides[0] if rows > 1 else 4
    if stride == 0:
        return array, REPEAT
    if stride < 4:
        array = np.ascontiguousarray(array)
        keep.append(array)
        stride = array.strides[0]
    return array, stride


def points(view, value, name, n, keep):
    """(n, 3), three (n,), or (3,): one point for all."""
    if type(value) is ndarray and value.dtype is F4 and value.strides == XYZ and (shape := value.shape)[1] == 3:
        rows = shape[0]
        if n is not None and n != rows:
            _same_rows(rows, n, name)
        x = from_buffer(FLOATS, value)
        view.x, view.y, view.z, view.stride = x, x + 1, x + 2, 12
        keep.append(value)
        return rows
    if hasattr(value, "_fill_points"):
        keep.append(value)
        return value._fill_points(view, name, n)
    if isinstance(value, (tuple, list)) and len(value) == 3 and all(getattr(a, "ndim", 0) == 1 for a in value):
        if isinstance(value, list) and all(len(a) == 3 for a in value):
            raise ValueError(f"{name} may be rows or columns; give a tuple for columns, or np.array({name}) for rows")
        return _three_columns(view, value, name, n, keep)
    array = as_array(value, name, F4)
    keep.append(array)
    if array.shape == (0,):
        array = array.reshape(0, 3)
    if array.ndim == 1 and array.shape[0] == 3:
        step, stride, rows = array.strides[0], REPEAT, n
    elif array.ndim == 2 and array.shape[1] == 3:
        array, stride = _stride(array, keep)
        step, rows = array.strides[1], _same_rows(array.shape[0], n, name)
    else:
        raise ValueError(f"{name} has the shape {array.shape}; it must be (n, 3), three (n,), or (3,) for all")
    start = address(array)
    view.x, view.y, view.z = (cast(FLOAT_POINTER, start + i * step) for i in range(3))
    view.stride = stride
    return rows


def _three_columns(view, value, name, n, keep):
    columns = [as_array(column, name, F4) for column in value]
    rows = columns[0].shape[0]
    if any(column.shape[0] != rows for column in columns):
        raise ValueError(f"{name} has columns of {', '.join(str(len(column)) for column in columns)} numbers")
    if len({column.strides[0] for column in columns}) > 1 and rows > 1:
        columns = [np.ascontiguousarray(column) for column in columns]
    columns, strides = zip(*(_stride(column, keep) for column in columns))
    keep.extend(columns)
    view.x, view.y, view.z = (cast(FLOAT_POINTER, address(column)) for column in columns)
    view.stride = strides[0]
    return _same_rows(rows, n, name)


def scalars(view, value, name, n, keep):
    """(n,), or one number for all."""
    return _column(view, value, name, n, keep, F4, FLOATS, FLOAT_POINTER)


def uints(view, value, name, n, keep):
    """(n,) uint32, or one number for all."""
    return _column(view, value, name, n, keep, U4, UINTS, UINT_POINTER)


def _column(view, value, name, n, keep, dtype, items, pointer):
    if type(value) is ndarray and value.dtype is dtype and value.strides == DENSE:
        rows = len(value)
        if n is not None and n != rows:
            _same_rows(rows, n, name)
        view.data, view.stride = from_buffer(items, value), 4
        keep.append(value)
        return rows
    if hasattr(value, "_fill_column"):
        keep.append(value)
        return value._fill_column(view, name, n, dtype)
    array = as_array(value, name, dtype)
    keep.append(array)
    if array.ndim == 0:
        view.data, view.stride = cast(pointer, address(array)), REPEAT
        return n
    if array.ndim != 1:
        raise ValueError(f"{name} has the shape {array.shape}; it must be (n,), or one number for all")
    array, view.stride = _stride(array, keep)
    view.data = cast(pointer, address(array))
    return _same_rows(array.shape[0], n, name)


def integers(value, name):
    """Whole numbers of any dtype as uint32: indices of vertices."""
    array = np.asarray(value)
    if array.dtype == U4:
        return array
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{name} has the dtype {array.dtype}; it must be whole numbers")
    if array.size and (array.min() < 0 or array.max() > 0xFFFFFFFF):
        raise ValueError(f"{name} has a number outside 0 to 4294967295")
    return array.astype(U4)


# ---- answers ---------------------------------------------------------------------------------------------------------


def check_out(array, name, dtype, shape):
    """An array of the caller that is filled in place. One that cannot be is a ValueError: its answers would be lost."""
    is_numpy = isinstance(array, ndarray) and not isinstance(array, np.ma.MaskedArray)
    if not is_numpy and not hasattr(array, "_fill_output"):
        raise ValueError(f"out: {name} must be an array, not {type(array).__name__}")
    if array.dtype != dtype:
        raise ValueError(f"out: {name} has the dtype {array.dtype}, not {dtype}")
    if array.shape != shape:
        raise ValueError(f"out: {name} has the shape {array.shape}, not {shape}")
    if is_numpy and not array.flags.writeable:
        raise ValueError(f"out: {name} is read-only")


def fill_points(view, array, name):
    """`array` (..., 3) as the place of answers."""
    rows = array.reshape(-1, 3) if array.ndim > 2 else array
    if not np.may_share_memory(rows, array) and array.size:
        raise ValueError(f"out: the rows of {name} must lie evenly, one after the other")
    stride = rows.strides[0] if rows.shape[0] > 1 else 12
    if stride < 4:
        raise ValueError(f"out: rows of {name} must lie 4 bytes apart at least")
    start, step = address(rows), rows.strides[1]
    view.x, view.y, view.z = (cast(FLOAT_POINTER, start + i * step) for i in range(3))
    view.stride = stride


def fill_array(array, name, pointer):
    """The address of `array`, which must be dense."""
    if not array.flags.c_contiguous:
        raise ValueError(f"out: {name} must be contiguous")
    return cast(pointer, address(array))
