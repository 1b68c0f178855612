"""The lies of tests/faulty: tests of whole runs try each, and docs/method.md says which groups there are and what isn't found."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import pytest

from tests.docs.test_docs import ROOT, section
from tests.plugins import faulty_engines

FOUND, _, NOT_FOUND = section((ROOT / "docs" / "method.md").read_text("utf-8"), "## Lies").partition("Not found:")
GROUPS = re.findall(r"`([a-z]+-)\*`", FOUND)
#: Those of the groups that get at most a footnote.
NOTED = re.findall(r"`([a-z]+-[a-z-]+)`", FOUND)
#: Plugins of the groups that don't lie: honest ones, and those that break, refuse, are slow, or have other types or plans.
NO_LIES = (
    *("written-honest", "store-good", "faulty-faulty", "faulty-twin", "faulty-declares", "faulty-floats"),
    *("servers-lost", "store-crashes-on-close", "store-crashes-under-threads", "store-hangs-on-close"),
    *(
        "faulty-breeds",
        "faulty-crashes",
        "faulty-dying",
        "faulty-eats",
        "faulty-exits",
        "faulty-fills",
        "faulty-hangs",
        "faulty-leaves",
    ),
    *("faulty-raises", "faulty-raves", "faulty-stuck", "faulty-unloadable"),
    *("faulty-client-dies", "faulty-locked", "faulty-storm", "faulty-thread-dies"),
    *("faulty-can-not", "faulty-forbidden", "faulty-library", "faulty-only-loads", "faulty-refuses"),
    *("faulty-one", "faulty-rereads", "faulty-slow", "faulty-slowed", "faulty-stalls"),
    *("faulty-plan-kills", "faulty-plan-panics", "faulty-plan-refused", "faulty-repeats", "faulty-unindexed"),
)
#: In tests/system, what a file has of them in its own dicts and tuples.
CONSTANTS = re.compile(r"(?m)^((?:MORE_)?LIES)\b")
#: What a plugin may do -> the plugin that does it, or the words of the table that say why it isn't found.
KINDS = {
    "queues writes until the next session": "written-queues",
    "commits in the next connect()": "written-connects",
    "answers before it has written": "written-asynchronous",
    "writes behind": "written-behind",
    "writes each fiftieth commit": "written-fiftieth",
    "syncs a group of commits after the reply": "written-groups",
    "keeps data in a dict of the process": "written-world",
    "keeps data in memory until close()": "written-closes",
    "doesn't sync": "written-unsynced",
    "syncs each tenth commit": "written-tenth",
    "syncs each hundredth commit": "written-hundredth",
    "syncs only while its syncs are counted": "written-watched",
    "syncs to shared memory": "written-memory",
    "answers that it syncs": "written-asked",
    "sets up syncs for one session alone": "promises-unsynced",
    "leaves out a churn, after which all is as it was": "written-idle",
    "shares a connection that never commits": "loads-shared",
    "keeps data in a server's memory": "servers-forgets",
    "keeps data in the client's process": "servers-alone",
    "reads nothing while the collector is off": "timed-reads",
    "reads nothing where a timed loop calls": "timed-stack",
    "seeks another key while timed": "timed-seeks",
    "scans half while timed": "timed-scans",
    "gives half a range while timed": "timed-ranges",
    "gives no objects while timed": "timed-objects",
    "gives one object for all keys": "timed-same",
    "writes without the read before it": "timed-reads",
    "does nothing at a rate": "timed-reads",
    "does nothing in a search for the highest rate": "timed-columns",
    "returns another value of the same length": "timed-regenerates",
    "makes values by the harness's generator": "store-makes",
    "fetches a range when it is looked at": "timed-ahead",
    "reads a value when it is looked at": "timed-sighted",
    "fills in values later": "timed-filled",
    "makes Arrow columns when they are looked at": "timed-lazy",
    "reads another row in timed transactions": "books-reads",
    "reads another block while timed": "timed-blocks",
    "keeps what a session has read": "timed-stale",
    "keeps an answer": "faulty-keeps",
    "keeps answers until something changes": "faulty-memoises",
    "fetches in `prepare`": "fetching in `prepare`",
    "fetches between calls": "fetching between calls",
    "makes members of objects when they are looked at": "members of objects",
    "reads its file before a cold read": "faulty-prefetches",
    "has a stub on disk and the data in memory": "sizes-stub",
    "has its data in a deleted file": "sizes-deleted",
    "has its files elsewhere": "sizes-elsewhere",
    "keeps memory in a child": "faulty-hires",
    "has a child work": "faulty-hires",
    "raises its priority": "faulty-hastens",
    "changes its scheduling class": "faulty-overtakes",
    "takes more processors": "faulty-escapes",
    "has clients take turns": "clients that a lock serves one by one",
    "claims another version": "a false version",
    "claims another setting": "faulty-claims",
    "swears to indexes": "promises-other-column",
    "swaps values in a middle round": "loads-middle",
    "moves money so that only the sum is right": "books-moves",
    "reads what isn't committed": "dirty reads",
    "has no snapshot": "no snapshot",
    "patches the clock, the checks or the results": "patches the clock",
}


def named(constant: Any) -> Iterator[str]:
    """All texts in it, keys and values of mappings among them."""
    if isinstance(constant, str):
        yield constant
    elif isinstance(constant, Mapping | tuple):
        for each in constant.items() if isinstance(constant, Mapping) else constant:
            yield from named(each)


@cache
def tried() -> frozenset[str]:
    """The lies that are tried in whole runs."""
    found = set[str]()
    for path in (ROOT / "tests" / "system").glob("*.py"):
        if constants := CONSTANTS.findall(path.read_text("utf-8")):
            module = import_module(f"tests.system.{path.stem}")
            found.update(*(named(getattr(module, constant)) for constant in constants))
    return frozenset(found & faulty_engines().keys())


def reasons() -> list[list[str]]:
    """The rows of what isn't found: the lies of each, and why."""
    _, _, rows = NOT_FOUND.partition("|---|---|\n")
    return [line.split("|")[1:-1] for line in rows.splitlines() if line.startswith("|")]


def test_each_lie_of_a_group_is_tried() -> None:
    mine = {name for name in faulty_engines() if name.startswith(tuple(GROUPS))}
    assert [group for group in GROUPS if not any(name.startswith(group) for name in mine)] == []
    assert sorted(mine - tried() - {*NO_LIES}) == []
    assert sorted(({*NO_LIES} - mine) | ({*NO_LIES} & tried())) == []
    assert sorted({*NOTED} - tried()) == []


def test_seventy_lies_are_found_and_the_others_named_with_the_reason() -> None:
    assert sorted(name for name in tried() if not name.startswith(tuple(GROUPS))) == []
    assert len(tried() - {*NOTED}) >= 70
    assert len(reasons()) >= 10
    assert all(len(row) == 2 and all(cell.strip() for cell in row) for row in reasons())


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_found_or_named_with_the_reason(kind: str) -> None:
    how = KINDS[kind]
    assert how in tried() - {*NOTED} or len([lie for lie, _ in reasons() if how in lie]) == 1, how


def test_most_kinds_are_found() -> None:
    assert len(KINDS) >= 55
    assert len([how for how in KINDS.values() if how in tried()]) >= 45
