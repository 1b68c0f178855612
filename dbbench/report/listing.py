"""Engines and suites in words, for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from dbbench.probe import Probed
from dbbench.report.conditions import driven
from dbbench.suite import (
    AnyStep,
    ChurnStep,
    ContentionStep,
    KeyValueStep,
    MixStep,
    ObjectStep,
    QueryStep,
    SqlStep,
    Suite,
    TotalStep,
)


def engine_lines(engines: Mapping[str, Probed], *, verbose: bool, columns: int) -> Iterator[str]:
    """Each engine's status and versions, or why it can't be used; under it licence, publication and how to install."""
    width = max(len(name) for name in engines)
    states = max(len(engine.status) for engine in engines.values())
    indent = " " * (width + states + 4)
    for name, engine in engines.items():
        versions = ", ".join(f"{product} {version}" for product, version in engine.versions.items())
        what = versions or engine.title if engine.status == "available" else engine.detail
        yield from hanging(columns, f"{name:<{width}}  {engine.status:<{states}}  ", what)
        if engine.install:
            yield from hanging(columns, indent, f"{_verb(engine.install)}: {engine.install}")
        if engine.license:
            by_name = engine.by_name_only and f"runs only by name: {engine.by_name_only}"
            words = [engine.license, published(engine), engine.unverified, by_name]
            yield from hanging(columns, indent, "; ".join(filter(None, words)))
        if verbose and engine.title:
            yield from hanging(columns, indent, engine.title)
            yield from hanging(columns, indent, f"durability: {', '.join(engine.durability) or 'none'}")
            if work := _offered(engine):
                dialect = f"; SQL dialect: {engine.dialect}" if engine.dialect else ""
                yield from hanging(columns, indent, f"for steps on: {work}{dialect}")
            for what, why in engine.lacks.items():
                yield from hanging(columns, indent, f"no {what}: {why}")
            if engine.url_example:
                yield from hanging(columns, indent, f"--url {name}={engine.url_example}")
            for option, purpose in engine.options.items():
                yield from hanging(columns, indent, f"--set {name}.{option}=...  {purpose}")


def absent_lines(absent: Mapping[str, Probed], idle: Sequence[str], *, columns: int) -> Iterator[str]:
    """Engines that nobody asked for by name and that take no part in a run; `idle` have nothing to do in its suite.

    One that is broken has its reason at once, for it surprises; what the others need, `dbbench engines` tells.
    """
    others = {name: engine for name, engine in absent.items() if name not in idle}
    for name, engine in others.items():
        if engine.status == "broken":
            yield from hanging(columns, "", f"broken: {name}: {engine.detail}", 2)
    missing = [name for name, engine in others.items() if engine.status == "unavailable"]
    named = [name for name, engine in others.items() if engine.status == "available"]
    for label, names in (
        ("not here (`dbbench engines` says what each needs)", missing),
        ("only with --engine (`dbbench engines` says why)", named),
    ):
        if names:
            yield from hanging(columns, "", f"{label}: {', '.join(names)}", 2)
    if idle:
        yield from hanging(columns, "", f"without the operations of this suite: {len(idle)} engines", 2)


def _verb(install: str) -> str:
    """What is to be done with what an engine needs: an option, a command, or something else."""
    if install.startswith("--"):
        return "give it"
    return "install" if install.startswith(("pip ", "apt ", "dbbench ")) else "needed"


def _offered(engine: Probed) -> str:
    """The kinds of work that it has operations for."""
    if not engine.durability:  # it is listed, and not written
        return ""
    kinds = {"query": "tables", "read": "records", "get": "objects"}
    return ", ".join(kind for operation, kind in kinds.items() if operation in engine.operations)


def published(engine: Probed) -> str:
    """Whether an engine's results may be published, in words."""
    words = {
        "allowed": "results may be published",
        "with conditions": "results may be published with conditions",
        "forbidden": "results must not be published",
        "unknown": "whether results may be published is not known",
    }[engine.publication]
    return f"{words} ({engine.publication_note})" if engine.publication_note else words


