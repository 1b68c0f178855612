"""The table of proofs names every engine and tier, and agrees with the plugins."""

from __future__ import annotations

import re
from importlib.metadata import entry_points

import pytest

from dbbench import registry
from dbbench.durability.proof import Verdict
from dbbench.report.durability import markdown
from dbbench.suite import Tier
from tests.docs.test_docs import ROOT
from tests.unit.test_durability import PROVEN, proofs

PAGE = (ROOT / "docs" / "durability.md").read_text("utf-8")
#: (engine, tier) -> verdict
ROWS = {
    (engine, tier): verdict
    for engine, tier, verdict in re.findall(r"^\| `(\S+)` \| (\w+) \| ([\w ]+) \|", PAGE, re.MULTILINE)
}
#: An engine of each kind that syncs in a way of its own. Drivers of one database share what was proven of one of them.
PROVED = ["sqlite", "sqlite+apsw", "duckdb", "duckdb+arrow", "firebird", "libsql", "turso", "chdb", "h2", "hsqldb"]
PROVED += ["derby", "access", "odbc+sqlite", "postgresql", "mysql", "rawfile", "rawfile+dsync", "rawfile+mmap"]
PROVED += ["rawfile+direct", "io_uring", "virtualfile"]


@pytest.mark.parametrize("name", PROVED)
def test_every_tier_is_in_the_table(name: str) -> None:
    engine = registry.find(name)
    for tier in Tier:
        verdict = ROWS.get((name, tier), "")
        assert verdict, f"put {name} {tier} into docs/durability.md: dbbench durability {name} --markdown"
        assert (verdict == Verdict.REFUSED) == (tier not in engine.durability)


def test_the_table_has_no_engine_but_dbbenchs() -> None:
    known = {point.name for point in entry_points(group=registry.GROUP)}
    assert {engine for engine, _ in ROWS} <= known


def test_what_is_refuted_lacks_what_it_takes() -> None:
    assert ROWS
    bad = {engine for (engine, _), verdict in ROWS.items() if verdict in (Verdict.REFUTED, Verdict.FAILED)}
    assert [engine for engine in bad if "atomic commits" not in registry.find(engine).lacks] == []


def test_the_table_has_the_columns_of_the_command() -> None:
    head, ruler, *_ = markdown(proofs(PROVEN))
    assert f"{head}\n{ruler}\n" in PAGE


@pytest.mark.parametrize("word", [*Verdict, *Tier])
def test_every_word_is_explained(word: str) -> None:
    assert f"| `{word}` |" in PAGE
