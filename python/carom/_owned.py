# SPDX-License-Identifier: MIT
"""Things that a context has made: they are destroyed in its turns, and cannot be copied."""
from ._carom import ffi


class Handle:
    """What stands for something of the library. A copy would destroy it a second time."""

    def __reduce_ex__(self, protocol):
        raise TypeError(f"a carom.{type(self).__name__} cannot be copied or pickled")


class Owned(Handle):
    """A mesh, scene or buffer. It is destroyed when nothing refers to it any more, or with its context.

    The library writes the handle into `_place`, which the object has before the call: a signal that arrives meanwhile
    ends the constructor, and the handle is not lost."""

    def _create(self, context, create, destroy, *arguments, do=None):
        """do: calls the function, if not in the usual way."""
        self._context, self._handle, self._destroy = context, ffi.NULL, destroy
        self._place = ffi.new(ffi.typeof(create).args[-2])
        (do or context._do)(create, context._handle, *arguments, self._place)
        self._handle = self._place[0]
        context._owned.add(self)

    def _release(self):
        """The handle, for who destroys it; NULL if there is none any more."""
        place = self.__dict__.get("_place")
        if place is None:
            return ffi.NULL
        handle, place[0] = place[0], ffi.NULL
        self._handle = ffi.NULL
        return handle

    def _hand_over(self):
        """The same, at the end of its context."""
        return self._release()

    def __del__(self):
        handle = self._release()
        if handle:
            self._context._destroy_later(self._destroy, handle)
