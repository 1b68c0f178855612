"""Crash checks of durability tiers, as a table for the terminal."""

import textwrap
from collections.abc import Iterator

from dbbench.host.machine import in_words
from dbbench.results.crash_checks import TierCheck, TierChecks

#: What these checks can't show. It stands under every table.
LIMITS = (
    "kill -9 tests the end of a process, not a loss of power. Sync calls show that the engine "
    "asked for its data to be on the disk, not that the disk obeyed. A pass makes a loss rare, not impossible."
)
_HEADINGS = ("engine", "tier", "verdict", "kills", "acknowledged", "found", "lost", "half", "syncs per commit")
_NUMBERS = slice(3, 8)


def lines(checks: TierChecks, *, columns: int) -> Iterator[str]:
    """An aligned table, what there is to say of its rows, and how it was made."""
    rows = [_HEADINGS, *(_cells(check) for check in checks.checks)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(_HEADINGS))]
    numbers = range(len(_HEADINGS))[_NUMBERS]
    for row in rows:
        cells = [
            f"{cell:>{width}}" if at in numbers else f"{cell:<{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
    yield ""
    for text in (*_remarks(checks), *_made(checks), LIMITS):
        yield from textwrap.wrap(text, columns, subsequent_indent="  ")


def _cells(check: TierCheck) -> tuple[str, ...]:
    kills, known = check.kills, (check.engine, str(check.tier), str(check.verdict))
    if not kills.kills:
        return (*known, *["-"] * (len(_HEADINGS) - len(known)))
    numbers = (kills.kills, kills.acknowledged, kills.found, kills.lost, kills.half)
    return (*known, *(f"{number:,}" for number in numbers), check.syncs.in_words)


def _remarks(checks: TierChecks) -> Iterator[str]:
    same: dict[tuple[str, str], list[str]] = {}
    for check in checks.checks:
        if check.detail:
            same.setdefault((check.engine, f"{check.verdict}: {check.detail}"), []).append(check.tier)
    for (engine, words), tiers in same.items():
        yield f"{engine} {', '.join(tiers)}: {words}"
    for name, why in checks.absent.items():
        yield f"unavailable: {name}: {why}"


def _made(checks: TierChecks) -> Iterator[str]:
    day = checks.created[:10]
    yield f"{day}, dbbench {checks.machine['dbbench']}, seed {checks.seed}, {checks.kills} kills each"
    yield in_words(dict(checks.machine))
