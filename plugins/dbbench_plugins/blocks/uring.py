"""A raw file past the system's cache by io_uring: blocks of a transaction, and of many clients, go together."""

import ctypes
import mmap
import os
from collections.abc import Callable, Iterable
from itertools import islice

from dbbench.engine import Session, SessionGroup, Unavailable
from dbbench_plugins.blocks.direct import RawFileDirect
from dbbench_plugins.blocks.file import PIECE, Blocks, BlockSession, Pair, runs, short_write
from dbbench_plugins.blocks.ring import READ, WRITE, Ring

#: Requests that a session has on their way at most.
DEPTH = 64
#: Requests that a group hands over at a time at most.
GROUP_DEPTH = 256


class Buffer:
    """Memory that begins on a page."""

    def __init__(self, length: int) -> None:
        self.memory = mmap.mmap(-1, max(length, mmap.PAGESIZE))
        self.view = memoryview(self.memory)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))


class RingSession(BlockSession):
    """One ring for a session; each prepared operation has a buffer of its own."""

    def __init__(self, blocks: Blocks) -> None:
        super().__init__(blocks, sync=False)
        self.ring = Ring(DEPTH)
        #: Transfers one part, and waits for its end; of a session of a group in its turn.
        self.one: Callable[[int, int, int, int, int], int] = self.ring.one

    def close(self) -> None:
        self.ring.close()

    def reader(self) -> Callable[[int, int], bytes]:
        one, descriptor, buffer = self.one, self.blocks.descriptor, Buffer(PIECE)
        view, address = buffer.view, buffer.address

        def read(length: int, offset: int) -> bytes:
            return bytes(view[: one(READ, descriptor, address, length, offset)])

        return read

    def writer(self, *, sync: bool = True) -> Callable[[int, bytes], None]:
        one, descriptor, buffer = self.one, self.blocks.descriptor, Buffer(PIECE)
        view, address = buffer.view, buffer.address

        def write(offset: int, data: bytes) -> None:
            length = len(data)
            view[:length] = data
            if one(WRITE, descriptor, address, length, offset) != length:
                raise short_write()

        return write

    def prepare_update_many(self) -> Callable[[list[Pair]], object]:
        """Runs of neighbours, many at once. One block twice in a transaction would be two writes in no order."""
        size, buffer, depth = self.blocks.size, Buffer(PIECE), self.ring.entries
        transfer, descriptor = self.ring.transfer, self.blocks.descriptor

        def write(parts: list[tuple[int, int, int]]) -> None:
            if parts and transfer(WRITE, descriptor, parts) != [length for _, length, _ in parts]:
                raise short_write()

        def update(pairs: list[Pair]) -> None:
            rest, room = iter(pairs), PIECE // size
            while some := dict(islice(rest, room)):  # the last value of each block
                parts: list[tuple[int, int, int]] = []
                filled = 0
                for offset, run in runs(some.items(), size):
                    buffer.view[filled : filled + len(run)] = run
                    parts.append((buffer.address + filled, len(run), offset))
                    filled += len(run)
                    if len(parts) == depth:
                        write(parts)
                        parts = []
                write(parts)

        return update


class RingGroup:
    """Sessions whose single blocks go out together through one ring; their transactions have a ring of their own."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._ring = Ring(GROUP_DEPTH)
        #: Of sessions that have not taken it yet: number -> bytes, or -errno.
        self._ended: dict[int, int] = {}
        self._count = 0

    def connect(self, wait: Callable[[], object]) -> RingSession:
        """A session with one part on its way at most."""
        queue, ended, number = self._ring.queue, self._ended, self._count

        def one(code: int, descriptor: int, address: int, length: int, offset: int) -> int:
            queue(code, descriptor, address, length, offset, number)
            wait()
            while number not in ended:
                wait()
            result = ended.pop(number)
            if result < 0:
                raise OSError(-result, os.strerror(-result))
            return result

        session = RingSession(self._blocks)
        session.one = one
        self._count += 1
        return session

    def ready(self, timeout: float | None) -> Iterable[int]:
        """Sessions whose parts have ended."""
        ended = self._ring.ends(timeout)
        self._ended.update(ended)
        return ended

    def close(self) -> None:
        """Give the ring back."""
        self._ring.close()


class IOUring(RawFileDirect):
    name = "io_uring"
    title = "raw file (io_uring, O_DIRECT, O_DSYNC)"
    session_class = RingSession
    unverified = "in CI, where its kernel gives io_uring"

    @classmethod
    def available(cls) -> None:
        super().available()
        try:
            Ring(1).close()
        except OSError as exc:
            raise Unavailable(f"this kernel gives no io_uring ({exc.strerror})") from exc

    def session(self, file: Blocks) -> Session:
        return RingSession(file)

    def group(self) -> SessionGroup | None:
        return None if self.file is None else RingGroup(self.file)
