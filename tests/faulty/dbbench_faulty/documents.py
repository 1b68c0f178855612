"""SQLite with one lie each about documents: in what it loads, in an update of a field, or in what it returns."""

import json
from collections.abc import Callable
from typing import Any

from dbbench.engine import Rows, Table
from dbbench_faulty.family import Faulty
from dbbench_plugins.sqlite import SQLiteSession


def unchanged(document: dict[str, Any]) -> None:
    """Leave a document as it is."""


def loading(change: Callable[[Any], object] = unchanged, text: Callable[[Any], str] = json.dumps) -> Any:
    """A session that loads other documents than it was given: it changes each, or makes another text of it."""

    class Loading(SQLiteSession):
        def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
            insert = super().prepare_load(name, table)

            def load(rows: Any) -> object:
                documents = [json.loads(document) for _, document in rows]
                for document in documents:
                    change(document)
                return insert([(key, text(document)) for (key, _), document in zip(rows, documents, strict=True)])

            return load

    return Loading


class Drops(Faulty):
    session_class = loading(lambda document: document["buyer"].pop("level", None))


class Reorders(Faulty):
    session_class = loading(lambda document: document["lines"].reverse())


class Quotes(Faulty):
    """Numbers as texts."""

    session_class = loading(lambda document: document.update(total=str(document["total"])))


class Rounds(Faulty):
    session_class = loading(lambda document: document.update(total=round(document["total"])))


class Nulls(Faulty):
    """Null for what is missing."""

    session_class = loading(lambda document: document["buyer"].setdefault("level", None))


class Empties(Faulty):
    """An empty array for one that is missing."""

    session_class = loading(lambda document: document.setdefault("tags", []))


class Twice(Faulty):
    """A field that stands twice: the latter counts."""

    session_class = loading(text=lambda document: '{"views": 9, ' + json.dumps(document)[1:])


class Writes(Faulty):
    """Something else than JSON in one document."""

    session_class = loading(text=lambda document: json.dumps(document) + " " * 3 + "!")


def updating(words: str, instead: str) -> Any:
    """A session that has other words in its updates."""

    class Updating(SQLiteSession):
        def prepare_statement(self, sql: str) -> Callable[[], object]:
            return super().prepare_statement(sql.replace(words, instead))

    return Updating


class Forgets(Faulty):
    """Updates nothing."""

    session_class = updating("BETWEEN 101 AND 200", "< 0")


class Misses(Faulty):
    """Updates all but one."""

    session_class = updating("BETWEEN 101 AND 200", "BETWEEN 101 AND 199")


class Replaces(Faulty):
    """Keeps nothing but the field that it updates: the suite's own check doesn't see that."""

    session_class = updating("json_set(\"Body\", '$.views',", "json_object('views',")


class Spills(Faulty):
    """Changes another field with the one that it updates; no query of the suite reads that."""

    session_class = updating("json_set(\"Body\", '$.views',", "json_set(\"Body\", '$.buyer.name', 'x', '$.views',")


class Words(Faulty):
    """A word for a missing field."""

    class session_class(SQLiteSession):
        def prepare_query(self, sql: str) -> Callable[[], Rows]:
            run = super().prepare_query(sql)
            if "COUNT(*), SUM" not in sql:
                return run
            return lambda: (("null" if row[0] is None else row[0], *row[1:]) for row in run())
