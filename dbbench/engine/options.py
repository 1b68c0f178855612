"""Options of an engine, which a user sets with `--set ENGINE.OPTION=VALUE`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict


class Options(BaseModel):
    """What a user may set with `--set ENGINE.OPTION=VALUE`. Plugins add fields, each with a default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _Named:
    """The mark of `Program`."""


#: An option that names a program, a library or a file to be run or read, as it is written in an Options class. A run
#: directory may come from elsewhere, so --resume takes none of these from it: the user names it again.
Program = Annotated[str, _Named()]


def programs(options: type[BaseModel]) -> list[str]:
    """The options that are a Program."""
    fields = options.model_fields.items()
    return [name for name, known in fields if any(isinstance(mark, _Named) for mark in known.metadata)]
