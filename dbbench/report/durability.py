"""The proofs of durability tiers, as a table for the terminal and as Markdown for the documentation."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from dbbench.durability.proof import Proof, Proofs
from dbbench.machine import in_words

#: What these proofs can't show; stands under every table.
LIMITS = (
    "kill -9 shows what the end of a process does, not what a loss of power does. Sync calls show that the engine "
    "asked for its data to be on the disk, not that the disk obeyed. So many kills without a loss make one rare, "
    "not impossible."
)
_HEADINGS = ("engine", "tier", "verdict", "kills", "acknowledged", "found", "lost", "half", "syncs per commit")
_NUMBERS = slice(3, 8)


def lines(proofs: Proofs, *, columns: int) -> Iterator[str]:
    """An aligned table, what there is to say of its rows, and how it was made."""
    rows = [_HEADINGS, *(_cells(proof) for proof in proofs.proofs)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(_HEADINGS))]
    numbers = range(len(_HEADINGS))[_NUMBERS]
    for row in rows:
        cells = [
            f"{cell:>{width}}" if at in numbers else f"{cell:<{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
    yield ""
    for text in (*_remarks(proofs), *_made(proofs), LIMITS):
        yield from textwrap.wrap(text, columns, subsequent_indent="  ")


def markdown(proofs: Proofs) -> Iterator[str]:
    """The same as Markdown."""
    yield f"| {' | '.join((*_HEADINGS, 'remarks'))} |"
    yield "|---|---|---|---:|---:|---:|---:|---:|---|---|"
    for proof in proofs.proofs:
        cells = [f"`{proof.engine}`", *_cells(proof)[1:], proof.detail]
        yield f"| {' | '.join(_escaped(cell) for cell in cells)} |"
    yield ""
    yield " ".join(f"{text}." for text in _made(proofs))
    yield ""
    for engine, versions in _versions(proofs).items():
        yield f"- `{engine}`: {_escaped(versions)}"


def _cells(proof: Proof) -> tuple[str, ...]:
    kills, known = proof.kills, (proof.engine, str(proof.tier), str(proof.verdict))
    if not kills.kills:
        return (*known, *["-"] * (len(_HEADINGS) - len(known)))
    numbers = (kills.kills, kills.acknowledged, kills.found, kills.lost, kills.half)
    return (*known, *(f"{number:,}" for number in numbers), proof.syncs.in_words)


def _remarks(proofs: Proofs) -> Iterator[str]:
    same: dict[tuple[str, str], list[str]] = {}
    for proof in proofs.proofs:
        if proof.detail:
            same.setdefault((proof.engine, f"{proof.verdict}: {proof.detail}"), []).append(proof.tier)
    for (engine, words), tiers in same.items():
        yield f"{engine} {', '.join(tiers)}: {words}"
    for name, why in proofs.absent.items():
        yield f"not here: {name}: {why}"


def _made(proofs: Proofs) -> Iterator[str]:
    day = proofs.created[:10]
    yield f"{day}, dbbench {proofs.machine['dbbench']}, seed {proofs.seed}, {proofs.kills} kills each"
    yield in_words(dict(proofs.machine))


def _versions(proofs: Proofs) -> dict[str, str]:
    found = {}
    for proof in proofs.proofs:
        if proof.versions:
            found[proof.engine] = ", ".join(f"{name} {version}" for name, version in proof.versions.items())
    return found


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
