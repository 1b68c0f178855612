"""A few right engines, as short as an author would write them. Most of the others are one of these with one fault."""

import os
import pickle
import platform
import sqlite3
from functools import cache
from itertools import count, islice

import numpy as np

from dbbench.engine import (
    Concurrency,
    Dialect,
    Engine,
    File,
    Knob,
    Options,
    Publication,
    Session,
    Size,
    SQLEngine,
    SQLSession,
    Tier,
    Unsupported,
    WithoutRecords,
    disk,
)
from dbbench_faulty.family import Named

DURABILITY = {Tier.POWER: {"synchronous": 2}, Tier.PROCESS: {"synchronous": 0}}


class SQLiteFile(Engine):
    """What the engines over one file of SQLite share."""

    license = "public domain"
    publication = Publication.ALLOWED
    options_class = Options
    durability = DURABILITY
    concurrency = Concurrency(threads=None, processes=None)

    @classmethod
    def versions(cls):
        return {"SQLite": sqlite3.sqlite_version}

    def connection(self):
        made = sqlite3.connect(self.directory / "data.db", isolation_level=None, timeout=60, check_same_thread=False)
        made.execute("PRAGMA journal_mode = WAL").fetchall()
        made.execute(f"PRAGMA synchronous = {self.durability[self.tier]['synchronous']}")
        return made


class Client(WithoutRecords, SQLSession):
    bind = {"decimal": "float", "datetime": "text", "date": "text"}

    def retry_reason(self, exc):
        return "locked table" if "locked" in str(exc) else None


class Table(Named, SQLiteFile, SQLEngine):
    name = "right-sql"
    title = "Right: SQL"
    dialect = "sqlite"
    session_class = Client
    sql = Dialect(
        compact="VACUUM",
        read_only=("PRAGMA query_only = 1", "PRAGMA query_only = 0"),
        indexed="SELECT i.name FROM pragma_index_list('{0}') AS l, pragma_index_info(l.name) AS i WHERE i.seqno = 0",
    )
    sync_queries = {"synchronous": "SELECT synchronous FROM pragma_synchronous"}

    def connect(self):
        return self.session_class(self.connection(), self.sql)


class Records(Session):
    def __init__(self, connection):
        self.connection = connection

    def prepare_insert(self):
        return lambda key, value: self.connection.execute("INSERT INTO records VALUES (?, ?)", (key, value))

    def prepare_update(self):
        return lambda key, value: self.connection.execute("UPDATE records SET value = ? WHERE key = ?", (value, key))

    def prepare_delete(self):
        return lambda key: self.connection.execute("DELETE FROM records WHERE key = ?", (key,))

    def prepare_read(self, *, snapshot=False):
        def read(key):
            found = self.connection.execute("SELECT value FROM records WHERE key = ?", (key,)).fetchone()
            return found and found[0]

        return read

    def prepare_seek(self, *, snapshot=False):
        at = Records.prepare_range(self)
        return lambda key: next(iter(at(key, 1)), None)

    def prepare_range(self, *, snapshot=False):
        query = "SELECT * FROM records WHERE key >= ? ORDER BY key LIMIT ?"
        return lambda key, count: self.connection.execute(query, (key, count)).fetchall()

    def prepare_scan(self):
        return lambda: self.connection.execute("SELECT * FROM records ORDER BY key")

    def prepare_insert_many(self):
        return lambda pairs: self.many("INSERT INTO records VALUES (?, ?)", pairs)

    def prepare_update_many(self):
        return lambda pairs: self.many("UPDATE records SET value = ?2 WHERE key = ?1", pairs)

    def prepare_delete_many(self):
        return lambda keys: self.many("DELETE FROM records WHERE key = ?", [(key,) for key in keys])

    def prepare_compact(self, tables):
        return lambda: self.connection.execute("VACUUM")

    def many(self, sql, values):
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.executemany(sql, values)
        self.connection.execute("COMMIT")

    def close(self):
        self.connection.close()


