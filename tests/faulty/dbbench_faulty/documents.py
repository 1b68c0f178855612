"""SQLite with one lie each about documents: in what it loads, in an update of a field, or in what it returns."""

import json
from collections.abc import Callable
from typing import Any, ClassVar

from dbbench.engine import Rows, Table
from dbbench_faulty.family import Faulty
from dbbench_plugins.sqlite import SQLiteSession


class LoadingSession(SQLiteSession):
    """Loads other documents than it was given."""

    def prepare_load(self, name: str, table: Table) -> Callable[[Any], object]:
        insert = super().prepare_load(name, table)
        return lambda rows: insert([(key, self.changed(json.loads(text))) for key, text in rows])

    def changed(self, document: dict[str, Any]) -> str:
        self.change(document)
        return json.dumps(document)

    def change(self, document: dict[str, Any]) -> object:
        raise NotImplementedError


class Drops(Faulty):
    class session_class(LoadingSession):
        def change(self, document: dict[str, Any]) -> object:
            return document["buyer"].pop("level", None)


class Reorders(Faulty):
    class session_class(LoadingSession):
        def change(self, document: dict[str, Any]) -> object:
            return document["lines"].reverse()


class Quotes(Faulty):
    """Numbers as texts."""

    class session_class(LoadingSession):
        def change(self, document: dict[str, Any]) -> object:
            return document.update(total=str(document["total"]))


class Rounds(Faulty):
    class session_class(LoadingSession):
        def change(self, document: dict[str, Any]) -> object:
            return document.update(total=round(document["total"]))


class Nulls(Faulty):
    """Null for what is missing."""

    class session_class(LoadingSession):
        def change(self, document: dict[str, Any]) -> object:
            return document["buyer"].setdefault("level", None)


class Empties(Faulty):
    """An empty array for one that is missing."""

    class session_class(LoadingSession):
        def change(self, document: dict[str, Any]) -> object:
            return document.setdefault("tags", [])


class Twice(Faulty):
    """A field that stands twice: the latter counts."""

    class session_class(LoadingSession):
        def changed(self, document: dict[str, Any]) -> str:
            return '{"views": 9, ' + json.dumps(document)[1:]


class Writes(Faulty):
    """Something else than JSON in one document."""

    class session_class(LoadingSession):
        def changed(self, document: dict[str, Any]) -> str:
            return json.dumps(document) + " " * 3 + "!"


class Updating(SQLiteSession):
    """Does something else than an update of a field."""

    #: What takes the place of the first words in an update.
    instead: ClassVar[tuple[str, str]]

    def prepare_statement(self, sql: str) -> Callable[[], object]:
        return super().prepare_statement(sql.replace(*self.instead))


class Forgets(Faulty):
    """Updates nothing."""

    class session_class(Updating):
        instead = ("BETWEEN 101 AND 200", "< 0")


class Misses(Faulty):
    """Updates all but one."""

    class session_class(Updating):
        instead = ("BETWEEN 101 AND 200", "BETWEEN 101 AND 199")


class Replaces(Faulty):
    """Keeps nothing but the field that it updates: the suite's own check doesn't see that."""

    class session_class(Updating):
        instead = ("json_set(\"Body\", '$.views',", "json_object('views',")


class Spills(Faulty):
    """Changes another field with the one that it updates; no query of the suite reads that."""

    class session_class(Updating):
        instead = ("json_set(\"Body\", '$.views',", "json_set(\"Body\", '$.buyer.name', 'x', '$.views',")


class Words(Faulty):
    """A word for a missing field."""

    class session_class(SQLiteSession):
        def prepare_query(self, sql: str) -> Callable[[], Rows]:
            run = super().prepare_query(sql)
            if "COUNT(*), SUM" not in sql:
                return run
            return lambda: (("null" if row[0] is None else row[0], *row[1:]) for row in run())
