"""Blocks in pages, pages in a cache and in a file, and a log between the two.

A write goes into the log and into its page in the cache, and is committed when the log has it. A checkpoint brings
changed pages to their places: first all of them to a file of their own (the double write) and to the disk, then each to
its place, then the log begins anew. Whenever the process or the machine stops, opening finds each page whole in one of
the two files, and what was committed since in the log.
"""

import os
import struct
import sys
import threading
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from zlib import crc32

from dbbench_plugins.blocks.file import short_write
from dbbench_plugins.virtualfile.log import Block, Log
from dbbench_plugins.virtualfile.page import HEAD, Layout, checked, sealed

PAGES, LOG, DOUBLE = "pages", "log", "double"
#: Of the double write: checksum of what follows, how many pages that is.
_DOUBLE = struct.Struct("<IQ")
#: Pages written at a time.
_MANY = 128


class Broken(Exception):
    """A write failed before, so that nobody knows what a file holds: nothing more is done until it is opened anew."""


class Store:
    """An open store of blocks in a directory, as they are laid out, with a cache of `capacity` pages.

    Raises TornPage, when it is opened or read, for a page that is damaged and can't be repaired.
    """

    def __init__(self, directory: Path, layout: Layout, capacity: int, *, sync: bool) -> None:
        self.directory, self.layout, self.sync = directory, layout, sync
        self.capacity = sys.maxsize  # until all is recovered: a checkpoint in the middle would begin the log anew
        #: Pages by number, in the order they came, and the numbers of those that differ from the file's.
        self.cache: dict[int, memoryview] = {}
        self.changed: set[int] = set()
        self.checkpoints = 0
        self.broken = ""
        self.lock = threading.RLock()
        self.descriptor = os.open(directory / PAGES, os.O_RDWR | os.O_CLOEXEC)
        self.log = Log(directory / LOG, layout.size, sync=sync)
        try:
            self._recover()
        except BaseException:
            self._close_files()
            raise
        self.capacity = capacity

    @staticmethod
    def make(directory: Path, layout: Layout, blocks: int, log_bytes: int) -> None:
        """The files of an empty store, with space for `blocks` blocks."""
        pages = -(-blocks // layout.per_page)
        with (directory / PAGES).open("wb", buffering=0) as file:
            for _ in range(pages):
                file.write(bytes(layout.page_bytes))
            os.fsync(file.fileno())
        (directory / DOUBLE).touch()
        Log.make(directory / LOG, log_bytes)

    def page(self, number: int) -> memoryview:
        """A page from the cache, or else from the file."""
        found = self.cache.get(number)
        return self._fetched(number) if found is None else found

    def blocks(self, first: int) -> Iterator[Block]:
        """The blocks from a number on."""
        layout = self.layout
        for number in range(first // layout.per_page, self._pages()):
            page = self.page(number)
            bits = HEAD.unpack_from(page)[2]
            for block in range(max(number * layout.per_page, first), (number + 1) * layout.per_page):
                _, bit, at = layout.place(block)
                if bits & bit:
                    yield block, bytes(page[at : at + layout.size])

    def commit(self, blocks: Sequence[Block]) -> None:
        """Write some blocks, all or none of them; returns when they are as safe as the store makes them."""
        with self.lock:
            if self.broken:
                raise Broken(f"after {self.broken} the store has to be opened anew")
            pages = {number // self.layout.per_page: memoryview(b"") for number, _ in blocks}
            for number in pages:
                pages[number] = self.page(number)  # whatever is wrong with one, nothing was written yet
            record = self.log.encoded(blocks)
            if not self.log.has_room(record):
                self.checkpoint()
                record = self.log.encoded(blocks)  # the epoch is another one
            until = self.log.append(record)
            self.cache.update(pages)
            self._put(blocks)
        try:
            self.log.wait(until)
        except OSError as exc:
            self.broken = str(exc)
            raise

    def checkpoint(self) -> None:
        """Bring all changed pages to their places."""
        with self.lock:
            if not self.changed or self.broken:
                return
            pages = [(number, sealed(self.cache[number])) for number in sorted(self.changed)]
            self._write_double(pages)
            try:
                self._write_places(pages)
            except OSError as exc:
                self.broken = str(exc)
                raise
            self.log.begin_anew()
            self.changed.clear()
            self.checkpoints += 1
            os.truncate(self.directory / DOUBLE, 0)

    def close(self) -> None:
        """Checkpoint, and close all files."""
        try:
            self.checkpoint()
        finally:
            self._close_files()

    def _close_files(self) -> None:
        os.close(self.descriptor)
        self.log.close()

    def _pages(self) -> int:
        """How many there are in the file, or will be."""
        in_file = -(-os.fstat(self.descriptor).st_size // self.layout.page_bytes)
        with self.lock:
            return max(in_file, max(self.changed, default=-1) + 1)

    def _fetched(self, number: int) -> memoryview:
        before = self.checkpoints
        data = self._read(number)  # without the lock, so that several threads can wait for the disk
        with self.lock:
            if number in self.cache:
                return self.cache[number]
            if before != self.checkpoints:  # what was read may be older than what a checkpoint has written
                data = self._read(number)
            page = checked(data, number, f"the file {PAGES}", self.layout.page_bytes)
            self._make_room()
            self.cache[number] = page
            return page

    def _read(self, number: int) -> bytes:
        page_bytes = self.layout.page_bytes
        return os.pread(self.descriptor, page_bytes, number * page_bytes)

    def _make_room(self) -> None:
        """Drop pages that came first."""
        if len(self.cache) < self.capacity:
            return
        if len(self.changed) > self.capacity // 2:
            self.checkpoint()
        unchanged = (number for number in self.cache if number not in self.changed)
        for number in list(islice(unchanged, self.capacity // 16 + 1)):
            del self.cache[number]

    def _put(self, blocks: Sequence[Block]) -> None:
        """Into pages that are in the cache."""
        for block, data in blocks:
            number, bit, at = self.layout.place(block)
            self.layout.put(self.cache[number], bit, at, data)
            self.changed.add(number)

    def _recover(self) -> None:
        """Finish what a checkpoint left half done, then do again what was committed after it."""
        self._write_places(self._read_double())
        os.truncate(self.directory / DOUBLE, 0)
        for blocks in self.log.records():
            for block, _ in blocks:
                self.page(block // self.layout.per_page)
            self._put(blocks)
        self.checkpoint()

    def _write_double(self, pages: Sequence[tuple[int, bytes]]) -> None:
        data = b"".join(data for _, data in pages)
        body = _DOUBLE.pack(0, len(pages))[4:] + data
        with (self.directory / DOUBLE).open("wb", buffering=0) as file:
            rest = memoryview(crc32(body).to_bytes(4, "little") + body)
            while rest:
                rest = rest[file.write(rest) :]
            if self.sync:
                os.fsync(file.fileno())

    def _read_double(self) -> list[tuple[int, bytes]]:
        """The pages of a double write that came to its end; none of one that didn't: then no place was touched."""
        data = (self.directory / DOUBLE).read_bytes()
        if len(data) < _DOUBLE.size:
            return []
        checksum, count = _DOUBLE.unpack_from(data)
        page_bytes = self.layout.page_bytes
        if len(data) != _DOUBLE.size + count * page_bytes or crc32(memoryview(data)[4:]) != checksum:
            return []
        pages = [data[at : at + page_bytes] for at in range(_DOUBLE.size, len(data), page_bytes)]
        return [(HEAD.unpack_from(page)[1], page) for page in pages]

    def _write_places(self, pages: Sequence[tuple[int, bytes]]) -> None:
        """Each page to its place, neighbours together, and all to the disk."""
        at = 0
        while at < len(pages):
            first, end = pages[at][0], at + 1
            while end < len(pages) and end - at < _MANY and pages[end][0] == first + end - at:
                end += 1
            run = b"".join(data for _, data in pages[at:end])
            if os.pwrite(self.descriptor, run, first * self.layout.page_bytes) != len(run):
                raise short_write()
            at = end
        if pages and self.sync:
            os.fsync(self.descriptor)