class Store(Named, SQLiteFile):
    name = "right-records"
    title = "Right: records"
    session_class = Records
    duplicates = "refused"

    def open(self):
        made = self.connection()
        made.execute("CREATE TABLE IF NOT EXISTS records (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
        made.close()

    def connect(self):
        return self.session_class(self.connection())


class ReadOnly(Client):
    prepare_statement = None


class OneWriter:
    """A second session, while the first is open, only reads: no more is promised of one. Its log is elsewhere."""

    concurrency = Concurrency()
    first = None

    def connect(self):
        session = super().connect()
        try:
            assert self.first.total_changes >= 0
        except (AttributeError, sqlite3.ProgrammingError):  # it is closed
            self.first = session.connection
        else:
            session.connection.execute("PRAGMA query_only = 1")
        return session

    def size(self):
        return Size((*super().size().files, File("/var/log/elsewhere", "other", 0, 0)))


class OneWriterOfTables(OneWriter, Table):
    name = "right-sql-one-writer"
    title = "Right: SQL, one writer"


class OneWriterOfRecords(OneWriter, Store):
    name = "right-records-one-writer"
    title = "Right: records, one writer"


class WithoutStatements(Table):
    """Reads only, once it is loaded."""

    name = "right-read-only"
    title = "Right: reads only"
    session_class = ReadOnly
    unsupported_reasons = {"statement": "it reads only"}


class Append(Client):
    def prepare_statement(self, sql):
        if sql.startswith(("DELETE", "UPDATE")):
            raise Unsupported("it only adds rows")
        return super().prepare_statement(sql)

    def prepare_call(self, sql, rows=None):
        if sql.startswith(("DELETE", "UPDATE")):
            raise Unsupported("it only adds rows")
        return super().prepare_call(sql, rows)


class WithoutDeletes(Table):
    name = "right-append"
    title = "Right: adds rows only"
    session_class = Append


class Kept(Records):
    prepare_delete = prepare_delete_many = prepare_update_many = prepare_insert_many = None


class FewOperations(Store):
    name = "right-few"
    title = "Right: without deletes and transactions"
    session_class = Kept
    unsupported_reasons = dict.fromkeys(("delete", "delete_many", "update_many", "insert_many"), "a log only grows")


class InMemory(Store):
    """One database for all sessions, which the process takes with it."""

    name = "right-memory"
    title = "Right: in memory"
    durability = {Tier.MEMORY: {"synchronous": 0}}
    concurrency = Concurrency()
    # Not `id(self)`: a later engine may have the id of one whose sessions a traceback still keeps open.
    numbers = count()

    def connection(self):
        return sqlite3.connect(self.uri, isolation_level=None, uri=True)

    def open(self):
        self.uri = f"file:kit-{os.getpid()}-{next(self.numbers)}?mode=memory&cache=shared"
        self.kept = self.connection()
        self.kept.execute("CREATE TABLE records (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")

    def size(self):
        raise Unsupported("it keeps nothing on disk")

    def close(self):
        self.kept.close()


class Blocks(Session):
    """Blocks of a file. One of zeros is one that nobody wrote."""

    def __init__(self, descriptor, size, sync):
        self.descriptor, self.size, self.sync = descriptor, size, sync

    def get(self, number):
        block = os.pread(self.descriptor, self.size, number * self.size)
        return block if block.strip(b"\0") else None

    def put(self, number, block):
        os.pwrite(self.descriptor, block, number * self.size)

    def fits(self, block):
        return len(block) == self.size

    def pairs_from(self, key):
        for number in range(int.from_bytes(key, "big"), os.fstat(self.descriptor).st_size // self.size):
            if (block := self.get(number)) is not None:
                yield number.to_bytes(8, "big"), block

    def prepare_update_many(self):
        def write(pairs):
            if not all(self.fits(block) for _, block in pairs):
                raise ValueError(f"a block has {self.size} bytes")
            for key, block in pairs:
                self.put(int.from_bytes(key, "big"), block)
            if self.sync:
                os.fsync(self.descriptor)

        return write

    prepare_insert_many = prepare_update_many

    def prepare_update(self):
        write = self.prepare_update_many()
        return lambda key, block: write([(key, block)])

    prepare_insert = prepare_update

    def prepare_read(self, *, snapshot=False):
        return lambda key: self.get(int.from_bytes(key, "big"))

    def prepare_seek(self, *, snapshot=False):
        return lambda key: next(self.pairs_from(key), None)

    def prepare_range(self, *, snapshot=False):
        return lambda key, count: list(islice(self.pairs_from(key), count))

    def prepare_scan(self):
        return lambda: self.pairs_from(bytes(8))


class BlockFile(Named, Engine):
    name = "right-blocks"
    title = "Right: blocks"
    license = "public domain"
    publication = Publication.ALLOWED
    session_class = Blocks
    durability = {Tier.POWER: {"sync": True}, Tier.PROCESS: {"sync": False}}
    concurrency = Concurrency(threads=None, processes=None)
    blocks = True
    missing_features = {"transactions": "each block is written by itself"}
    unsupported_reasons = dict.fromkeys(("delete", "delete_many"), "a file has no way to")
    descriptor = None

    @classmethod
    def versions(cls):
        return {"Python": platform.python_version()}

    def open(self):
        self.descriptor = os.open(self.directory / "blocks", os.O_RDWR | os.O_CREAT, 0o600)

    def create_store(self, records):
        if records.key_bytes != 8 or records.key_order != "ascending":
            raise Unsupported("it needs the numbers of blocks for keys")
        (self.directory / "size").write_text(str(records.value_bytes))

    def connect(self):
        size = self.directory / "size"
        sync = self.durability[self.tier]["sync"]
        return self.session_class(self.descriptor, int(size.read_text()) if size.exists() else 0, sync)

    def settings(self):
        return {**super().settings(), "disk": disk(self.directory)}

    def close(self):
        if self.descriptor is not None:
            os.close(self.descriptor)
        self.descriptor = None


class Strict(Blocks):
    """Refuses all that the contract doesn't promise, in its own words; its pairs are lists."""

    def writes(self, *, exist):
        write = Blocks.prepare_update_many(self)

        def checked(pairs):
            there = [self.prepare_read()(key) is not None for key, _ in pairs]
            if not all(there) if exist else any(there) or len(dict(pairs)) < len(pairs):
                raise KeyError("a block that exists, or doesn't")
            write(pairs)

        return checked

    def prepare_insert_many(self):
        return self.writes(exist=False)

    def prepare_update_many(self):
        return self.writes(exist=True)

    def prepare_insert(self):
        write = self.prepare_insert_many()
        return lambda key, block: write([(key, block)])

    def fits(self, block):
        return len(block) == self.size or 1 // 0

    def pairs_from(self, key):
        return map(list, super().pairs_from(key))


class StrictFile(BlockFile):
    name = "right-strict-blocks"
    title = "Right: blocks, and no more than it must"
    session_class = Strict
    duplicates = "refused"
    settings = Engine.settings

    def create_store(self, records):
        try:
            super().create_store(records)
        except Unsupported:
            raise Unsupported("no") from None


class VectorClient(Session):
    def __init__(self, engine):
        self.engine = engine

    def prepare_add(self):
        return lambda *given: self.engine.held.append(given)

    def prepare_index(self):
        return {"indexes": self.engine.index, "commit": self.engine.save}

    def prepare_append(self):
        return self.engine.append

    def prepare_remove(self):
        return self.engine.remove

    def prepare_nearest(self, k, *, where, effort):
        return lambda vector: self.engine.nearest(vector, k, where, effort or CELLS)


class Searched(Engine):
    """What engines share that hold all in memory, and save it in one file unless memory is all that is asked for."""

    license = "public domain"
    publication = Publication.ALLOWED
    concurrency = Concurrency(threads=None)
    durability = {Tier.PROCESS: {}, Tier.MEMORY: {}}

    @classmethod
    def versions(cls):
        return {"Python": platform.python_version()}

    @property
    def file(self):
        return self.directory / "all"

    def connect(self):
        return self.session_class(self)

    def save(self):
        if self.tier is Tier.PROCESS:
            self.write()


CELLS = 64


class VectorFile(Named, Searched):
    """The nearest of the vectors in those cells whose centres are nearest."""

    name = "right-vectors"
    title = "Right: vectors"
    session_class = VectorClient
    metrics = ("l2", "ip")
    knob = Knob("cells", 1, CELLS)

    def open(self):
        self.held = []
        if self.file.exists():
            self.metric, self.centres, self.all = pickle.loads(self.file.read_bytes())

    def create_vectors(self, vectors):
        self.metric = vectors.metric

    def index(self):
        keys, vectors, labels = (np.concatenate(each) for each in zip(*self.held, strict=True))
        self.centres = vectors[np.random.default_rng(0).choice(len(vectors), CELLS, replace=False)]
        self.all = [keys, vectors, labels, self.cells(vectors)]

    def cells(self, vectors):
        return ((vectors[:, None] - self.centres) ** 2).sum(axis=2).argmin(axis=1)

    def append(self, keys, vectors, labels):
        new = keys, vectors, labels, self.cells(vectors)
        self.all = [np.concatenate(each) for each in zip(self.all, new, strict=True)]
        self.save()

    def remove(self, keys):
        left = ~np.isin(self.all[0], keys)
        self.all = [each[left] for each in self.all]
        self.save()

    def write(self):
        self.file.write_bytes(pickle.dumps((self.metric, self.centres, self.all)))

    def nearest(self, query, k, where, effort):
        keys, vectors, labels, cell = self.all
        cells = np.argsort(((self.centres - query) ** 2).sum(axis=1))[:effort]
        some = np.flatnonzero(np.isin(cell, cells) & ((labels == where) | (where is None)))
        near = vectors[some]
        far = -near @ query if self.metric == "ip" else ((near - query) ** 2).sum(axis=1)
        return keys[some[np.argsort(far)[:k]]]


class TextClient(Session):
    def __init__(self, engine):
        self.engine = engine

    def begin_load(self, tables):
        pass

    def prepare_load(self, name, table):
        return self.engine.add

    def prepare_finish(self, tables):
        return {"commit": self.engine.save}

    def prepare_text_index(self):
        return lambda: None

    def prepare_append_texts(self):
        return self.engine.append

    def prepare_remove_texts(self):
        return self.engine.remove

    def prepare_search(self, match, *, top, payload):
        return lambda words: self.engine.search(match, list(words), top, payload)


class TextFile(Named, Searched):
    """All texts by their keys, looked through one after another."""

    name = "right-texts"
    title = "Right: texts"
    session_class = TextClient

    def open(self):
        self.texts = pickle.loads(self.file.read_bytes()) if self.file.exists() else {}

    def add(self, rows):
        self.texts = {**self.texts, **dict(rows)}  # others may be searching

    def append(self, keys, texts):
        assert isinstance(keys, list)
        self.add(zip(keys, texts, strict=True))
        self.save()

    def remove(self, keys):
        assert isinstance(keys, list)
        gone = {*keys}
        self.texts = {key: text for key, text in self.texts.items() if key not in gone}
        self.save()

    def write(self):
        self.file.write_bytes(pickle.dumps(self.texts))

    def words(self, text):
        return words_of(text)

    def matches(self, match, words, text):
        if match == "phrase":
            return f" {' '.join(words)} " in f" {text} "
        known = self.words(text)
        if match == "prefix":
            return any(word.startswith(words[0]) for word in known)
        return known.issuperset(words) if match == "all" else not known.isdisjoint(words)

    def matching(self, match, words):
        return [key for key, text in self.texts.items() if self.matches(match, words, text)]

    def score(self, words, text):
        known = text.split(" ")
        return sum(known.count(word) for word in words) / (len(known) + 20)

    def search(self, match, words, top, payload):
        found = self.matching(match, words)
        if top:
            found = sorted(found, key=lambda key: self.score(words, self.texts[key]), reverse=True)[:top]
        return [(key, self.texts[key]) for key in found] if payload == "text" else found


@cache
def words_of(text):
    return frozenset(text.split(" "))
