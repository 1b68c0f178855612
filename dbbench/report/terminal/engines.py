"""Engines in words, for the terminal: which there are, and why others take no part."""

import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from dbbench.engine.probe import Probed


def overview_lines(engines: Mapping[str, Probed], *, columns: int) -> Iterator[str]:
    """A line for each engine that is available or broken, then for each reason why others are not."""
    by_status: dict[str, dict[str, Probed]] = defaultdict(dict)
    for name, engine in engines.items():
        by_status[engine.status][name] = engine
    available, broken, unavailable = (by_status[status] for status in ("available", "broken", "unavailable"))
    reasons: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, engine in unavailable.items():
        reasons[engine.detail][name.partition("+")[0]].append(name)
    width = min(max(map(len, (*available, *broken)), default=0), columns // 2)
    if available:
        yield f"available: {len(available)}"
        for name, engine in available.items():
            named = " (only with --engine)" if engine.by_name_only else ""
            yield _row(name, f"{_versions(engine)}{named}", width, columns)
    if broken:
        yield f"broken: {len(broken)} (`dbbench engines NAME` shows the whole error)"
        for name, engine in broken.items():
            yield _row(name, engine.detail, width, columns)
    if unavailable:
        yield f"unavailable: {len(unavailable)} (`dbbench engines NAME` says what it needs)"
        for reason, families in reasons.items():
            text = f"{reason}: {'; '.join(map(_family, families.values()))}"
            yield from textwrap.wrap(
                text, columns, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
            )
    yield "details of all: dbbench engines --all"


def _row(label: str, text: str, width: int, columns: int) -> str:
    start = f"  {label:<{width}}  "
    return f"{start}{textwrap.shorten(text, max(columns - len(start), 20), placeholder=' ...')}"


def _family(names: Sequence[str]) -> str:
    """Engines of one database as `mysql, +core, +orm`."""
    base = names[0].partition("+")[0]
    return ", ".join([names[0], *(name.removeprefix(base) for name in names[1:])])


def _versions(engine: Probed) -> str:
    return ", ".join(f"{product} {version}" for product, version in engine.versions.items()) or engine.title


def engine_lines(engines: Mapping[str, Probed], *, verbose: bool, columns: int) -> Iterator[str]:
    """Each engine's status and versions, or why it can't be used; under it licence, publication and how to install."""
    width = max(len(name) for name in engines)
    states = max(len(engine.status) for engine in engines.values())
    indent = " " * (width + states + 4)
    for name, engine in engines.items():
        what = _versions(engine) if engine.status == "available" else engine.detail
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
                default = f" [default: {engine.defaults[option]}]" if option in engine.defaults else ""
                yield from hanging(columns, indent, f"--set {name}.{option}=...  {purpose}{default}")


def absent_lines(absent: Mapping[str, Probed], idle: Sequence[str], *, columns: int) -> Iterator[str]:
    """Engines that nobody asked for by name and that take no part in a run; `idle` have nothing to do in its suite.

    A broken one surprises, so its reason stands here; `dbbench engines` says what the others need.
    """
    others = {name: engine for name, engine in absent.items() if name not in idle}
    for name, engine in others.items():
        if engine.status == "broken":
            yield from hanging(columns, "", f"broken: {name}: {engine.detail}", 2)
    missing = [name for name, engine in others.items() if engine.status == "unavailable"]
    named = [name for name, engine in others.items() if engine.status == "available"]
    for label, names in (
        ("unavailable (see `dbbench engines`)", missing),
        ("only with --engine (see `dbbench engines NAME`)", named),
    ):
        if names:
            yield from hanging(columns, "", f"{label}: {', '.join(names)}", 2)
    if idle:
        yield from hanging(columns, "", f"{len(idle)} other engines don't support this suite", 2)


def _verb(install: str) -> str:
    """Steps to satisfy an engine's needs: an option, a command, or something else."""
    if install.startswith("--"):
        return "give it"
    return "install" if install.startswith(("pip ", "apt ", "dbbench ")) else "needed"


def _offered(engine: Probed) -> str:
    """The kinds of work that it has operations for."""
    if not engine.durability:  # it is listed, and not written
        return ""
    kinds = {"query": "tables", "read": "records", "get": "objects", "nearest": "vectors", "search": "texts"}
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


_GIVES = {
    "rows": "Python values",
    "batches": "Arrow batches",
    "columns": "columns in .NET",
    "awaited": "Python values, awaited",
}


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
            _GIVES[engine.gives],
            engine.license,
            published(engine).removeprefix("results "),
            ", ".join(f"`{extra}`" for extra in engine.extras) or "none",
            " ".join(engine.debian) or "none",
            engine.unverified or "in CI",
        ]
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def hanging(columns: int, start: str, text: str, indent: int | None = None) -> list[str]:
    """A text after `start`, wrapped at `columns`, later lines indented."""
    later = " " * (len(start) if indent is None else indent)
    return textwrap.wrap(text, columns, initial_indent=start, subsequent_indent=later) or [start.rstrip()]
