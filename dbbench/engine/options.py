"""Options of an engine, which a user sets with `--set ENGINE.OPTION=VALUE`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict

M = TypeVar("M")


class Options(BaseModel):
    """What a user may set with `--set ENGINE.OPTION=VALUE`. Plugins add fields, each with a default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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


def programs(options: type[BaseModel]) -> list[str]:
    """The options that are a Program."""
    return [name for name, _ in marked(options, _Named)]


def server_settings(options: BaseModel) -> dict[str, str]:
    """The settings that a private server starts with: name -> value. None leaves the server's default."""
    values = ((mark, getattr(options, name)) for name, mark in marked(type(options), ServerSetting))
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
