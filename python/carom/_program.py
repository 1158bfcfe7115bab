# SPDX-License-Identifier: MIT
"""The program carom-files beside this module, started once for each file: numbers go through a pipe, and where a caller
has a progress function, it is called at least every 0.05 s, whatever the program waits for."""
import errno
import json
import os
import pathlib
import select
import signal
import subprocess
import tempfile
import time
import warnings
from contextlib import contextmanager

import numpy as np

from ._enums import Status
from ._error import Error, InvalidArgument, OutOfMemory
from ._watch import function_of

PROGRAM = pathlib.Path(__file__).parent / "carom-files"
PIPE = 1 << 20
EVERY = 0.05  # seconds between reports
REASONS = {os.strerror(number): number for number in errno.errorcode}  # before anyone chooses another language


class Progress:
    """Reports to a function of (done, count), or to none. `done` never falls."""

    def __init__(self, progress, count):
        self.function, self.count, self.done = function_of(progress), max(count, 1), 0
        self.next = time.monotonic() + EVERY

    def move(self, share):
        """So much is done, from 0 to 1."""
        self.done = max(self.done, min(int(share * self.count), self.count))
        self.show()

    def show(self):
        if self.function is not None and time.monotonic() >= self.next:
            self.function(self.done, self.count)
            self.next = time.monotonic() + EVERY

    def end(self):
        if self.function is not None:
            self.function(self.count, self.count)


class Program:
    """The program at work: `receive` has what it reads, `send` gives it what it writes."""

    def __init__(self, process, progress):
        self.process, self.progress = process, progress
        self.stream = process.stdin or process.stdout  # without buffers
        self.rest = b""  # read behind a head
        self.moved, self.total, self.base = 0, 0, 0.0
        self.poll = None
        if progress.function is not None:
            os.set_blocking(self.stream.fileno(), False)
            self.poll = select.poll()
            self.poll.register(self.stream, select.POLLOUT if process.stdin else select.POLLIN)

    def expect(self, total, base=0.0):
        """So many bytes are what is left of the work, of which a share is done."""
        self.moved, self.total, self.base = 0, total, base

    def _await(self):
        """Until the pipe has something, or room for something."""
        while self.poll is not None and not self.poll.poll(1000 * EVERY):
            self.progress.show()

    def _count(self, n):
        self.moved += n
        if self.total:
            self.progress.move(self.base + (1 - self.base) * self.moved / self.total)

    def receive_head(self, most=1.0):
        """The JSON object in front of the numbers. Those before it tell how much of a mesh file is parsed: of all the
        work the share `most`."""
        while True:
            while (end := self.rest.find(b"\0")) < 0:
                self._await()
                part = self.stream.read(PIPE)
                if part is None:
                    continue
                if not part:
                    raise EOFError
                self.rest += part
            head, self.rest = json.loads(self.rest[:end]), self.rest[end + 1 :]
            if "share" not in head:
                return head
            self.progress.move(most * head["share"])

    def receive(self, array):
        """Fill an array, and return it."""
        view = memoryview(array.reshape(-1).view("u1"))
        n = min(len(self.rest), len(view))
        view[:n], self.rest = self.rest[:n], self.rest[n:]
        self._count(n)
        while n < len(view):
            self._await()
            part = self.stream.readinto(view[n:])
            if part == 0:
                raise EOFError
            n += part or 0
            self._count(part or 0)
        return array

    def send(self, array):
        """All of it; blocks of what does not lie in one piece are copied."""
        if array.ndim > 1 and not array.flags.c_contiguous:
            for part in array:
                self.send(part)
            return
        view = memoryview(np.ascontiguousarray(array).reshape(-1)).cast("B")
        most = PIPE * 16 if self.poll is None else PIPE
        while len(view):
            self._await()
            n = self.stream.write(view[:most]) or 0
            view = view[n:]
            self._count(n)

    def finish(self):
        """It has all numbers, or has given them; until it has ended."""
        if self.poll is None:
            return
        self.stream.close()
        while True:
            try:
                return self.process.wait(EVERY)
            except subprocess.TimeoutExpired:
                self.progress.show()


@contextmanager
def run(*arguments, is_writing=False, progress=None, count=0):
    """Start the program for a `with` block, which reads or writes its numbers. An exception of the block ends it; what
    it could not do is an exception behind the block. progress, count: what reports go to, and what they count up to."""
    shown = Progress(progress, count)
    stream = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
    if is_writing:  # without a buffer, which would be written when the pipe is broken already
        stream = {"stdin": subprocess.PIPE}
    has_ended_early = False
    with tempfile.TemporaryFile() as messages:
        try:  # a process group of its own: Ctrl-C is for this process, which ends it
            process = subprocess.Popen(
                [PROGRAM, *arguments], stderr=messages, pipesize=PIPE, bufsize=0, process_group=0, **stream
            )
        except FileNotFoundError:
            raise Error(Status.ERROR_UNSUPPORTED, "this carom was built without its program carom-files") from None
        with process:
            try:
                program = Program(process, shown)
                yield program
                program.finish()
            except (BrokenPipeError, EOFError):
                has_ended_early = True  # its message says why
            except BaseException:
                _end(process)
                raise
        messages.seek(0)
        text = messages.read().decode(errors="replace")
    lines = [line.removeprefix("carom: ") for line in text.splitlines() if line.startswith("carom: ")]
    if process.returncode or has_ended_early:
        raise _error_of(process.returncode, lines, text.strip())
    shown.end()
    for line in lines:
        warnings.warn(line, stacklevel=5)


def _end(process):
    """It removes what it has begun to write."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()


def _error_of(status, lines, text):
    """The exception for an exit status of the command and its messages."""
    sentence = "\n".join(lines)
    if status < 0:
        return OSError(errno.EIO, f"carom-files was ended by {signal.Signals(-status).name}")
    if not lines:
        return Error(Status.ERROR_UNSUPPORTED, text or f"carom-files ended with status {status}")
    if lines[-1].startswith("out of memory"):
        return OutOfMemory(Status.ERROR_OUT_OF_MEMORY, sentence)
    reason = lines[-1].rpartition(": ")[2]
    if reason in REASONS:
        return OSError(REASONS[reason], sentence)
    return InvalidArgument(Status.ERROR_INVALID_ARGUMENT, sentence) if status == 2 else OSError(sentence)
