# SPDX-License-Identifier: MIT
"""Which contacts go on from one step to the next."""
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _arrays
from ._carom import ffi, lib


class ContactMatch(NamedTuple):
    """Which contacts go on, from Context.match."""

    previous: NDArray[np.int64]
    ended: NDArray[np.uint64]


def match(self, previous: Any, now: Any) -> ContactMatch:
    """Match the contacts of two steps, both from Mesh.contacts: those of the same sphere and patch, the nearest first.

    Returns
    -------
    ContactMatch(previous, ended)
        previous : (n,) int64: for each contact of `now` the same one in `previous`; -1: a new one
        ended : (k,) uint64: contacts of `previous` that are gone
    """
    keep = []
    before, after = (_records(contacts, name, keep) for contacts, name in ((previous, "previous"), (now, "now")))
    self._check_own(keep)
    found = np.empty(after.count, "i8")
    ended = np.empty(before.count, "u8")
    count, out = ffi.new("uint64_t *"), ffi.new("carom_contact_match *")
    out.size, out.ended_count = ffi.sizeof("carom_contact_match"), count
    out.previous, out.ended = _arrays.from_buffer("int64_t[]", found), _arrays.from_buffer("uint64_t[]", ended)
    self._do(lib.carom_contacts_match, self._open(), before, after, out)
    return ContactMatch(found, ended[: count[0]].copy())


def _records(contacts, name, keep):
    r = ffi.new("carom_contact_records *")
    r.size = ffi.sizeof("carom_contact_records")
    for member in ("query", "patch", "point"):
        if getattr(contacts, member, None) is None:
            raise ValueError(f"{name} needs the column {member}")
    query = np.ascontiguousarray(_arrays.as_array(contacts.query, "query", np.dtype("u8")))
    patch = np.ascontiguousarray(_arrays.as_array(contacts.patch, "patch", _arrays.U4))
    keep += [query, patch]
    r.count = query.size
    _check_rows(name, "query", query, r.count)
    _check_rows(name, "patch", patch, r.count)
    r.query, r.patch = _arrays.from_buffer("uint64_t[]", query), _arrays.from_buffer("uint32_t[]", patch)
    _arrays.points(r.point, contacts.point, "point", r.count, keep)
    instance = getattr(contacts, "instance", None)
    if instance is not None:
        instance = np.ascontiguousarray(_arrays.as_array(instance, "instance", np.dtype("i4")))
        _check_rows(name, "instance", instance, r.count)
        keep.append(instance)
        r.instance = _arrays.from_buffer("int32_t[]", instance)
    return r


def _check_rows(name, column, array, count):
    if array.shape != (count,):
        raise ValueError(f"{name}: {column} has the shape {array.shape}, and query has {count} rows")
