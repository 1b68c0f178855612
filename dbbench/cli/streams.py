"""Make standard output and error safe for a report: an ASCII terminal, a closed one, a pipe without a reader."""

import codecs
import io
import os
import sys
from typing import Any, TextIO

#: What stands for a character that a terminal doesn't have, in the same width: "?s" could be any unit.
_INSTEAD = str.maketrans({"×": "x", "µ": "u", "–": "-", "—": "-", "·": "-", "…": ".", "→": ">", "’": "'"})
_HANDLER = "dbbench.instead"


def _instead(exc: UnicodeError) -> tuple[str, int]:
    if not isinstance(exc, UnicodeEncodeError):
        raise exc
    text = exc.object[exc.start : exc.end].translate(_INSTEAD)
    return "".join(each if each.isascii() else "?" for each in text), exc.end


codecs.register_error(_HANDLER, _instead)


class _Patient(io.FileIO):
    """A descriptor whose reader may go away; what is written after that is dropped."""

    def write(self, data: Any, /) -> int:
        """Write like a file. On any fault the descriptor becomes that of the null device."""
        try:
            return super().write(data)
        except OSError as exc:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())
            os.close(null)
            if not isinstance(exc, BrokenPipeError) and self.fileno() != 2:
                os.write(2, f"dbbench: the output can't be written: {exc.strerror}\n".encode())
            return len(memoryview(data).cast("B"))


def settle() -> None:
    """Make this process's own output streams forgiving. Those that a test or a caller has put in their place stay."""
    while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:  # a closed one would be the next file that is opened
        pass
    os.close(spare)
    sys.stdout = _settled(sys.stdout, sys.__stdout__, 1)
    sys.stderr = _settled(sys.stderr, sys.__stderr__, 2)


def _settled(stream: TextIO | None, own: TextIO | None, descriptor: int) -> TextIO:
    if stream is not None:
        if stream is not own:
            return stream
        stream.flush()
    raw = _Patient(descriptor, "wb", closefd=False)
    encoding = "utf-8" if stream is None else stream.encoding
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors=_HANDLER, line_buffering=raw.isatty())
