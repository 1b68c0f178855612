"""Engines and suites in words, for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from dbbench.probe import Probed
from dbbench.suite import ChurnStep, QueryStep, SqlStep, Suite


def engine_lines(engines: Mapping[str, Probed], *, verbose: bool, columns: int) -> Iterator[str]:
    """A line for each engine, and what else there is to know of it under it."""

    def _hanging(start: str, text: str) -> list[str]:
        return hanging(columns, start, text)

    width = max(len(name) for name in engines)
    states = max(len(engine.status) for engine in engines.values())
    for name, engine in engines.items():
        versions = ", ".join(f"{product} {version}" for product, version in engine.versions.items())
        what = f"{versions or engine.title}; {engine.license}" if engine.status == "available" else engine.detail
        yield from _hanging(f"{name:<{width}}  {engine.status:<{states}}  ", what)
        if engine.install:
            yield from _hanging(" " * (width + states + 4), f"install: {engine.install}")
        if verbose and engine.status == "available":
            indent = " " * (width + 2)
            yield from _hanging(indent, engine.title)
            note = f" ({engine.publication_note})" if engine.publication_note else ""
            yield from _hanging(indent, f"publication of results: {engine.publication}{note}")
            yield from _hanging(indent, f"durability: {', '.join(engine.durability) or 'none'}")
            for option, purpose in engine.options.items():
                yield from _hanging(indent, f"--set {name}.{option}=...  {purpose}")


def suite_lines(suite: Suite, *, columns: int) -> Iterator[str]:
    """What a suite does."""

    def _hanging(start: str, text: str, indent: int | None = None) -> list[str]:
        return hanging(columns, start, text, indent)

    yield from _hanging("", f"{suite.name}: {suite.title}")
    yield from _hanging("", " ".join(suite.description.split()))
    if suite.source:
        yield from _hanging("", f"Reproduces: {suite.source.title} ({suite.source.year}). {suite.source.note}")
    for name, dataset in suite.datasets.items():
        yield ""
        total = sum(table.rows for table in dataset.tables.values())
        yield f"Dataset {name}: {total:,} rows at scale 1, seed {dataset.seed}"
        for table_name, table in dataset.tables.items():
            described = ", ".join(f"{column} {facts.type}" for column, facts in table.columns.items())
            indexes = f"; indexes on {', '.join(table.indexes)}" if table.indexes else ""
            text = f"{table.rows:,} rows; {described}; primary key {table.primary_key}{indexes}"
            yield from _hanging(f"  {table_name}: ", text, 4)
    for scenario in suite.scenarios:
        yield ""
        yield f"Scenario {scenario.name} on {scenario.dataset}, durability {scenario.durability}"
        for number, step in enumerate(scenario.steps, 1):
            kind = f"{step.kind}, cold" if isinstance(step, QueryStep) and step.cache == "cold" else step.kind
            yield from _hanging(f"  {number}. {step.name}: ", f"{step.title} ({kind})", 5)
            if isinstance(step, ChurnStep):
                what = f"{step.passes} times {step.share:.0%} of {step.table}, {step.transaction:,} rows at once"
                yield from _hanging("     ", what)
            if isinstance(step, SqlStep):
                yield from _hanging("     ", " ".join(step.sql.split()))
                for dialect, override in step.dialects.items():
                    yield from _hanging(f"     {dialect}: ", " ".join(override.split()), 7)


def hanging(columns: int, start: str, text: str, indent: int | None = None) -> list[str]:
    """A text after `start`, wrapped at `columns`, later lines indented."""
    later = " " * (len(start) if indent is None else indent)
    return textwrap.wrap(text, columns, initial_indent=start, subsequent_indent=later) or [start.rstrip()]
