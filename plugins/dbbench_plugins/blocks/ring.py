"""io_uring by the kernel's own interface: one ring, used by one thread. See io_uring(7); no library is needed.

The kernel takes requests and tells their ends within our own calls of io_uring_enter, so that there need be no
barriers but those that a system call is.
"""

import ctypes
import errno
import mmap
import os
import select
import struct
from collections.abc import Sequence

READ, WRITE = 22, 23
_SETUP, _ENTER = 425, 426  # the same on every architecture but Alpha
_GETEVENTS = 1
_OFF_RINGS, _OFF_REQUESTS = 0, 0x10000000
#: Opcode, flags, priority, descriptor, offset, address, length, flags of the call, our own number; then what is unused.
_REQUEST = struct.Struct("<BBHiQQIIQ24x")
#: Our own number, result, flags.
_END = struct.Struct("<QiI")
_WORD = struct.Struct("<I")
_PARAMETERS = struct.Struct("<30I")
#: Where in those the features and the offsets begin.
_FEATURES, _SQ, _CQ = 5, 10, 20
_MOST = 2**32 - 1  # of the kernel's counters, which then begin anew
_SINGLE_MMAP = 1  # since Linux 5.4; the opcodes came with 5.6


class Ring:
    """A ring of `entries` requests. Raises OSError where the kernel has none, or lets nobody have one."""

    def __init__(self, entries: int) -> None:
        self.call = ctypes.CDLL(None, use_errno=True).syscall
        self.call.restype = ctypes.c_long
        told = ctypes.create_string_buffer(_PARAMETERS.size)
        self.descriptor = self._checked(self.call(_SETUP, entries, told))
        words = _PARAMETERS.unpack(told)
        self.entries, ends = words[0], words[1]
        self._requests_tail, array = words[_SQ + 1], words[_SQ + 6]
        self._ends_head, self._ends_tail, self._ends_at = words[_CQ], words[_CQ + 1], words[_CQ + 5]
        self._mask = ends - 1
        try:
            self._checked(0 if words[_FEATURES] & _SINGLE_MMAP else -1)
            length = max(array + _WORD.size * self.entries, self._ends_at + _END.size * ends)
            self._rings = mmap.mmap(self.descriptor, length, offset=_OFF_RINGS)
            self._requests = mmap.mmap(self.descriptor, self.entries * _REQUEST.size, offset=_OFF_REQUESTS)
        except BaseException:
            os.close(self.descriptor)
            raise
        for slot in range(self.entries):  # what comes Nth is in slot N, always
            _WORD.pack_into(self._rings, array + _WORD.size * slot, slot)
        self._tail = self._head = self._queued = 0

    def transfer(self, code: int, descriptor: int, parts: Sequence[tuple[int, int, int]]) -> list[int]:
        """READ or WRITE parts (address, length, offset), up to `entries` of them, all at once; the bytes of each.

        Returns when all have ended. Raises OSError for one that failed.
        """
        for number, (address, length, offset) in enumerate(parts):
            slot = (self._tail + number) % self.entries * _REQUEST.size
            _REQUEST.pack_into(self._requests, slot, code, 0, 0, descriptor, offset, address, length, 0, number)
        self._tail = (self._tail + len(parts)) & _MOST
        _WORD.pack_into(self._rings, self._requests_tail, self._tail)
        left = len(parts)
        while left:  # a signal may come before all are taken
            left -= self._enter(left, left)
        done = [0] * len(parts)
        ended = 0
        while ended < len(parts):
            taken = self._take(done)
            ended += taken
            if not taken:
                self._enter(0, 1)
        if (least := min(done)) < 0:
            raise OSError(-least, os.strerror(-least))
        return done

    def one(self, code: int, descriptor: int, address: int, length: int, offset: int) -> int:
        """The same for a single part, without the lists."""
        slot = self._tail % self.entries * _REQUEST.size
        _REQUEST.pack_into(self._requests, slot, code, 0, 0, descriptor, offset, address, length, 0, 0)
        self._tail = (self._tail + 1) & _MOST
        _WORD.pack_into(self._rings, self._requests_tail, self._tail)
        while not self._enter(1, 1):
            pass
        while _WORD.unpack_from(self._rings, self._ends_tail)[0] == self._head:
            self._enter(0, 1)
        result: int = _END.unpack_from(self._rings, self._ends_at + (self._head & self._mask) * _END.size)[1]
        self._head = (self._head + 1) & _MOST
        _WORD.pack_into(self._rings, self._ends_head, self._head)
        if result < 0:
            raise OSError(-result, os.strerror(-result))
        return result

    def queue(self, code: int, descriptor: int, address: int, length: int, offset: int, number: int) -> None:
        """Add a single part under a number: submitted with others by the next `ends`, or when there is no room."""
        if self._queued == self.entries:
            self._queued -= self._enter(self._queued, 0)
        slot = self._tail % self.entries * _REQUEST.size
        _REQUEST.pack_into(self._requests, slot, code, 0, 0, descriptor, offset, address, length, 0, number)
        self._tail = (self._tail + 1) & _MOST
        _WORD.pack_into(self._rings, self._requests_tail, self._tail)
        self._queued += 1

    def ends(self, timeout: float | None) -> dict[int, int]:
        """Submit what is queued, and wait until something has ended, or some seconds: number -> bytes, or -errno."""
        self._queued -= self._enter(self._queued, 1 if timeout is None else 0)
        if timeout is not None:
            select.select([self.descriptor], [], [], timeout)
        found: dict[int, int] = {}
        self._take(found)
        return found

    def close(self) -> None:
        """Give it back; a second time does nothing."""
        if self.descriptor >= 0:
            self._requests.close()
            self._rings.close()
            os.close(self.descriptor)
            self.descriptor = -1

    def _enter(self, submit: int, wait: int) -> int:
        """Submit requests and wait for completions; returns how many were taken, 0 if a signal came first."""
        result: int = self.call(_ENTER, self.descriptor, submit, wait, _GETEVENTS, None, 0)
        if result < 0 and ctypes.get_errno() == errno.EINTR:
            return 0
        return self._checked(result)

    def _take(self, done: list[int] | dict[int, int]) -> int:
        """Put the results that are there in their places; how many they were."""
        tail: int
        (tail,) = _WORD.unpack_from(self._rings, self._ends_tail)
        taken = (tail - self._head) & _MOST
        for place in range(self._head, self._head + taken):
            number, result, _ = _END.unpack_from(self._rings, self._ends_at + (place & self._mask) * _END.size)
            done[number] = result
        self._head = tail
        _WORD.pack_into(self._rings, self._ends_head, tail)
        return taken

    @staticmethod
    def _checked(result: int) -> int:
        if result < 0:
            number = ctypes.get_errno() or errno.ENOSYS
            raise OSError(number, os.strerror(number))
        return int(result)
