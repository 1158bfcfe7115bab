# SPDX-License-Identifier: MIT
"""What a call that fails raises."""
from ._carom import ffi
from ._enums import Status


class Error(Exception):
    """A call has failed. `status` is a carom.Status, `sentence` says what, where and which limit."""

    def __init__(self, status, sentence):
        super().__init__(sentence)
        self.status, self.sentence = status, sentence

    def __reduce__(self):
        return type(self), (self.status, self.sentence)


class InvalidArgument(Error, ValueError):
    """An argument is wrong. Nothing was done."""


class OutOfMemory(Error, MemoryError):
    """Memory of the host or a device ran out."""


_KINDS = {Status.ERROR_INVALID_ARGUMENT: InvalidArgument, Status.ERROR_OUT_OF_MEMORY: OutOfMemory}


def error_of(status, err):
    """The exception for a status and the carom_error that came with it."""
    status, sentence = Status(status), ffi.string(err.message).decode(errors="replace")
    sentence = sentence.replace(": data must not be NULL", " must be given").replace(
        "must not be NULL", "must be given"
    )
    sentence = sentence.replace("must be NULL", "must not be asked for")
    sentence = sentence.replace("is NULL", "is missing")
    return _KINDS.get(status, Error)(status, sentence)


def check(status, err):
    if status:
        raise error_of(status, err)
