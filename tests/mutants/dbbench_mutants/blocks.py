"""Faults in blocks of a file."""

import os

from dbbench_mutants.right import BlockFile, Blocks
from dbbench_mutants.shared import CachesReads, CutsRanges, KeepsCursors, LocksProcesses, refuse_threads

from dbbench.engine import Engine, Size


class WithoutReason(BlockFile):
    clause = "offers each operation or says why it can not"
    unsupported_reasons = {"delete": "a file has no way to"}


class UnknownDisk(BlockFile):
    clause = "tells what the disk is"

    def settings(self):
        return Engine.settings(self)


class KeepsOld(BlockFile):
    clause = "what was written is read"

    class session_class(Blocks):
        def put(self, number, block):
            if self.get(number) is None:
                super().put(number, block)


class HolesAreBlocks(BlockFile):
    clause = "what was never written is not there"

    class session_class(Blocks):
        def get(self, number):
            return os.pread(self.descriptor, self.size, number * self.size) or None


class FixedSize(BlockFile):
    clause = "a file grows"

    class session_class(Blocks):
        def put(self, number, block):
            if number < 300:
                super().put(number, block)


class FirstByteZero(BlockFile):
    clause = "any bytes are kept"

    class session_class(Blocks):
        def get(self, number):
            return (found := super().get(number)) and (found if found[0] else None)


class Pads(BlockFile):
    clause = "a block of another size is refused"

    class session_class(Blocks):
        def fits(self, block):
            return True

        def put(self, number, block):
            super().put(number, block[: self.size].ljust(self.size, b"\1"))


class FirstStays(BlockFile):
    clause = "many are written at once"

    class session_class(Blocks):
        def prepare_update_many(self):
            write = super().prepare_update_many()
            return lambda pairs: write(list(dict(reversed(pairs)).items()))

        prepare_insert_many = prepare_update_many


class RangesAbove(BlockFile):
    clause = "seeks and reads ranges"

    class session_class(Blocks):
        def prepare_range(self, *, snapshot=False):
            read = super().prepare_range()
            return lambda key, count: read((int.from_bytes(key, "big") + 1).to_bytes(8, "big"), count)


class KeepsCursor(BlockFile):
    clause = "a scan read in part hinders no write"

    class session_class(KeepsCursors, Blocks):
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


class OneThread(BlockFile):
    clause = "serves records to threads as it says"

    class session_class(Blocks):
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
    session_class = type("CuttingBlocks", (CutsRanges, Blocks), {})
