"""A page: a checksum of the rest, its number, which of its blocks were written, and the blocks.

A page of zeros was never written.
"""

import struct
from zlib import crc32

#: Of a page, unless another size is asked for.
PAGE_BYTES = 8_192
#: Checksum, number of the page, a bit for each block.
HEAD = struct.Struct("<IIQ")
#: Blocks of a page, at most: as many as there are bits.
MOST_BLOCKS = 64


class TornPage(Exception):
    """A page whose checksum is not that of what it holds: written in part, or damaged since."""


class Layout:
    """How blocks of `size` bytes lie in pages of `page_bytes`."""

    def __init__(self, size: int, page_bytes: int = PAGE_BYTES) -> None:
        self.size, self.page_bytes = size, page_bytes
        self.per_page = min((page_bytes - HEAD.size) // size, MOST_BLOCKS)

    def place(self, number: int) -> tuple[int, int, int]:
        """Page, the block's bit in it, and where in it the block begins."""
        page, slot = divmod(number, self.per_page)
        return page, 1 << slot, HEAD.size + slot * self.size

    def get(self, page: memoryview, bit: int, at: int) -> bytes | None:
        """A block of a page; None if it was never written."""
        return bytes(page[at : at + self.size]) if HEAD.unpack_from(page)[2] & bit else None

    def put(self, page: memoryview, bit: int, at: int, block: bytes) -> None:
        """Write a block into a page in memory."""
        page[at : at + self.size] = block
        checksum, number, bits = HEAD.unpack_from(page)
        if not bits & bit:
            HEAD.pack_into(page, 0, checksum, number, bits | bit)


def empty(number: int, page_bytes: int = PAGE_BYTES) -> memoryview:
    """A page without blocks."""
    page = memoryview(bytearray(page_bytes))
    HEAD.pack_into(page, 0, 0, number, 0)
    return page


def sealed(page: memoryview) -> bytes:
    """A page as it goes to a file: with its checksum."""
    copy = bytearray(page)
    copy[:4] = crc32(copy[4:]).to_bytes(4, "little")
    return bytes(copy)


def checked(data: bytes, number: int, where: str, page_bytes: int = PAGE_BYTES) -> memoryview:
    """A page as it came from a file. Raises TornPage if it isn't whole, or another one."""
    if not data or data == bytes(page_bytes):
        return empty(number, page_bytes)
    if len(data) == page_bytes:
        checksum, held, _ = HEAD.unpack_from(data)
        if held == number and checksum == crc32(memoryview(data)[4:]):
            return memoryview(bytearray(data))
    raise TornPage(f"page {number} of {where} is torn: its checksum is not that of what it holds")
