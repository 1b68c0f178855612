"""What all access layers have in common: an engine beneath, which opens, fills and closes the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from dbbench.engine import Engine, Session, Setup, Size
from dbbench.sql import SQLEngine

if TYPE_CHECKING:
    from dbbench.records import RecordSet
    from dbbench.schema import Table


class Layer(Engine):
    """An engine that gives objects through an access layer, over the tables of the engine `over`.

    A layer says its name and its packages; `class SQLiteORM(ORM, over=SQLite)` with a name is all that is left to say.
    It gives objects and nothing else, so that suites without them leave it out.
    """

    #: As in a title, after the database; its package and licence; its extra.
    layer: ClassVar[str]
    package: ClassVar[str]
    layer_license: ClassVar[str]
    extra: ClassVar[str]
    over: ClassVar[type[SQLEngine]]
    beneath: SQLEngine

    def __init_subclass__(cls, over: type[SQLEngine] | None = None, **more: Any) -> None:
        super().__init_subclass__(**more)
        if over is None:
            return
        cls.over = over
        cls.title = cls.titled(over.title)
        cls.license = f"{over.license}; {cls.package}: {cls.layer_license}"
        cls.publication, cls.publication_note = over.publication, over.publication_note
        cls.options_class = over.layer_options or over.options_class
        cls.durability, cls.dialect = over.durability, over.dialect
        cls.concurrency, cls.url_example, cls.url_required = over.concurrency, over.url_example, over.url_required
        cls.modules, cls.debian, cls.built_on = (*over.modules, cls.package.lower()), over.debian, over.built_on
        driver = over.name.replace("+", "-")
        cls.extras = (*([driver] if over.modules else []), cls.extra)

    @classmethod
    def titled(cls, title: str) -> str:
        """The title of an engine with the layer in the place of its driver."""
        return f"{title.partition(' (')[0]} ({cls.layer})"

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.beneath = self.over(setup)

    @classmethod
    def available(cls) -> None:
        cls.over.available()

    @classmethod
    def available_with(cls, options: Mapping[str, Any]) -> None:
        cls.over.available_with(options)

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {**cls.over.versions(), cls.package: version(cls.package)}

    def open(self) -> None:
        self.beneath.open()
        self.title = self.titled(self.beneath.title)
        self.tier, self.publication = self.beneath.tier, self.beneath.publication

    def objects(self) -> Session:
        """A session of the layer."""
        raise NotImplementedError

    def connect(self) -> Session:
        return self.objects()

    def served_by(self) -> dict[str, str]:
        return self.beneath.served_by()

    def create(self, tables: Mapping[str, Table]) -> None:
        self.beneath.create(tables)

    def create_store(self, records: RecordSet) -> None:
        self.beneath.create_store(records)

    def remove(self, tables: Mapping[str, Table]) -> None:
        self.beneath.remove(tables)

    def flush(self) -> None:
        self.beneath.flush()

    def settings(self) -> dict[str, Any]:
        return self.beneath.settings()

    def size(self) -> Size:
        return self.beneath.size()

    def part(self, name: str) -> Literal["data", "journal", "other"]:
        return self.beneath.part(name)

    def processes(self) -> Sequence[int]:
        return self.beneath.processes()

    def died(self) -> str:
        return self.beneath.died()

    def close(self) -> None:
        self.beneath.close()


def raw(engine: SQLEngine) -> Any:
    """A new connection of the engine's own driver, set as the engine sets its sessions'."""
    session: Any = engine.connect()
    return session.connection
