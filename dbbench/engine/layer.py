"""An access layer: gives objects over the tables of a base engine, which opens, fills and closes the database.

A layer is written once. The registry applies it to every engine that its toolkit can reach, as `BASE+LAYER`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dbbench.engine.base import Engine, Session, Setup
from dbbench.engine.size import FileRole, Size
from dbbench.engine.sql.session import SQLEngine
from dbbench.engine.traits import EngineInfo

if TYPE_CHECKING:
    from dbbench.suite.dataset import Records, Table


class Layer(Engine):
    """A layer declares its title and its package, and makes sessions in `objects()`.

    It gives objects and nothing else, so suites without objects leave it out.
    """

    #: As in a title, after the database.
    layer: ClassVar[str]
    #: Its package.
    package: ClassVar[str]
    #: The licence of the package.
    layer_license: ClassVar[str]
    #: The extra that brings the package; empty if whoever declares the layer requires it anyway.
    extra: ClassVar[str] = ""
    #: The base engine.
    over: ClassVar[type[SQLEngine]]
    #: What the entry point of the base tells the toolkit about it.
    reach: ClassVar[Any]
    #: The base engine of this object, made with it.
    base_engine: SQLEngine

    @classmethod
    def applied(cls, name: str, over: type[SQLEngine], reach: Any, extras: Sequence[str]) -> type[Self]:
        """The layer over a base engine, as an engine called `name`. `extras` bring the base's driver."""
        facts = {
            "__module__": cls.__module__,
            "__doc__": cls.__doc__,
            "name": name,
            "over": over,
            "reach": reach,
            "title": cls.titled(over.title),
            "license": f"{over.license}; {cls.package}: {cls.layer_license}",
            "publication": over.publication,
            "publication_note": over.publication_note,
            "options_class": over.layer_options or over.options_class,
            "durability": over.durability,
            "dialect": over.dialect,
            "concurrency": over.concurrency,
            "url_example": over.url_example,
            "url_required": over.url_required,
            "missing_features": over.missing_features,
            "unverified": over.unverified,
            "by_name_only": over.by_name_only,
            "modules": (*over.modules, cls.package.lower()),
            "debian": over.debian,
            "built_on": over.built_on,
            "extras": (*extras, *([cls.extra] if cls.extra else [])),
        }
        return type(f"{over.__name__}{cls.__name__}", (cls,), facts)

    @classmethod
    def titled(cls, title: str) -> str:
        """The title of an engine with the layer in the place of its driver."""
        return f"{title.partition(' (')[0]} ({cls.layer})"

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.base_engine = self.over(setup)

    @classmethod
    def available(cls) -> None:
        """Raise Unavailable if the base engine isn't there."""
        cls.over.available()

    @classmethod
    def available_with(cls, options: Mapping[str, Any]) -> None:
        """The same with options."""
        cls.over.available_with(options)

    @classmethod
    def versions(cls) -> dict[str, str]:
        """Versions of the base engine, and the layer's package."""
        return {**cls.over.versions(), cls.package: version(cls.package)}

    def open(self) -> None:
        """Open the base engine."""
        self.base_engine.open()

    def info(self) -> EngineInfo:
        """The base engine's description, with the layer in the title."""
        base = self.base_engine.info()
        return replace(base, title=self.titled(base.title))

    def objects(self) -> Session:
        """A session of the layer."""
        raise NotImplementedError

    def connect(self) -> Session:
        """A session of the layer."""
        return self.objects()

    def server_versions(self) -> dict[str, str]:
        """Versions of the base engine's server."""
        return self.base_engine.server_versions()

    def create(self, tables: Mapping[str, Table]) -> None:
        """Let the base engine make the tables."""
        self.base_engine.create(tables)

    def create_store(self, records: Records) -> None:
        """Let the base engine make the store."""
        self.base_engine.create_store(records)

    def remove(self, tables: Mapping[str, Table]) -> None:
        """Let the base engine remove the tables."""
        self.base_engine.remove(tables)

    def flush(self) -> None:
        """Flush the base engine."""
        self.base_engine.flush()

    def settings(self) -> dict[str, Any]:
        """Settings of the base engine."""
        return self.base_engine.settings()

    def size(self) -> Size:
        """Size of the base engine's database."""
        return self.base_engine.size()

    def file_role(self, name: str) -> FileRole:
        """What a file is for, by its name."""
        return self.base_engine.file_role(name)

    def processes(self) -> Sequence[int]:
        """Processes of the base engine's server."""
        return self.base_engine.processes()

    def exit_reason(self) -> str:
        """The reason why the base engine's server ended."""
        return self.base_engine.exit_reason()

    def close(self) -> None:
        """Close the base engine."""
        self.base_engine.close()


def raw_connection(engine: SQLEngine) -> Any:
    """A new connection of the engine's own driver, set as the engine sets its sessions'."""
    session: Any = engine.connect()
    return session.connection
