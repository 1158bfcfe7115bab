# SPDX-License-Identifier: MIT
"""Enumerators by their words: 'exact' for Accuracy.EXACT."""
from enum import IntEnum


class Word(IntEnum):
    """A number that prints as a word."""

    def __str__(self):
        return self.name.lower()


class _Words(dict):
    def __missing__(self, key):
        names = [name for name in self if isinstance(name, str)]
        raise ValueError(f"{key!r} is no {self.kind}; it must be one of {', '.join(names)}")


def words_of(enum):
    """A dict from the words, numbers and members of an enum to its numbers; what it does not know is a ValueError."""
    words = _Words({member.name.lower(): int(member) for member in enum})
    words.update({int(member): int(member) for member in enum})
    words.kind = enum.__name__
    return words
