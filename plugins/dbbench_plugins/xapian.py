"""Xapian: an inverted index in a folder, searched in process. It keeps the texts too."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine import Concurrency, Engine, LoadPart, Publication, Session, Tier, Unsupported
from dbbench_plugins.debian import debian_module

if TYPE_CHECKING:
    from dbbench.engine import MatchKind, Payload, Table


class XapianSession(Session):
    def __init__(self, engine: Xapian) -> None:
        self.engine, self.xapian = engine, debian_module("xapian")

    @cached_property
    def reader(self) -> Any:
        return self.xapian.Database(str(self.engine.directory))

    def begin_load(self, tables: Mapping[str, Table]) -> None:
        self.engine.writer.begin_transaction()

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        return self._insert()

    def _insert(self) -> Callable[[Iterable[tuple[int, str]]], None]:
        document, put = self.xapian.Document, self.engine.writer.replace_document
        words = self.xapian.TermGenerator()  # without a stemmer and stop words

        def insert(rows: Iterable[tuple[int, str]]) -> None:
            for key, text in rows:
                made = document()
                made.set_data(text)
                words.set_document(made)
                words.set_termpos(0)
                words.index_text(text)
                put(key, made)

        return insert

    def prepare_finish(self, tables: Mapping[str, Table]) -> Mapping[LoadPart, Callable[[], object]]:
        def commit() -> None:
            self.engine.writer.commit_transaction()
            self.engine.commit()

        return {"commit": commit}

    def prepare_text_index(self) -> Callable[[], object]:
        return lambda: None  # the load has made it

    def prepare_append_texts(self) -> Callable[[Sequence[int], Sequence[str]], object]:
        insert, commit = self._insert(), self.engine.commit

        def append(keys: Sequence[int], texts: Sequence[str]) -> None:
            insert(zip(keys, texts, strict=True))
            commit()

        return append

    def prepare_remove_texts(self) -> Callable[[Sequence[int]], object]:
        delete, commit = self.engine.writer.delete_document, self.engine.commit

        def remove(keys: Sequence[int]) -> None:
            for key in keys:
                delete(key)
            commit()

        return remove

    def prepare_search(
        self, match: MatchKind, *, top: int | None, payload: Payload
    ) -> Callable[[Sequence[str]], list[Any]]:
        xapian, reader, asked = self.xapian, self.reader, self._query(match)
        enquire = xapian.Enquire(reader)
        enquire.set_weighting_scheme(xapian.BM25Weight(1.2, 0, 0, 0.75, 0) if top else xapian.BoolWeight())

        def keys(hits: Any) -> list[Any]:
            return [*map(hits.get_docid, range(hits.size()))]

        def texts(hits: Any) -> list[Any]:
            return [(one.get_docid(), one.get_data().decode()) for one in map(hits.get_document, range(hits.size()))]

        given = texts if payload == "text" else keys

        def search(words: Sequence[str]) -> list[Any]:
            query = asked(words)
            while True:
                try:
                    reader.reopen()  # to see what is committed by now
                    enquire.set_query(query)
                    return given(enquire.get_mset(0, top or reader.get_doccount()))
                except xapian.DatabaseModifiedError:  # a second commit writes over blocks of what is being read
                    continue

        return search

    def _query(self, match: MatchKind) -> Callable[[Sequence[str]], Any]:
        """What makes a query of words."""
        query = self.xapian.Query
        if match == "prefix":
            return lambda words: query(query.OP_WILDCARD, words[0], 0, query.WILDCARD_LIMIT_ERROR)
        operator = {"all": query.OP_AND, "any": query.OP_OR, "phrase": query.OP_PHRASE}[match]
        return lambda words: query(operator, words)

    def close(self) -> None:
        if reader := self.__dict__.pop("reader", None):
            reader.close()


class Xapian(Engine):
    name = "xapian"
    title = "Xapian"
    license = "GPL-2.0-or-later"
    publication = Publication.ALLOWED
    debian = ("python3-xapian",)
    session_class = XapianSession
    # With fdatasync "the changes are durable" (xapian/constants.h, DB_NO_SYNC). But a commit ends by renaming a file,
    # and nothing syncs its folder (seen with strace).
    durability: ClassVar = {
        Tier.POWER: {"flags": "DB_CREATE_OR_OPEN", "after each commit": "fsync of the folder"},
        Tier.PROCESS: {"flags": "DB_NO_SYNC"},
    }
    concurrency = Concurrency(threads=None, processes=None)
    unsupported_reasons: ClassVar = {"compact": "it writes a compact copy, and leaves the database as it is"}

    @classmethod
    def available(cls) -> None:
        debian_module("xapian")

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"Xapian": debian_module("xapian").version_string()}

    @cached_property
    def writer(self) -> Any:
        """The only one that there can be."""
        xapian = debian_module("xapian")
        return xapian.WritableDatabase(str(self.directory), getattr(xapian, self.durability[self.tier]["flags"]))

    def create(self, tables: Mapping[str, Table]) -> None:
        if {*tables} - {"texts"}:
            raise Unsupported("it searches texts, and keeps no other tables")
        _ = self.writer  # makes it

    def connect(self) -> Session:
        return XapianSession(self)

    def commit(self) -> None:
        """Commit what was written, as durably as the tier asks."""
        self.writer.commit()
        if self.tier is Tier.POWER:
            folder = os.open(self.directory, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)

    def close(self) -> None:
        if writer := self.__dict__.pop("writer", None):
            writer.close()
