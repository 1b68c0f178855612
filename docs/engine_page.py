"""A page for one engine, made of its class: for docs.build_site."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from dbbench.engine.base import Engine
from dbbench.engine.install import built
from dbbench.engine.offered import OPERATIONS, offers


def page(engine: type[Engine]) -> str:
    """The page, in Markdown."""
    return "\n".join(_lines(engine)) + "\n"


def _lines(engine: type[Engine]) -> Iterator[str]:
    yield f"# `{engine.name}`"
    yield ""
    yield f"{engine.title}. Here you find what it offers and what you can set, as its plugin states it."
    yield ""
    yield from _table(("", ""), _facts(engine))
    yield ""
    yield "## Durability"
    yield ""
    yield from _table(("tier", "settings"), ((tier, _settings(given)) for tier, given in engine.durability.items()))
    yield ""
    yield "## Options"
    yield ""
    yield from _options(engine.options_class, engine.name)
    yield ""
    yield "## Operations"
    yield ""
    yield f"It offers {', '.join(f'`{name}`' for name in OPERATIONS if offers(engine, name)) or 'none'}."
    if reasons := {name: why for name, why in engine.unsupported_reasons.items() if not offers(engine, name)}:
        yield ""
        yield from _table(("not offered", "reason"), ((f"`{name}`", why) for name, why in reasons.items()))
    if engine.one_client:
        yield ""
        yield from _table(("one client at a time", "reason"), ((f"`{n}`", why) for n, why in engine.one_client.items()))
    if engine.missing_features:
        yield ""
        yield from _table(("feature that it lacks", "what that means"), engine.missing_features.items())


def _facts(engine: type[Engine]) -> Iterator[tuple[str, str]]:
    note = f" ({engine.publication_note})" if engine.publication_note else ""
    yield "licence", engine.license
    yield "publication of results", f"{engine.publication}{note}"
    if engine.modules:
        yield "Python modules", _words(engine.modules)
    if packages := (*engine.debian, *built(engine)):
        yield "Debian packages", _words(packages)
    yield "installed by", f"`dbbench engines install {engine.name}`"
    if engine.url_example:
        yield "a server of yours", f"`--url {engine.name}={engine.url_example}`"
    if engine.longest_key is not None:
        yield "longest key", f"{engine.longest_key:,} bytes"
    if engine.longest_value is not None:
        yield "longest value", f"{engine.longest_value:,} bytes"
    if engine.by_name_only:
        yield "runs only by name", engine.by_name_only
    if engine.unverified:
        yield "not verified", engine.unverified


def _options(options: type[BaseModel], name: str) -> Iterator[str]:
    if not options.model_fields:
        yield "None."
        return
    rows = (
        (f"`{name}.{option}`", f"`{known.default}`" if known.default != "" else "", known.description or "")
        for option, known in options.model_fields.items()
    )
    yield from _table(("option of `--set`", "default", "meaning"), rows)


def _settings(given: Mapping[str, Any]) -> str:
    return ", ".join(f"`{name} = {value}`" for name, value in given.items())


def _words(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |"
