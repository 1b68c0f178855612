"""Texts in a table of a SQL database, searched by its own index of words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from dbbench.engine import SQLSession

if TYPE_CHECKING:
    from dbbench.engine import MatchKind, Payload


class TextRows(SQLSession):
    """A session on the table of texts."""

    #: The statements that build the index.
    text_index: ClassVar[Sequence[str]]
    #: How the words of a query are written: what stands between them, and `{}` in the text around them.
    written: ClassVar[Mapping[str, tuple[str, str]]]
    #: The query, in which `{}` is the column `body` or nothing; and what it ends with where it is ranked.
    text_query: ClassVar[str]
    text_order: ClassVar[str]

    def prepare_text_index(self) -> Callable[[], object]:
        return self.each(self.text_index)

    def prepare_append_texts(self) -> Callable[[Sequence[int], Sequence[str]], object]:
        value = self.sql.placeholder
        insert = self.in_one(f"INSERT INTO texts (id, body) VALUES ({value}, {value})")
        return lambda keys, texts: insert(list(zip(keys, texts, strict=True)))

    def prepare_remove_texts(self) -> Callable[[Sequence[int]], object]:
        delete = self.in_one(f"DELETE FROM texts WHERE id = {self.sql.placeholder}")
        return lambda keys: delete([(key,) for key in keys])

    def prepare_search(
        self, match: MatchKind, *, top: int | None, payload: Payload
    ) -> Callable[[Sequence[str]], list[Any]]:
        sql = self.text_query.format(", body" * (payload == "text")) + (f"{self.text_order} LIMIT {top}" if top else "")
        call, (between, around) = self.prepare_call(sql), self.written[match]
        times = sql.count(self.sql.placeholder)

        def search(words: Sequence[str]) -> list[Any]:
            return [key for (key,) in call(*[around.format(between.join(words))] * times)]

        def search_texts(words: Sequence[str]) -> list[Any]:
            return [tuple(row) for row in call(*[around.format(between.join(words))] * times)]

        return search_texts if payload == "text" else search