def engine_matrix(engines: Mapping[str, Probed]) -> Iterator[str]:
    """Every engine as a row of a Markdown table, by what its class says: the same on every machine."""
    yield (
        "| engine | database (access layer) | server | tiers | steps on | rows come as | licence | publication "
        "| extras | Debian packages | run |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for name, engine in engines.items():
        server = (
            "by `--url`" if engine.url_required else "private, or by `--url`" if engine.url_example else "in process"
        )
        cells = [
            f"`{name}`",
            engine.title,
            server,
            ", ".join(engine.durability),
            _offered(engine),
            {"rows": "Python values", "batches": "Arrow batches"}[engine.gives],
            engine.license,
            published(engine).removeprefix("results "),
            ", ".join(f"`{extra}`" for extra in engine.extras) or "none",
            " ".join(engine.debian) or "none",
            engine.unverified or "in CI",
        ]
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


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
        if known := dataset.records:
            yield f"Dataset {name}: {known.count:,} records at scale 1, seed {dataset.seed}"
            yield f"  {known.key_order} keys of {known.key_bytes} bytes, values of {known.value_bytes} bytes"
            continue
        total = sum(table.rows for table in dataset.tables.values())
        yield f"Dataset {name}: {_number(total, 'row')} at scale 1, seed {dataset.seed}"
        for table_name, table in dataset.tables.items():
            described = ", ".join(f"{column} {facts.type}" for column, facts in table.columns.items())
            indexes = f"; indexes on {', '.join(table.indexes)}" if table.indexes else ""
            text = f"{_number(table.rows, 'row')}; {described}; primary key {table.primary_key}{indexes}"
            yield from _hanging(f"  {table_name}: ", text, 4)
    for scenario in suite.scenarios:
        yield ""
        yield f"Scenario {scenario.name} on {scenario.dataset}, durability {scenario.durability}"
        for number, step in enumerate(scenario.steps, 1):
            cold = isinstance(step, QueryStep | KeyValueStep) and step.cache == "cold"
            kind = f"{step.kind}, cold" if cold else step.kind
            yield from _hanging(f"  {number}. {step.name}: ", f"{step.title} ({kind})", 5)
            if what := _work(step):
                yield from _hanging("     ", what)
            if isinstance(step, SqlStep):
                yield from _hanging("     ", " ".join(step.sql.split()))
                for dialect, override in step.dialects.items():
                    yield from _hanging(f"     {dialect}: ", " ".join(override.split()), 7)


def _work(step: AnyStep) -> str:
    """How much a step does, and by whom; empty where its SQL or its title says all."""
    if isinstance(step, KeyValueStep):
        what = f"{step.operation}, {step.order}, " + (f"{step.count:,}" if step.count else "all")
        in_one = f"; transactions of {step.transaction:,}" if step.transaction > 1 else ""
        return f"{what}{in_one}; {step.clients}"
    if isinstance(step, MixStep):
        shares = ", ".join(f"{name} {weight:g}" for name, weight in step.weights.items())
        return f"{step.operations:,} operations: {shares}; {step.keys} keys; {step.clients}"
    if isinstance(step, ChurnStep):
        return f"{step.passes} times {step.share:.0%} of {step.table}, {step.transaction:,} rows at once"
    if isinstance(step, ObjectStep):
        what = "each by its key" if step.operation == "get" else "by one query"
        held = "; still held" if step.identity_map == "warm" else ""
        return f"{step.count or 'all'} of {step.table}, {what}, {step.iterations} times{held}"
    if isinstance(step, ContentionStep):
        return f"{driven(step)}; each {step.iterations} iterations of {step.sub_iterations} searches in {step.table}"
    if isinstance(step, TotalStep):
        return f"of {', '.join(step.of)}"
    return driven(step)


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def hanging(columns: int, start: str, text: str, indent: int | None = None) -> list[str]:
    """A text after `start`, wrapped at `columns`, later lines indented."""
    later = " " * (len(start) if indent is None else indent)
    return textwrap.wrap(text, columns, initial_indent=start, subsequent_indent=later) or [start.rstrip()]
