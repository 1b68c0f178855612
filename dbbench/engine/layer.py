"""An access layer: gives objects over the tables of a base engine, which opens, fills and closes the database.

A layer is written once. The registry applies it to every engine that its toolkit can reach, as `BASE+LAYER`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any, ClassVar, Self

from dbbench.engine.base import Engine, Session, Setup
from dbbench.engine.sql.session import SQLEngine
from dbbench.engine.traits import EngineInfo

#: What a layer has from its base engine, unchanged: attributes of the class, and methods (added below the class).
_TRAITS = (
    *("publication", "publication_note", "durability", "dialect", "concurrency", "url_example", "url_required"),
    *("missing_features", "unverified", "by_name_only", "debian", "built_on"),
)
_METHODS = (
    *("open", "server_versions", "create", "create_store", "remove", "flush", "settings", "size", "file_role"),
    *("processes", "exit_reason", "close"),
)


class Layer(Engine):
    """A layer declares its title and its package, and makes sessions in `objects()`.

    It gives objects and nothing else, so suites without objects leave it out. The rest is its base engine's.
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
        facts = {trait: getattr(over, trait) for trait in _TRAITS} | {
            "__module__": cls.__module__,
            "__doc__": cls.__doc__,
            "name": name,
            "over": over,
            "reach": reach,
            "title": cls.titled(over.title),
            "license": f"{over.license}; {cls.package}: {cls.layer_license}",
            "options_class": over.layer_options or over.options_class,
            "modules": (*over.modules, cls.package.lower()),
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


def _of_base(name: str) -> Callable[..., Any]:
    """A method of a layer that calls the base engine's of that name."""

    def call(self: Layer, *arguments: Any) -> Any:
        return getattr(self.base_engine, name)(*arguments)

    call.__name__, call.__doc__ = name, getattr(Engine, name).__doc__
    return call


for _name in _METHODS:
    setattr(Layer, _name, _of_base(_name))


def raw_connection(engine: SQLEngine) -> Any:
    """A new connection of the engine's own driver, set as the engine sets its sessions'."""
    session: Any = engine.connect()
    return session.connection
