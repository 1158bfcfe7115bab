# SPDX-License-Identifier: MIT
"""OpenCL devices, as they describe themselves."""
from ._carom import ffi, lib
from ._error import check
from ._infos import Device


def device_of(info):
    def value(name):
        v = getattr(info, name)
        return ffi.string(v).decode(errors="replace") if isinstance(v, ffi.CData) else v

    return Device._make(map(value, Device._fields))


def devices() -> tuple[Device, ...]:
    """All OpenCL devices of this machine; their `index` serves carom.Context(device=)."""
    err, count = ffi.new("carom_error *"), ffi.new("uint32_t *")
    check(lib.carom_device_list(ffi.NULL, 0, count, err), err)
    if not count[0]:
        return ()
    infos = ffi.new("carom_device_info[]", count[0])
    infos[0].size = ffi.sizeof("carom_device_info")
    capacity = count[0]
    check(lib.carom_device_list(infos, capacity, count, err), err)
    return tuple(device_of(infos[i]) for i in range(min(capacity, count[0])))
