# SPDX-License-Identifier: MIT
"""carom: batches of moving-sphere and triangle queries, the same bits on every backend.

    context = carom.Context()
    mesh = context.mesh(vertices, triangles)          # (n, 3) float32, (m, 3) integers
    hits = mesh.sweep_first(center, velocity, radius) # (k, 3), (k, 3), (k,) float32
    hits.triangle, hits.t, hits.point                 # arrays of k answers

Arrays are used where they lie if their rows are 0 or at least 4 bytes apart. Lengths, times and velocities are the
caller's units. docs/python.md has all calls in examples, docs/design.md what each answer means.
"""
from ._carom import ffi as _ffi, lib as _lib

# Each name twice: so type checkers take it for a public one.
from ._buffer import Buffer as Buffer, BufferArray as BufferArray
from ._calls import *  # the named tuples of results
from ._context import Context as Context
from ._devices import devices as devices
from ._enums import *
from ._error import Error as Error, InvalidArgument as InvalidArgument, OutOfMemory as OutOfMemory
from ._files import MeshFile as MeshFile, MeshPart as MeshPart, open_mesh as open_mesh, read as read, write as write
from ._job import Job as Job
from ._lattice import Lattice as Lattice
from ._match import ContactMatch as ContactMatch
from ._infos import Device as Device, DeviceShare as DeviceShare, MeshInfo as MeshInfo, Stats as Stats
from ._mesh import Mesh as Mesh, Scene as Scene

__version__ = _ffi.string(_lib.carom_version()).decode()
