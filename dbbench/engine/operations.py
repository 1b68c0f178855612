"""The operations of a session, as one Protocol for each family.

A session has an operation if it has the method `prepare_<operation>`. That method does all that can be done once and
returns a callable; only the callable runs inside the clock. No session has to derive from these classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from dbbench.suite.dataset import Table
    from dbbench.suite.steps.search import MatchKind, Payload

#: How a query returns rows.
ResultFormat = Literal["rows", "batches", "columns"]
#: How a load receives them: also as mappings of names to values, and as CSV.
LoadFormat = Literal["rows", "mappings", "csv", "batches"]
#: What ends a load, in the words of the report.
LoadPart = Literal["indexes", "statistics", "commit"]
#: Why a system ends a transaction that may succeed if it is made again.
Retry = Literal["deadlock", "lock timeout", "locked table", "conflict"]
#: What a prepared query returns: rows that can be indexed, or Arrow record batches. With `columns`: rows with a method
#: `column(number)`, which reads to the end and gives the values of one column, made of what was read when they are
#: asked for.
Rows = Iterable[Sequence[Any]] | Iterable["pa.RecordBatch"]
#: A key and its value.
Pair = tuple[bytes, bytes]


class SQLOperations(Protocol):
    """Tables, queries and statements: what the steps `load`, `query` and `statement` call."""

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        """insert(chunk): inserts a chunk of rows in the form of `load_format`; returns when the system has it."""

    def begin_load(self, tables: Mapping[str, Table]) -> None:
        """Start the transaction of a load. The tables are empty."""

    def prepare_finish(self, tables: Mapping[str, Table]) -> Mapping[LoadPart, Callable[[], object]]:
        """What ends a load, in its order: each is called, timed and shown. The last is the commit."""

    def prepare_query(self, sql: str) -> Callable[[], Rows]:
        """run(): runs the query. The rows that it returns are read inside the clock."""

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        """run(): runs a statement. It commits alone unless a transaction is open."""


class TransactionOperations(Protocol):
    """Statements with parameters inside transactions, for `contention` and `transaction`. `SQLSession` has them all."""

    def prepare_call(self, sql: str, rows: int | None = None) -> Callable[..., Any]:
        """call(*values): runs a statement with placeholders. It commits alone unless a transaction is open. It returns
        nothing if `rows` is 0, the first row or None if 1, and otherwise a list of all rows.
        """

    def prepare_rows(self, sql: str) -> Callable[..., Iterable[Sequence[Any]]]:
        """call(*values): runs a query with placeholders and returns its rows, which may be left unread."""

    def prepare_many(self, sql: str) -> Callable[[Sequence[Sequence[Any]]], object]:
        """run(list of values): runs a statement with placeholders for each, inside the transaction that is open."""

    def begin_reading(self) -> None:
        """Start a transaction that will only read."""

    def rollback(self) -> None:
        """Undo it. There is nothing to do where the system has already ended it."""

    def retry_reason(self, exc: BaseException) -> Retry | None:
        """Reason for retrying a transaction that ended with this error; None if it may not succeed."""


class KeyValueOperations(Protocol):
    """Records under keys: keys and values are bytes, and keys are ordered byte by byte and may hold any byte.

    A read sees what was committed before the call. With `snapshot` what was committed before it was prepared is enough.
    An engine with `blocks = True` has blocks of a file: keys are their numbers, of 8 bytes, values have one length, and
    an insert writes a new block at the end. What a file of blocks can't do stands in `unsupported_reasons`.
    """

    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        """insert(key, value): a new key, committed by itself. For a key that exists see `duplicates`."""

    def prepare_update(self) -> Callable[[bytes, bytes], object]:
        """update(key, value): another value for a key that exists, committed by itself."""

    def prepare_delete(self) -> Callable[[bytes], object]:
        """delete(key): a key that exists, committed by itself. Of one that doesn't it may raise or do nothing."""

    def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], bytes | None]:
        """read(key): the value, or None if there is no such key."""

    def prepare_seek(self, *, snapshot: bool = False) -> Callable[[bytes], Sequence[Any] | None]:
        """seek(key): a tuple or list of key and value, of the key or the next one above it; None if there is none."""

    def prepare_range(self, *, snapshot: bool = False) -> Callable[[bytes, int], Iterable[Sequence[Any]]]:
        """range(key, count): a list of up to `count` pairs (key, value), as of a seek, from the key on, ascending."""

    def prepare_scan(self) -> Callable[[], Iterable[Sequence[Any]]]:
        """scan(): all pairs (key, value), ascending unless `ordered` is False."""

    def prepare_insert_many(self) -> Callable[[list[Pair]], object]:
        """insert(pairs): a list of pairs (key, value) in one transaction, committed."""

    def prepare_update_many(self) -> Callable[[list[Pair]], object]:
        """update(pairs): the same for keys that exist."""

    def prepare_delete_many(self) -> Callable[[list[bytes]], object]:
        """delete(keys): a list of keys that exist in one transaction, committed."""


