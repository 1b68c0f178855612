"""What was committed since the last checkpoint: a record for each transaction, in a file that keeps its length.

The file is made of zeros beforehand, so that a sync brings data to the disk and nothing else. After a checkpoint, and
whenever it is opened, it is begun anew with another epoch; a record counts if it is whole, and of the epoch of the
first one. Epochs are random: if they were counted, a session that finds no record would not know which ones are used
up.
"""

import errno
import os
import secrets
import struct
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from zlib import crc32

from dbbench_plugins.blocks.file import short_write

#: Number of a block, and its bytes.
Block = tuple[int, bytes]

#: Checksum of all that follows, epoch, blocks.
_HEAD = struct.Struct("<IQI")
_NUMBER = struct.Struct("<Q")
_PIECE = 2**20


class Log:
    """An open log for blocks of `size` bytes. With `sync` a commit waits for the disk."""

    def __init__(self, path: Path, size: int, *, sync: bool) -> None:
        self.size, self.sync = size, sync
        self.descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self.length = os.fstat(self.descriptor).st_size
        self.epoch = secrets.randbits(64)
        #: How far it is written, and how far it is known to be on the disk; both count on over all epochs.
        self.end = self.synced = 0
        self.at = 0
        self.failed = False
        self._syncing = threading.Lock()

    @staticmethod
    def make(path: Path, length: int) -> None:
        """A log without records."""
        with path.open("wb", buffering=0) as file:
            for start in range(0, length, _PIECE):
                file.write(bytes(min(_PIECE, length - start)))
            os.fsync(file.fileno())

    def encoded(self, blocks: Sequence[Block]) -> bytes:
        """The record of a transaction."""
        parts = [_NUMBER.pack(number) + block for number, block in blocks]
        body = _HEAD.pack(0, self.epoch, len(blocks))[4:] + b"".join(parts)
        return crc32(body).to_bytes(4, "little") + body

    def has_room(self, record: bytes) -> bool:
        """Whether a record fits before the next checkpoint."""
        return self.at + len(record) <= self.length or not self.at

    def append(self, record: bytes) -> int:
        """Write a record at the end; what to wait for. Raises OSError, and then nothing was written that counts."""
        if os.pwrite(self.descriptor, record, self.at) != len(record):
            raise short_write()
        self.at += len(record)
        self.end += len(record)
        return self.end

    def wait(self, until: int) -> None:
        """Return when a record is on the disk. One sync serves all who have come meanwhile."""
        if not self.sync or self.synced >= until:
            return
        with self._syncing:
            if self.failed:  # another sync might succeed, though what this one should have written is lost
                raise OSError(errno.EIO, "the log could not be brought to the disk")
            if self.synced < until:
                end = self.end
                try:
                    os.fdatasync(self.descriptor)
                except OSError:
                    self.failed = True
                    raise
                self.synced = end

    def records(self) -> Iterator[list[Block]]:
        """The blocks of each transaction, from the first to the last whole one; `begin_anew` is due then."""
        data = self._all()
        each = _NUMBER.size + self.size
        start, first = 0, None
        while start + _HEAD.size <= len(data):
            checksum, epoch, count = _HEAD.unpack_from(data, start)
            end = start + _HEAD.size + count * each
            if not count or end > len(data) or first not in (None, epoch):
                break
            if crc32(memoryview(data)[start + 4 : end]) != checksum:
                break
            starts = range(start + _HEAD.size, end, each)
            yield [(_NUMBER.unpack_from(data, at)[0], data[at + _NUMBER.size : at + each]) for at in starts]
            start, first = end, epoch

    def begin_anew(self) -> None:
        """Everything in it is in its place: the first record no longer counts, and what comes next overwrites it."""
        os.pwrite(self.descriptor, bytes(_HEAD.size), 0)  # if that gets lost all is done again, to the same end
        self.epoch = secrets.randbits(64)
        self.at = 0

    def _all(self) -> bytes:
        parts: list[bytes] = []
        while part := os.pread(self.descriptor, _PIECE, len(parts) * _PIECE):
            parts.append(part)
        return b"".join(parts)

    def close(self) -> None:
        """Close it."""
        os.close(self.descriptor)
