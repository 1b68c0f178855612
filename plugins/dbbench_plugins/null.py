"""The null engine: does nothing, as fast as the harness lets it. Its time is the harness's own share.

There are two, for rows and for Arrow batches: what a harness adds depends on what it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine import Concurrency, Engine, LoadPart, Publication, Rows, Session, Tier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dbbench.engine import Table


#: Rows in a batch, as DuckDB gives them by default; about what others give too.
BATCH_ROWS = 100_000


class NullSession(Session):
    load_format = "batches"

    def begin(self) -> None: ...

    begin_reading = begin

    def commit(self) -> None: ...

    rollback = commit

    def retry_reason(self, exc: BaseException) -> None: ...

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        return lambda _chunk: None

    def begin_load(self, tables: Mapping[str, Table]) -> None: ...

    def prepare_finish(self, tables: Mapping[str, Table]) -> Mapping[LoadPart, Callable[[], object]]:
        return {}

    def prepare_query(self, sql: str, expected_rows: int = 0) -> Callable[[], Rows]:
        row = (None,) * 64  # wider than any query, so that any column can be read
        return lambda: repeat(row, expected_rows)

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        return lambda: None

    def prepare_call(self, sql: str, rows: int | None = None, row: object = None) -> Callable[..., Any]:
        return lambda *_values: row

    def prepare_get(self, name: str, table: Table) -> Callable[[object], object]:
        return lambda _key: None

    def prepare_get_many(self, name: str, table: Table) -> Callable[[object], Iterable[object]]:
        return lambda _keys: ()

    def prepare_add(self) -> Callable[[Any, Any, Any], object]:
        return lambda _keys, _vectors, _labels: None

    prepare_append = prepare_add

    def prepare_remove(self) -> Callable[[Any], object]:
        return lambda _keys: None

    prepare_remove_texts = prepare_remove

    def prepare_append_texts(self) -> Callable[[Any, Any], object]:
        return lambda _keys, _texts: None

    def prepare_index(self) -> Mapping[LoadPart, Callable[[], object]]:
        return {}

    def prepare_nearest(self, k: int, *, where: int | None, effort: int | None) -> Callable[[object], list[int]]:
        nothing: list[int] = []
        return lambda _vector: nothing

    def prepare_text_index(self) -> Callable[[], object]:
        return lambda: None

    def prepare_search(self, match: str, *, top: int | None, payload: str) -> Callable[[object], list[Any]]:
        nothing: list[Any] = []
        return lambda _words: nothing

    def prepare_compact(self, tables: Sequence[str]) -> Callable[[], object]:
        return lambda: None

    # Records: what takes as many arguments and does nothing.

    def prepare_insert(self) -> Callable[[bytes, bytes], object]:
        return lambda _key, _value: None

    prepare_update = prepare_insert

    def prepare_delete(self) -> Callable[[bytes], object]:
        return lambda _key: None

    def prepare_read(self, *, snapshot: bool = False) -> Callable[[bytes], object]:
        return lambda _key: None

    prepare_seek = prepare_read

    def prepare_range(self, *, snapshot: bool = False) -> Callable[[bytes, int], object]:
        return lambda _key, _count: None

    def prepare_scan(self) -> Callable[[], Iterable[object]]:
        return lambda: ()

    prepare_insert_many = prepare_update_many = prepare_delete_many = prepare_delete


class NullArrowSession(NullSession):
    result_format = "batches"

    def prepare_query(self, sql: str, expected_rows: int = 0) -> Callable[[], Rows]:
        import pyarrow as pa

        nothing = pa.nulls(BATCH_ROWS)
        batch = pa.record_batch([nothing] * 64, names=[str(number) for number in range(64)])
        whole, rest = divmod(expected_rows, BATCH_ROWS)
        batches = [batch] * whole + [batch.slice(0, rest)] * bool(rest)
        return lambda: iter(batches)


class Null(Engine):
    name = "null"
    title = "null (the harness itself)"
    license = "Apache-2.0"
    publication = Publication.ALLOWED
    is_null = True
    durability = {tier: {} for tier in Tier}
    session_class: ClassVar[type[NullSession]] = NullSession
    metrics = ("l2", "cosine", "ip")
    concurrency = Concurrency(threads=None, processes=None)

    def connect(self) -> Session:
        return self.session_class()


class NullArrow(Null):
    name = "null+arrow"
    title = "null (the harness itself, Arrow batches)"
    session_class = NullArrowSession
