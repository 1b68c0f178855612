"""Tantivy: an inverted index in a folder, searched in process. It keeps the texts too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from dbbench.engine import Concurrency, Engine, LoadPart, Options, Publication, Session, Tier, Unsupported

if TYPE_CHECKING:
    from dbbench.engine import MatchKind, Payload, Table

_BODY, _KEY = "body", "id"


class TantivyOptions(Options):
    heap_mib: int = Field(default=128, ge=15, le=4_000, description="memory of a load's writer, MiB")


class TantivySession(Session):
    def __init__(self, engine: Tantivy) -> None:
        self.engine, self.index = engine, engine.index

    def begin_load(self, tables: Mapping[str, Table]) -> None:
        self.engine.writer  # noqa: B018 - made now, in the clock

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        from tantivy import Document

        def insert(rows: Sequence[tuple[int, str]]) -> None:
            add = self.engine.writer.add_document
            for key, text in rows:
                add(Document(id=key, body=text))

        return insert

    def prepare_finish(self, tables: Mapping[str, Table]) -> Mapping[LoadPart, Callable[[], object]]:
        def commit() -> None:
            self.engine.writer.commit()
            self.engine.writer.wait_merging_threads()
            del self.engine.writer

        return {"commit": commit}

    def prepare_text_index(self) -> Callable[[], object]:
        return self.index.reload  # type: ignore[no-any-return]  # what is committed is seen from now on

    def prepare_append_texts(self) -> Callable[[Sequence[int], Sequence[str]], object]:
        from tantivy import Document

        def append(keys: Sequence[int], texts: Sequence[str]) -> None:
            for key, text in zip(keys, texts, strict=True):
                writer.add_document(Document(id=key, body=text))
            writer.commit()
            self.index.reload()

        writer = self.engine.writer
        return append

    def prepare_remove_texts(self) -> Callable[[Sequence[int]], object]:
        def remove(keys: Sequence[int]) -> None:
            for key in keys:
                writer.delete_documents_by_term(_KEY, key)
            writer.commit()
            self.index.reload()

        writer = self.engine.writer
        return remove

    def prepare_search(
        self, match: MatchKind, *, top: int | None, payload: Payload
    ) -> Callable[[Sequence[str]], list[Any]]:
        self.index.reload()
        latest, asked = self.index.searcher, self._query(match)

        def search(words: Sequence[str]) -> list[Any]:
            searcher = latest()
            hits = searcher.search(asked(words), top or max(1, searcher.num_docs), count=False).hits
            return searcher.fast_field_values(_KEY, [at for _, at in hits])  # type: ignore[no-any-return]  # not typed

        def search_texts(words: Sequence[str]) -> list[Any]:
            searcher = latest()
            hits = searcher.search(asked(words), top or max(1, searcher.num_docs), count=False).hits
            found = [searcher.doc(at) for _, at in hits]
            return [(each.get_first(_KEY), each.get_first(_BODY)) for each in found]

        return search_texts if payload == "text" else search

    def _query(self, match: MatchKind) -> Callable[[Sequence[str]], Any]:
        """What makes a query of words."""
        from tantivy import Occur, Query

        schema, term = self.index.schema, Query.term_query
        if match == "phrase":
            return lambda words: Query.phrase_query(schema, _BODY, list(words))
        if match == "prefix":
            return lambda words: Query.regex_query(schema, _BODY, f"{words[0]}.*")
        occur = Occur.Must if match == "all" else Occur.Should
        return lambda words: Query.boolean_query([(occur, term(schema, _BODY, word)) for word in words])


class Tantivy(Engine):
    name = "tantivy"
    title = "Tantivy"
    license = "MIT"
    publication = Publication.ALLOWED
    modules = ("tantivy",)
    options_class = TantivyOptions
    session_class = TantivySession
    # "In case of a crash or hardware failure (as long as the hard disk is spared), it will be possible to resume
    # indexing from this point": docs.rs, tantivy::IndexWriter::commit.
    durability: ClassVar = {Tier.POWER: {}}
    concurrency = Concurrency(threads=None, processes=None)

    @classmethod
    def versions(cls) -> dict[str, str]:
        import tantivy

        return {"Tantivy (Python)": tantivy.__version__.split(",")[0]}

    @cached_property
    def writer(self) -> Any:
        """The only one that there can be."""
        return self.index.writer(self.options.heap_mib << 20)

    def close(self) -> None:
        self.__dict__.pop("writer", None)

    def open(self) -> None:
        from tantivy import Index

        self.place = self.directory / "index"
        self.index: Any = Index.open(str(self.place)) if self.place.exists() else None

    def create(self, tables: Mapping[str, Table]) -> None:
        if {*tables} - {"texts"}:
            raise Unsupported("it searches texts, and keeps no other tables")
        from tantivy import Index, SchemaBuilder

        builder = SchemaBuilder()
        builder.add_integer_field(_KEY, stored=True, indexed=True, fast=True)  # indexed: to be deleted by
        builder.add_text_field(_BODY, stored=True)
        self.place.mkdir()
        self.index = Index(builder.build(), str(self.place))

    def connect(self) -> Session:
        return TantivySession(self)