class ObjectOperations(Protocol):
    """Rows of a table as Python objects, whose members are named as the table's columns."""

    def prepare_get(self, name: str, table: Table) -> Callable[[Any], Any]:
        """get(key): the object with that primary key, or None if there is none."""

    def prepare_get_many(self, name: str, table: Table) -> Callable[[list[Any] | None], Iterable[Any]]:
        """get_many(keys): the objects with these primary keys, in any order; those of all rows if `keys` is None."""


class VectorOperations(Protocol):
    """Vectors under keys: what `load` and `nearest` call. Engines with them declare `metrics`, and a `knob` if any.

    Arrays are of numpy: keys int64, labels int32, vectors float32 of shape (count, dimensions), contiguous.
    """

    def prepare_add(self) -> Callable[[Any, Any, Any], object]:
        """add(keys, vectors, labels): inserts some vectors with their keys and labels."""

    def prepare_append(self) -> Callable[[Any, Any, Any], object]:
        """append(keys, vectors, labels): inserts some when the index is there, while other sessions search: what
        `search_sees` says. Keys that were removed may come again.
        """

    def prepare_remove(self) -> Callable[[Any], object]:
        """remove(keys): deletes some that are there. No search that begins afterwards returns one of them."""

    def prepare_index(self) -> Mapping[LoadPart, Callable[[], object]]:
        """What ends a load of vectors, in order: each is called, timed and shown. The last is the commit, if any."""

    def prepare_nearest(self, k: int, *, where: int | None, effort: int | None) -> Callable[[Any], Sequence[int]]:
        """nearest(vector): a list or array of the keys of the `k` nearest, or of all if fewer; `where`: their label.

        `effort` is the value of the engine's knob, None if it has none. It may hold for all calls: only those of the
        latest preparation are made.
        """


class TextOperations(Protocol):
    """Texts in a table `texts` of a key `id` and a `body`: what `load` and `search` call, besides `prepare_load`.

    A word is what stands between blanks, in lower-case ASCII: none is left out, and none made another.
    """

    def prepare_text_index(self) -> Callable[[], object]:
        """build(): makes the index of the words of all texts, after the commit; nothing if there is one by then."""

    def prepare_search(
        self, match: MatchKind, *, top: int | None, payload: Payload
    ) -> Callable[[Sequence[str]], Sequence[Any]]:
        """search(words): a list or array of the keys of the texts that match: with `all` of the words, `any` of them,
        these words one after another (`phrase`), or a word that begins with the only one (`prefix`).

        With `top` at most this number of them, the best by BM25 or the system's own measure first; without it all of
        them, in any order. With the payload `text` a list of tuples of key and text. Raises Unsupported for what the
        system can't do.
        """

    def prepare_append_texts(self) -> Callable[[Sequence[int], Sequence[str]], object]:
        """append(keys, texts): inserts some when the index is there, while other sessions search, and commits: what
        `search_sees` says. Keys that were removed may come again.
        """

    def prepare_remove_texts(self) -> Callable[[Sequence[int]], object]:
        """remove(keys): deletes some that are there, and commits. No search that begins afterwards returns them."""


class CompactOperations(Protocol):
    """The system's own way to give unused room back, by its documentation: what `size` with `compact` calls."""

    def prepare_compact(self, tables: Sequence[str]) -> Callable[[], object]:
        """compact(): makes the files as small as it can, like VACUUM; of `tables` where it works on tables.

        Afterwards the engine is closed and opened anew: the call may replace the file that is open.
        """


#: The families in the order of the documentation.
FAMILIES = (
    SQLOperations,
    TransactionOperations,
    KeyValueOperations,
    ObjectOperations,
    VectorOperations,
    TextOperations,
    CompactOperations,
)
