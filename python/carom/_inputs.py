# SPDX-License-Identifier: MIT
"""Inputs that are more than an array: indices of pairs, a second cloud, an earlier list."""
import operator

import numpy as np

from . import _arrays
from ._arrays import new
from ._carom import ffi


def whole(value, name):
    """A whole number from 0 to 2^32 - 1."""
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {type(value).__name__}") from None
    if not 0 <= value < 1 << 32:
        raise ValueError(f"{name} is {value}; it must be 0 to 4294967295")
    return value


def number(value, name):
    try:
        return float(value)
    except TypeError:
        raise TypeError(f"{name} must be a number, not {type(value).__name__}") from None


def triple(value, name):
    """3 numbers."""
    numbers = np.asarray(value, "f4")
    if numbers.shape != (3,):
        raise ValueError(f"{name} must have 3 numbers, not {numbers.shape}")
    return tuple(map(float, numbers))


def pairs_of(view, indices, na, nb, keep):
    """Fill carom_pair_indices from (a, b); the number of pairs. Without indices both sides have a row for each."""
    if indices is None:
        if na is not None and nb is not None and na != nb:
            raise ValueError(f"{na} and {nb} rows make no pairs; give indices=(a, b)")
        return na if na is not None else nb
    if not isinstance(indices, (tuple, list)) or len(indices) != 2:
        raise TypeError("indices must be (a, b), an array of uint32 each")
    a, b = indices
    n = _arrays.uints(view.a, a, "indices[0]", None, keep)
    n = _arrays.uints(view.b, b, "indices[1]", n, keep)
    view.a_count, view.b_count = 1 if na is None else na, 1 if nb is None else nb
    return n


_AGAINST = {
    "center": _arrays.points,
    "velocity": _arrays.points,
    "radius": _arrays.scalars,
    "mask": _arrays.uints,
    "group": _arrays.uints,
    "t_max": _arrays.scalars,
}


def against_of(cloud, keep):
    """carom_cloud_against from a dict of its members."""
    if not isinstance(cloud, dict):
        raise TypeError("against must be a dict of center, radius and other arrays")
    unknown = [name for name in cloud if name not in _AGAINST]
    if unknown:
        raise ValueError(f"against has no {unknown[0]}; it has {', '.join(_AGAINST)}")
    for name in ("center", "radius"):
        if cloud.get(name) is None:
            raise ValueError(f"against needs {name}")
    c, n = new("carom_cloud_against *"), None
    for name, fill in _AGAINST.items():
        if cloud.get(name) is not None:
            n = fill(getattr(c, name), cloud[name], f"against['{name}']", n, keep)
    c.size, c.count = ffi.sizeof("carom_cloud_against"), 1 if n is None else n
    keep.append(c)
    return c


def before_of(pairs, keep):
    """carom_cloud_pairs_before from an earlier CloudPairList."""
    if getattr(pairs, "a", None) is None or getattr(pairs, "b", None) is None:
        raise TypeError("before must be an earlier list of pairs, with the columns a and b")
    c = new("carom_cloud_pairs_before *")
    c.size, c.count = ffi.sizeof("carom_cloud_pairs_before"), len(pairs.a)
    shapes = {"a": (c.count,), "b": (c.count,), "shift": (c.count, 3)}
    for name, dtype, items in (("a", "i4", "int32_t[]"), ("b", "i4", "int32_t[]"), ("shift", "i1", "int8_t[]")):
        value = getattr(pairs, name)
        if value is None and name == "shift":
            continue
        array = np.ascontiguousarray(_arrays.as_array(value, f"before.{name}", np.dtype(dtype)))
        if array.shape != shapes[name]:
            raise ValueError(f"before.{name} has the shape {array.shape}, and before.a has {c.count} rows")
        keep.append(array)
        setattr(c, name, _arrays.from_buffer(items, array))
    keep.append(c)
    return c
