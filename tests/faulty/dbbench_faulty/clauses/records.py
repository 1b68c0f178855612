"""Faults in records under keys."""

from itertools import islice

from dbbench.engine import File, Size
from dbbench_faulty.right import Records, Store
from dbbench_faulty.shared import CachesReads, CutsRanges, KeepsCursors, LocksProcesses, lying, mutant, refuse_threads


class WithoutSeek(Store):
    clause = "offers each operation or says why it can not"
    session_class = type("NoSeek", (Records,), {"prepare_seek": None})


class ShortKeys(Store):
    clause = "says what a store is"
    longest_key = 8


class CutsValues(Store):
    clause = "what was inserted is read"
    session_class = lying(Records, read=lambda read, key: (found := read(key)) and found[:-1])


class EmptyForMissing(Store):
    clause = "a missing key gives none"
    session_class = lying(Records, read=lambda read, key: b"" if (found := read(key)) is None else found)


@mutant(Store, "an insert of a key that is there does what it says")
class Overwrites(Records):
    def prepare_insert(self):
        return lambda key, value: self.connection.execute("REPLACE INTO records VALUES (?, ?)", (key, value))


@mutant(Store, "an update replaces the value")
class LeavesTail(Records):
    def prepare_update(self):
        read, update = self.prepare_read(), super().prepare_update()
        return lambda key, value: update(key, value + (read(key) or b"")[len(value) :])


@mutant(Store, "a delete removes one record")
class DeletesNeighbour(Records):
    def prepare_delete(self):
        sql = "DELETE FROM records WHERE key IN (SELECT key FROM records WHERE key >= ? ORDER BY key LIMIT 2)"
        return lambda key: self.connection.execute(sql, (key,))


@mutant(Store, "a second delete changes nothing")
class DeletesNext(Records):
    def prepare_delete(self):
        sql = "DELETE FROM records WHERE key = (SELECT MIN(key) FROM records WHERE key >= ?)"
        return lambda key: self.connection.execute(sql, (key,))


class StripsKeys(Store):
    clause = "keys may hold any byte"
    session_class = lying(Records, read=lambda read, key: read(key.rstrip(b" ")))


class StripsValues(Store):
    clause = "values may hold any byte"
    session_class = lying(Records, insert=lambda insert, key, value: insert(key, value.rstrip(b" ")))


class NoneForEmpty(Store):
    clause = "a value may be empty"
    session_class = lying(Records, read=lambda read, key: read(key) or None)


class CutsLarge(Store):
    clause = "keeps a large value"
    session_class = lying(
        Records, insert_many=lambda insert, pairs: insert([pair and (pair[0], pair[1][:65_535]) for pair in pairs])
    )


class CutsKeys(Store):
    clause = "keeps the longest key"
    session_class = lying(Records, insert=lambda insert, key, value: insert(key[:255], value))


class ClaimsLimit(Store):
    clause = "longer keys and values are refused before the run"
    longest_key = 100


@mutant(Store, "a compaction changes no record")
class CompactsRecordsAway(Records):
    def prepare_compact(self, tables):
        sql = "DELETE FROM records WHERE key = (SELECT MAX(key) FROM records)"
        return lambda: self.connection.execute(sql)


class Unordered(Store):
    clause = "a scan is complete"
    session_class = lying(Records, scan=lambda scan: reversed(scan().fetchall()))


class LosesLast(Store):
    clause = "a scan is complete"
    session_class = lying(Records, scan=lambda scan: scan().fetchall()[:-1])


@mutant(Store, "a scan of an empty store ends")
class RaisesAtEnd(Records):
    def prepare_scan(self):
        def scan():
            found = self.connection.execute("SELECT * FROM records ORDER BY key").fetchall()
            return [found[0], *found[1:]]

        return scan


class OnePage(Store):
    clause = "a scan of more than one page is complete"
    session_class = lying(Records, scan=lambda scan: islice(scan(), 1000))


@mutant(Store, "a scan read in part hinders no write")
class KeepsCursor(KeepsCursors, Records):
    def prepare_update(self):
        update = super().prepare_update()

        def run(key, value):
            self.refuse_write()
            update(key, value)

        return run


@mutant(Store, "seeks a key or the next above it")
class SeeksAbove(Records):
    def prepare_seek(self, *, snapshot=False):
        sql = "SELECT * FROM records WHERE key > ? ORDER BY key LIMIT 1"
        return lambda key: self.connection.execute(sql, (key,)).fetchone()


@mutant(Store, "reads a range")
class RangesAbove(Records):
    def prepare_range(self, *, snapshot=False):
        sql = "SELECT * FROM records WHERE key > ? ORDER BY key LIMIT ?"
        return lambda key, count: self.connection.execute(sql, (key, count)).fetchall()


@mutant(Store, "many are inserted at once")
class ClearsFirst(Records):
    def prepare_insert_many(self):
        insert = super().prepare_insert_many()

        def run(pairs):
            self.connection.execute("DELETE FROM records")
            insert(pairs)

        return run


class UpdatesOne(Store):
    clause = "many are updated at once"
    session_class = lying(Records, update_many=lambda update, pairs: update(pairs[:1]))


class DeletesOne(Store):
    clause = "many are deleted at once"
    session_class = lying(Records, delete_many=lambda delete, keys: delete(keys[:1]))


@mutant(Store, "of many that fail in the middle nothing is there")
class NoTransaction(Records):
    def many(self, sql, values):
        self.connection.executemany(sql, values)


class StartsAnew(Store):
    clause = "records that were committed are there after reopening"

    def open(self):
        (self.directory / "data.db").unlink(missing_ok=True)
        super().open()


class Caches(Store):
    clause = "sees what another session has committed"
    session_class = type("CachingRecords", (CachesReads, Records), {})


@mutant(Store, "a snapshot has what was there before it")
class OldSnapshot(Records):
    known = None

    def prepare_read(self, *, snapshot=False):
        read = super().prepare_read()
        if not snapshot:
            return read
        if self.known is None:
            self.known = dict(self.connection.execute("SELECT * FROM records"))
        return self.known.get


@mutant(Store, "serves records to threads as it says")
class OneThread(Records):
    def prepare_insert(self):
        refuse_threads()
        return super().prepare_insert()


class OneProcess(LocksProcesses, Store):
    clause = "serves records to processes as it says"


class AbsoluteNames(Store):
    clause = "a store has a size"

    def size(self):
        return Size((File(str(self.directory / "data.db"), "data", 4096, 4096),))


class NothingButLog(Store):
    clause = "a store has a size"

    def file_role(self, name):
        return "reserved"


class ClosedOnce(Store):
    clause = "can be closed twice"
    closed = False

    def close(self):
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True


class ShortRanges(Store):
    clause = "a whole trial on records is right"
    session_class = type("CuttingRecords", (CutsRanges, Records), {})


class MixesAnswers(Store):
    clause = "each session of a group gets its own answers"

    def group(self):
        return OneAnswer(self)


class OneAnswer:
    """Its sessions share what they have asked for."""

    def __init__(self, engine):
        self.engine, self.waiting, self.sessions, self.asked = engine, [], 0, None

    def connect(self, wait):
        session, number = self.engine.connect(), self.sessions
        self.sessions += 1

        def prepare_read(*, snapshot=False):
            read = Records.prepare_read(session)

            def shared(key):
                self.asked = key
                self.waiting.append(number)
                wait()
                return read(self.asked)

            return shared

        session.prepare_read = prepare_read
        return session

    def ready(self, timeout):
        ready, self.waiting = self.waiting, []
        return ready

    def close(self):
        pass
