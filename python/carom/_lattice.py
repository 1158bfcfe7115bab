# SPDX-License-Identifier: MIT
"""Lattices: nodes of a regular grid."""
import operator
from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray


class Lattice:
    """Node (i, j, k) is at (float)(origin + (first + index) * spacing), computed in binary64.

    origin : 3 numbers, where node (0, 0, 0) of the grid is
    spacing : between nodes, the same along x, y and z
    dims : nodes along x, y and z; of a drop map 2 numbers are enough
    first : the grid's number of node (0, 0, 0), to answer a large grid box by box
    """

    __slots__ = ("origin", "spacing", "dims", "first")

    def __init__(
        self, origin: Sequence[float], spacing: float, dims: Sequence[int], first: Sequence[int] = (0, 0, 0)
    ) -> None:
        origin, dims, first = (tuple(value) for value in (origin, dims, first))
        if len(dims) == 2:
            dims += (1,)
        if len(origin) == 2:
            origin += (0.0,)
        for name, value in (("origin", origin), ("dims", dims), ("first", first)):
            if len(value) != 3:
                raise ValueError(f"{name} must have 3 numbers, not {len(value)}")
        self.origin = tuple(map(float, origin))
        self.spacing = float(spacing)
        self.dims, self.first = tuple(map(operator.index, dims)), tuple(map(operator.index, first))
        if min(self.dims) < 0:
            raise ValueError(f"dims are {self.dims}; they must not be negative")

    @classmethod
    def around(cls, lower: Any, upper: Any, spacing: float, margin: float = 0.0) -> "Lattice":
        """The lattice that has a node at `lower` - margin and reaches `upper` + margin."""
        low, high = np.asarray(lower, "f8") - margin, np.asarray(upper, "f8") + margin
        if not (np.isfinite([low, high]).all() and (low <= high).all() and 0 < spacing < np.inf):
            raise ValueError(f"no lattice lies from {low} to {high} with a spacing of {spacing}")
        steps = np.ceil((high - low) / spacing)
        return cls(low, spacing, [int(step) + 1 for step in steps])

    def coordinates(self, axis: int) -> NDArray[np.float32]:
        """The coordinates of its nodes along an axis, (dims[axis],) float32, as calls compute them."""
        numbers = self.first[axis] + np.arange(self.dims[axis], dtype="f8")
        return (self.origin[axis] + numbers * self.spacing).astype("f4")

    def __repr__(self) -> str:
        return f"Lattice(origin={self.origin}, spacing={self.spacing}, dims={self.dims}, first={self.first})"


def _is_whole(value):
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def fill_lattice(view, lattice):
    if not isinstance(lattice, Lattice):
        raise TypeError("lattice must be a carom.Lattice")
    view.origin, view.spacing, view.dims, view.first = lattice.origin, lattice.spacing, lattice.dims, lattice.first


def pair_of(part, count, name):
    """(begin, end) within 0 and count."""
    if not (isinstance(part, (tuple, list)) and len(part) == 2 and all(map(_is_whole, part))):
        raise TypeError(f"{name} must be (begin, end), two whole numbers")
    begin, end = part
    if not 0 <= begin <= end <= count:
        raise ValueError(f"{name} must be (begin, end) within 0 and {count}")
    return begin, end


def slabs_of(batch, lattice, slabs, axis):
    """Set the part of the lattice that a call answers; the shape of its answers, slowest first."""
    count = lattice.dims[axis]
    begin, end = (0, count) if slabs is None else pair_of(slabs, count, "rows" if axis == 1 else "slabs")
    batch.begin, batch.count = begin, end
    return (end - begin,) + tuple(reversed(lattice.dims[:axis]))
