"""Variants of an engine: `ENGINE@LABEL` runs it again under a name of its own, with other settings or version.

A label that looks like a version asks for that version of the engine's package. Any other is only a name.
"""

import re
from collections.abc import Iterable, Mapping

from dbbench.engine.null import NULLS
from dbbench.errors import UserError

_LABEL = re.compile(r"[a-z0-9][a-z0-9._-]{0,47}")
_VERSION = re.compile(r"\d{1,5}(\.\d{1,9}){0,4}((a|b|rc|\.post|\.dev)\d{1,20})?")


def base(name: str) -> str:
    """The engine that a variant is of; of an engine its own name."""
    return name.partition("@")[0]


def database(name: str) -> str:
    """The database that an engine reaches, whatever its driver: `sqlite` for `sqlite+apsw@2` and `odbc+sqlite`."""
    return base(name).removeprefix("odbc+").partition("+")[0]


def label(name: str) -> str:
    """What sets a variant apart from others of its engine; empty for the engine itself."""
    return name.partition("@")[2]


def control(name: str) -> str:
    """The name under which an engine or a variant runs once more."""
    return f"{name}-control" if "@" in name else f"{name}@control"


def is_version(text: str) -> bool:
    """Whether a label asks for a version, like 1.3, 1.3.2 or 2.0rc1."""
    return bool(_VERSION.fullmatch(text))


def check(names: Iterable[str]) -> None:
    """Raise UserError for a label that can't be one, for a variant named twice, and for one of a null engine."""
    seen = set()
    for name in names:
        if "@" not in name:
            continue
        if not _LABEL.fullmatch(label(name)):
            raise UserError(
                f"{name}: the label after the @ has up to 48 small letters, digits and . _ -, and starts with a letter or a "
                "digit, like sqlite@small or duckdb@1.3"
            )
        if name in seen:
            raise UserError(f"there are two variants called {name}; give one of them another label")
        if base(name) in NULLS.values():
            raise UserError(f"{name}: the null engine has no variants, because it does no work that could differ")
        seen.add(name)


def inherited(
    names: Iterable[str],
    options: Mapping[str, Mapping[str, str]],
    written: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, dict[str, str]]:
    """The options of each variant: those set for its engine, then those written in the suite, then its own."""
    found = {
        name: {**options.get(base(name), {}), **(written or {}).get(name, {}), **options.get(name, {})}
        for name in names
    }
    return {name: chosen for name, chosen in found.items() if chosen}
