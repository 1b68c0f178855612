"""A child's standard output or error, stored in a file; of long output the first and last part."""

import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from dbbench.engine.urls import scrub

#: Bytes of the first part, and of the last.
PART = 500_000
_CHUNK = 1 << 16
#: The last part may grow to this before it is cut, which moves all that stays.
_MOST = 8 * PART
#: Whoever else has the pipe's end is killed by now.
_SECONDS = 5


class Output:
    """One stream of a child, which gets `writer`. Call `take` when it is started, and `finish` when it has ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reader, self.writer = os.pipe()
        self.head, self.tail, self.left_out = bytearray(), bytearray(), 0
        self.file = path.open("wb", buffering=0)
        self.thread = threading.Thread(target=self._take, daemon=True)

    def take(self) -> None:
        """Begin to take what the child prints, in a thread."""
        self.thread.start()

    def finish(self, hidden: Sequence[str]) -> None:
        """Write the file anew if that is needed: without secrets, and with the last part if the disk has room."""
        os.close(self.writer)
        self.thread.join(_SECONDS)
        head, tail = (_text(part, hidden) for part in (self.head, self.tail))
        if self.left_out:
            note = f"\n[{self.left_out:,} bytes were left out here]\n"
            head, tail = _whole(head, hidden), note + _whole(tail[::-1], [secret[::-1] for secret in hidden])[::-1]
        elif hidden:  # one may lie across both
            head, tail = _text(self.head + self.tail, hidden), ""
        if hidden or tail:
            with suppress(OSError):  # by then the file is empty
                self.path.write_text(head + tail, "utf-8")

    def _take(self) -> None:
        with self.file, os.fdopen(self.reader, "rb", buffering=0) as reader:
            while data := reader.read(_CHUNK):
                room = PART - len(self.head)
                self.head += data[:room]
                with suppress(OSError):  # the disk is full: no reason to let the child die of a pipe that nobody reads
                    self.file.write(data[:room])
                self.tail += data[room:]
                if len(self.tail) > _MOST:
                    self._shorten()
            self._shorten()

    def _shorten(self) -> None:
        excess = max(0, len(self.tail) - PART)
        del self.tail[:excess]
        self.left_out += excess


def _text(part: bytearray, hidden: Sequence[str]) -> str:
    return scrub(part.decode("utf-8", errors="replace"), hidden)


def _whole(text: str, hidden: Sequence[str]) -> str:
    """A text without the beginning of a secret at its end, where it was cut."""
    for secret in hidden:
        for length in range(len(secret) - 1, 0, -1):
            if text.endswith(secret[:length]):
                return _whole(text[:-length], hidden)
    return text
