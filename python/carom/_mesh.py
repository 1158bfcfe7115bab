# SPDX-License-Identifier: MIT
"""Meshes, and scenes of their instances."""
from functools import partial
from typing import TYPE_CHECKING, Any, Iterable, Literal

import numpy as np
from numpy.typing import NDArray

from . import _arrays
from ._arrays import Points, Uints
from ._calls import MeshCalls, SceneCalls
from ._carom import ffi, lib
from ._enums import MeshFollow
from ._infos import MeshInfo
from ._owned import Owned
from ._watch import PROGRESS
from ._words import words_of

if TYPE_CHECKING:
    from ._context import Context

FOLLOWS = words_of(MeshFollow)


def _info(self) -> MeshInfo:
    info = ffi.new("carom_mesh_info *", {"size": ffi.sizeof("carom_mesh_info")})
    self._context._do(lib.carom_mesh_get_info, self._handle, info)
    return MeshInfo._make(
        tuple(v) if isinstance(v, ffi.CData) else v for v in (getattr(info, n) for n in MeshInfo._fields)
    )


def _repr(self):
    if not self._context._handle:
        return f"<carom.{type(self).__name__} of a closed context>"
    info = self.info
    return f"<carom.{type(self).__name__}, {info.triangle_count} triangles from {info.lower} to {info.upper}>"


class Mesh(Owned, MeshCalls):
    """Triangles, from Context.mesh. It is destroyed when nothing refers to it any more."""

    def __init__(
        self,
        context: "Context",
        vertices: Points,
        triangles: Any = None,
        masks: Uints | None = None,
        patches: Uints | None = None,
        *,
        progress: Any = None,
    ) -> None:
        if not hasattr(context, "_do"):
            raise TypeError("a mesh belongs to a context; make it by carom.Context().mesh(vertices, triangles)")
        keep, d = [], ffi.new("carom_mesh_desc *")
        d.size = ffi.sizeof("carom_mesh_desc")
        rows = _arrays.points(d.vertices, _soup(vertices), "vertices", None, keep)
        if rows is None:
            raise ValueError("vertices is one point; it must be (n, 3)")
        d.vertex_count = rows
        if triangles is None:
            if d.vertex_count % 3:
                raise ValueError(f"without triangles the vertices are three for each, and there are {d.vertex_count}")
            count = d.vertex_count // 3
        else:
            corners = np.ascontiguousarray(_arrays.integers(triangles, "triangles"))
            if corners.ndim != 2 or corners.shape[1] != 3:
                if corners.size:
                    raise ValueError(f"triangles has the shape {corners.shape}; it must be (m, 3)")
                corners = corners.reshape(0, 3)
            count = corners.shape[0]
            if count:
                _arrays.uints(d.indices, corners.reshape(-1), "triangles", None, keep)
            keep.append(corners)
        d.triangle_count, self._vertex_count = count, d.vertex_count
        for view, value, name in ((d.masks, masks, "masks"), (d.patches, patches, "patches")):
            if value is not None:
                _arrays.uints(view, value, name, count, keep)
        context._check_own(keep)
        d.progress.fn, d.progress.user = PROGRESS, context._watch.pointer
        do = partial(context._do_watched, progress)
        self._create(context, lib.carom_mesh_create, lib.carom_mesh_destroy, d, do=do)

    @classmethod
    def _of_image(cls, context, image):
        data = np.frombuffer(image, "u1")
        if _arrays.address(data) % 64:
            room = np.empty(len(data) + 63, "u1")
            start = -_arrays.address(room) % 64
            room[start : start + len(data)] = data
            data = room[start : start + len(data)]
        self = cls.__new__(cls)
        self._image, self._vertex_count = data, None  # the mesh reads it where it lies
        place = ffi.cast("void *", _arrays.address(data))
        self._create(context, lib.carom_mesh_open_image, lib.carom_mesh_destroy, place, len(data))
        return self

    def update(self, vertices: Points, follow: Literal["auto", "refit", "rebuild"] | MeshFollow = "auto") -> None:
        """Move the vertices; triangles stay. follow: 'auto', 'refit' or 'rebuild' of the hierarchy."""
        keep, view = [], ffi.new("carom_points *")
        self._fill(view, vertices, keep)
        self._context._check_own(keep)
        self._context._do(lib.carom_mesh_update, self._handle, view, FOLLOWS[follow])

    def _fill(self, view, vertices, keep):
        n = _arrays.points(view, _soup(vertices), "vertices", None, keep)
        expected = self._vertex_count
        if expected is not None and n != expected:  # an image refuses
            raise ValueError(f"vertices has {n} rows, and the mesh has {expected} vertices")

    def set_masks(self, masks: Uints | None) -> None:
        """Give the triangles other masks: (m,) uint32; None: all bits are set."""
        keep, view = [], ffi.new("carom_uints *")
        if masks is not None:
            _arrays.uints(view, masks, "masks", self.info.triangle_count, keep)
        self._context._check_own(keep)
        self._context._do(lib.carom_mesh_set_masks, self._handle, view)

    def image(self) -> NDArray[np.uint8]:
        """The mesh with its hierarchy as bytes that other processes can open: Context.open_image."""
        size = ffi.new("uint64_t *")
        self._context._do(lib.carom_mesh_get_image, self._handle, ffi.NULL, 0, size)
        image = np.empty(size[0], "u1")
        place = ffi.cast("void *", _arrays.address(image))
        self._context._do(lib.carom_mesh_get_image, self._handle, place, size[0], size)
        return image

    @property
    def info(self) -> MeshInfo:
        """Counts, bytes, bounds and cost of the hierarchy."""
        return _info(self)

    __repr__ = _repr


