"""Conditions of figures in words: a scenario's durability tier, what is known of it, the hosts of clients."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from dbbench.analysis.row import Row
from dbbench.analysis.units import amount
from dbbench.results.run_directory import Manifest
from dbbench.results.trial import TrialResult
from dbbench.suite.model import Scenario, Tier

_DECLARED = "declared"
#: Tier -> what it promises of a commit.
_PROMISES = {
    Tier.MEMORY: "commits are lost when the process ends",
    Tier.PROCESS: "commits survive a crash of the process",
    Tier.POWER: "commits survive power loss",
}
#: Up to this number hosts are listed one by one; of more the minimum and maximum.
_EACH = 4


def durability(scenario: Scenario, manifest: Manifest, results: Sequence[TrialResult]) -> str:
    """Like `power; crash check passed (20 kills, 22 Nov 2026): SQLite (sqlite3); declared: DuckDB (rows)`.

    Each engine is named unless all are only declared. One whose trials differ, as by its versions, is declared.
    """
    found: dict[str, list[str]] = {}
    for name, title in manifest.titles(results).items():
        mine = [each.engine for each in results if (each.scenario_name, each.engine_name) == (scenario.name, name)]
        if manifest.ranked(name) and any(mine):
            words = {_words(settings) for settings in mine if settings}
            found.setdefault(words.pop() if len(words) == 1 else _DECLARED, []).append(title)
    if found.keys() <= {_DECLARED}:
        return f"{scenario.durability} ({_DECLARED})"
    declared = found.pop(_DECLARED, [])
    if declared:
        found[_DECLARED] = declared  # last
    return "; ".join([scenario.durability, *(f"{words}: {', '.join(names)}" for words, names in found.items())])


def promised(tier: Tier, known: str) -> str:
    """What `durability` gives, in a sentence where nothing was tried."""
    if known != f"{tier} ({_DECLARED})":
        return known
    return f"{_PROMISES[tier]}, as the vendors document (not crash-tested here)"


def _words(settings: Mapping[str, Any]) -> str:
    check = settings.get("crash_check")
    if not check:
        return _DECLARED
    kills = f"{check['kills']:,} kill{'s' if check['kills'] != 1 else ''}"
    return f"crash check {'passed' if check['passed'] else 'failed'} ({kills}, {check['day'].day} {check['day']:%b %Y})"


def host_notes(rows: Iterable[Row]) -> Iterator[str]:
    """Clients, rate, busy processors, start and clock of each engine on every host.

    Figures are medians of the rounds.
    """
    for row in rows:
        rounds = [facts["cluster"]["hosts"] for facts in row.rounds if "cluster" in facts]
        if not rounds or row.value is None or row.withheld:
            continue
        names = list(dict.fromkeys(host["name"] for hosts in rounds for host in hosts))
        known = [_medians([host for hosts in rounds for host in hosts if host["name"] == name]) for name in names]
        first = rounds[0][0]
        machine = ", ".join(
            filter(None, (first.get("cpu", ""), f"kernel {first['kernel']}" if "kernel" in first else ""))
        )
        if len(names) > _EACH:
            words = f"each {_figures(known)}"
        else:
            words = "; ".join(f"{name} {_figures([each])}" for name, each in zip(names, known, strict=True))
        count = f"{len(names)} host{'s' if len(names) > 1 else ''}"
        yield f"{row.title}, clients on {count} ({machine or 'unknown'}): {words}."


def _medians(rounds: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """A host's figures over the rounds; None where no round has one."""
    found: dict[str, float | None] = {}
    for key in ("clients", "per_second", "busy", "late", "bound", "round_trip"):
        known = [host[key] for host in rounds if host[key] is not None]
        found[key] = median(known) if known else None
    return found


def _figures(hosts: Sequence[Mapping[str, float | None]]) -> str:
    """Figures of one host, or the least and the greatest of several."""

    def span(key: str, text: Callable[[float], str]) -> str:
        known = [value for host in hosts if (value := host[key]) is not None]
        ends = dict.fromkeys(text(value) for value in (min(known), max(known))) if known else ["unknown"]
        return " to ".join(ends)

    clients = span("clients", "{:,.0f}".format)
    return ", ".join(
        (
            f"{clients} client{'' if clients == '1' else 's'}",
            f"{span('per_second', '{:,.0f}'.format)} calls/s",
            f"CPU {span('busy', '{:.0%}'.format)}",
            f"started {span('late', _time)} late",
            f"clock within {span('bound', _time)} (round trip {span('round_trip', _time)})",
        )
    )


def _time(seconds: float) -> str:
    return amount("s", seconds) if seconds else "0 s"
