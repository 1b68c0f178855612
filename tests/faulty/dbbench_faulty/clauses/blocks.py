"""Faults in blocks of a file."""

import os

from dbbench.engine import Size
from dbbench_faulty.right import BlockFile, Blocks
from dbbench_faulty.shared import CachesReads, CutsRanges, KeepsCursors, LocksProcesses, lying, mutant, refuse_threads


class WithoutReason(BlockFile):
    clause = "offers each operation or says why it can not"
    unsupported_reasons = {"delete": "a file has no way to"}


@mutant(BlockFile, "what was written is read")
class KeepsOld(Blocks):
    def put(self, number, block):
        if self.get(number) is None:
            super().put(number, block)


@mutant(BlockFile, "what was never written is not there")
class HolesAreBlocks(Blocks):
    def get(self, number):
        return os.pread(self.descriptor, self.size, number * self.size) or None


@mutant(BlockFile, "a file grows")
class FixedSize(Blocks):
    def put(self, number, block):
        if number < 300:
            super().put(number, block)


@mutant(BlockFile, "any bytes are kept")
class FirstByteZero(Blocks):
    def get(self, number):
        return (found := super().get(number)) and (found if found[0] else None)


@mutant(BlockFile, "a block of another size is refused")
class Pads(Blocks):
    def fits(self, block):
        return True

    def put(self, number, block):
        super().put(number, block[: self.size].ljust(self.size, b"\1"))


@mutant(BlockFile, "many are written at once")
class FirstStays(Blocks):
    def prepare_update_many(self):
        write = super().prepare_update_many()
        return lambda pairs: write(list(dict(reversed(pairs)).items()))

    prepare_insert_many = prepare_update_many


class RangesAbove(BlockFile):
    clause = "seeks and reads ranges"
    session_class = lying(
        Blocks, range=lambda read, key, count: read((int.from_bytes(key, "big") + 1).to_bytes(8, "big"), count)
    )


@mutant(BlockFile, "a scan read in part hinders no write")
class KeepsCursor(KeepsCursors, Blocks):
    def put(self, number, block):
        self.refuse_write()
        super().put(number, block)


class StartsAnew(BlockFile):
    clause = "records that were committed are there after reopening"

    def open(self):
        (self.directory / "blocks").unlink(missing_ok=True)
        super().open()


class Caches(BlockFile):
    clause = "sees what another session has committed"
    session_class = type("CachingBlocks", (CachesReads, Blocks), {})


@mutant(BlockFile, "serves records to threads as it says")
class OneThread(Blocks):
    def prepare_update_many(self):
        refuse_threads()
        return super().prepare_update_many()


class OneProcess(LocksProcesses, BlockFile):
    clause = "serves records to processes as it says"


class AnyKeys(BlockFile):
    clause = "refuses what is no block"

    def create_store(self, records):
        (self.directory / "size").write_text(str(records.value_bytes))


class NoSize(BlockFile):
    clause = "has a size"

    def size(self):
        return Size(())


class ClosedOnce(BlockFile):
    clause = "can be closed twice"

    def close(self):
        os.close(self.descriptor)


class ShortRanges(BlockFile):
    clause = "a whole trial is right"
    session_class = type("CuttingBlocks", (CutsRanges, Blocks), {"most": 6})