def _soup(vertices):
    """(m, 3, 3): corners of triangles, as rows."""
    return vertices.reshape(-1, 3) if getattr(vertices, "ndim", 2) == 3 else vertices


class Scene(Owned, SceneCalls):
    """Many instances of meshes, each with an affine map of its own, that queries see as one mesh.

    instances : a list of (mesh, matrix) or (mesh, matrix, mask). A matrix has 3 rows of 4 float32, or a 4th row of
        0 0 0 1; None: not moved.
    velocity : (n, 3) float32, of the instances during a sweep
    `instance` and `triangle` of a result say what was met.
    """

    def __init__(self, context: "Context", instances: Iterable[Any], velocity: Points | None = None) -> None:
        instances = [tuple(i) if isinstance(i, (tuple, list)) else (i,) for i in instances]
        numbers, meshes = {}, []
        for i, instance in enumerate(instances):
            if not 1 <= len(instance) <= 3 or not isinstance(instance[0], Mesh):
                raise TypeError(f"instance {i} must be (mesh, matrix) or (mesh, matrix, mask)")
            if instance[0] not in numbers:
                numbers[instance[0]] = len(meshes)
                meshes.append(instance[0])
        handles = ffi.new("carom_mesh *[]", [mesh._handle for mesh in meshes])
        which = np.array([numbers[instance[0]] for instance in instances], "u4")
        d, keep = ffi.new("carom_scene_desc *"), [which]
        d.size, d.meshes, d.mesh_count = ffi.sizeof("carom_scene_desc"), handles, len(meshes)
        d.instance_count = self._count = len(instances)
        if instances:
            _arrays.uints(d.mesh, which, "mesh", None, keep)
            maps = [instance[1] if len(instance) > 1 else None for instance in instances]
            masks = [instance[2] if len(instance) > 2 else 0xFFFFFFFF for instance in instances]
            self._fill(d.pose, maps, masks if any(len(i) > 2 for i in instances) else None, velocity, keep)
        else:
            d.pose.size = ffi.sizeof("carom_scene_pose")
        context._check_own(keep)
        self._meshes = meshes
        self._create(context, lib.carom_scene_create, lib.carom_scene_destroy, d)
        self._handle = lib.carom_scene_mesh(self._place[0])

    def _fill(self, pose, matrices, masks, velocity, keep):
        maps = _maps(matrices, self._count)
        pose.size, pose.map, pose.map_stride = ffi.sizeof("carom_scene_pose"), _arrays.from_buffer("float[]", maps), 48
        keep.append(maps)
        if masks is not None:
            _arrays.uints(pose.masks, masks, "masks", self._count, keep)
        if velocity is not None:
            _arrays.points(pose.velocity, velocity, "velocity", self._count, keep)

    def update(self, matrices: Any, masks: Uints | None = None, velocity: Points | None = None) -> None:
        """Give all instances other matrices, (n, 3, 4) float32 or a list of them, masks, and velocities, (n, 3)."""
        keep, pose = [], ffi.new("carom_scene_pose *")
        pose.size = ffi.sizeof("carom_scene_pose")
        if self._count:
            self._fill(pose, matrices, masks, velocity, keep)
        self._context._check_own(keep)
        self._context._do(lib.carom_scene_update, self._place[0], pose)

    @property
    def info(self) -> MeshInfo:
        """Counts, bytes, bounds and cost of the hierarchy."""
        return _info(self)

    __repr__ = _repr

    def __len__(self) -> int:
        return self._count


def _maps(matrices, count):
    """Matrices as (count, 3, 4) float32."""
    if isinstance(matrices, np.ndarray):
        given = _arrays.as_array(matrices, "matrices", _arrays.F4)
        if given.ndim == 3 and given.shape[0] != count:
            raise ValueError(f"there are {given.shape[0]} matrices for {count} instances")
    else:
        given = list(matrices)
    if len(given) != count:
        raise ValueError(f"there are {len(given)} matrices for {count} instances")
    maps = np.empty((count, 3, 4), "f4")
    for i, matrix in enumerate(given):
        m = np.eye(3, 4, dtype="f4") if matrix is None else _binary32(matrix, i)
        if m.shape == (4, 4) and np.array_equal(m[3], (0, 0, 0, 1)):
            m = m[:3]
        if m.shape != (3, 4):
            raise ValueError(f"matrix {i} must have 3 rows of 4 numbers, or a 4th of 0 0 0 1")
        maps[i] = m
    return maps


def _binary32(matrix, i):
    """A matrix as float32. NumPy makes float64 of most matrices: those that lose nothing are taken."""
    if isinstance(matrix, np.ndarray) and matrix.dtype == np.float64:
        with np.errstate(over="ignore"):
            rounded = matrix.astype("f4")
        if not np.array_equal(rounded, matrix):
            raise TypeError(f"matrix {i} has numbers that float32 does not have; round them: matrix.astype('float32')")
        return rounded
    return _arrays.as_array(matrix, f"matrix {i}", _arrays.F4)
