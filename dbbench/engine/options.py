"""Options of an engine, which a user sets with `--set ENGINE.OPTION=VALUE`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic_core import core_schema

M = TypeVar("M")
Model = TypeVar("Model", bound=BaseModel)
#: The value that leaves an option of memory as the engine is installed: at the engine's own default.
AS_INSTALLED = "as-installed"


class Options(BaseModel):
    """What a user may set with `--set ENGINE.OPTION=VALUE`. Plugins add fields, each with a default."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


class _Named:
    """The mark of `Program`."""


#: An option that names a program, a library or a file to be run or read, as it is written in an Options class. A run
#: directory may come from elsewhere, so --resume takes none of these from it: the user names it again.
Program = Annotated[str, _Named()]


@dataclass(frozen=True)
class ServerSetting:
    """The mark of an option that is a setting of a private server, as it is written in an Options class.

    `name` is the server's own name of it. `form` is how the server takes the value, like "{}MB". So each setting stands
    once: the option is checked as all are, and `server_settings` has what to start the server with.
    """

    name: str
    form: str = "{}"


@dataclass(frozen=True)
class Shares:
    """The memory in MiB for an option with a `MemoryShare`, unless the user sets it. None: the engine's own default."""

    #: For one cache, which all clients use.
    cache: int = 64
    #: For the cache of each client.
    client_cache: int = 64
    #: For a cache together with the memory that queries work in.
    memory: int | None = None


@dataclass(frozen=True)
class MemoryShare:
    """The mark of an option that is an engine's memory in MiB: a number from `least` to `most`, or `as-installed`.

    dbbench sets it to the same share for all engines, unless the user does.
    """

    share: Literal["cache", "client_cache", "memory"] = "cache"
    least: int = 1
    most: int | None = None

    def __get_pydantic_core_schema__(self, _source: object, _handler: object) -> core_schema.CoreSchema:
        number = core_schema.nullable_schema(core_schema.int_schema(ge=self.least, le=self.most))
        return core_schema.no_info_wrap_validator_function(
            lambda value, checked: value if value == AS_INSTALLED else checked(value),
            number,
            serialization=core_schema.simple_ser_schema("any"),
        )

    def of(self, shares: Shares) -> int | None:
        """The share that this option gets."""
        found: int | None = getattr(shares, self.share)
        return None if found is None else max(self.least, min(found, self.most or found))


def with_shares(options: Model, shares: Shares) -> Model:
    """The options, with each share of memory that the user left open."""
    open_ones = [(name, mark) for name, mark in marked(type(options), MemoryShare) if getattr(options, name) is None]
    return options.model_copy(update={name: mark.of(shares) for name, mark in open_ones})


def chosen(value: Any) -> Any:
    """An option's value; None where it leaves the engine's own default."""
    return None if value == AS_INSTALLED else value


def programs(options: type[BaseModel]) -> list[str]:
    """The options that are a Program."""
    return [name for name, _ in marked(options, _Named)]


def server_settings(options: BaseModel) -> dict[str, str]:
    """The settings that a private server starts with: name -> value. None leaves the server's default."""
    values = ((mark, chosen(getattr(options, name))) for name, mark in marked(type(options), ServerSetting))
    return {mark.name: mark.form.format(value) for mark, value in values if value is not None}


def server_setting_names(options: type[BaseModel]) -> list[str]:
    """The server's names of all settings that options may set: what to record of a server."""
    return [mark.name for _, mark in marked(options, ServerSetting)]


def marked(options: type[BaseModel], kind: type[M]) -> Iterator[tuple[str, M]]:
    """The options with a mark of this kind, and the mark."""
    for name, known in options.model_fields.items():
        for mark in known.metadata:
            if isinstance(mark, kind):
                yield name, mark
