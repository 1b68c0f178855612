"""The table of crash checks names every engine and tier, and agrees with the plugins."""

import re

import pytest

from dbbench.engine import registry
from dbbench.results.crash_checks import CheckVerdict
from dbbench.suite.model import Tier
from tests.docs.test_docs import ROOT

PAGE = (ROOT / "docs" / "durability.md").read_text("utf-8")
TABLE = (ROOT / "benchmarks" / "measured.md").read_text("utf-8").partition("## Crash checks")[2]
HEAD = ("power", "process", "memory")
#: (engine, tier) -> verdict, "-" for a tier that isn't offered
ROWS = {
    (engine, tier): cell.partition(":")[0]
    for engine, *cells in re.findall(r"^\| `(\S+)` \| (.+) \| (.+) \| (.+) \|$", TABLE, re.MULTILINE)
    for tier, cell in zip(HEAD, cells, strict=True)
}
#: An engine of each kind that syncs in a way of its own. Drivers of one database share the check of one of them.
CHECKED = ["sqlite", "sqlite+apsw", "duckdb", "duckdb+arrow", "firebird", "libsql", "turso", "chdb", "h2", "hsqldb"]
CHECKED += ["derby", "access", "odbc+sqlite", "postgresql", "mysql", "rawfile", "rawfile+dsync", "rawfile+mmap"]
CHECKED += ["rawfile+direct", "io_uring", "virtualfile"]


@pytest.mark.parametrize("name", CHECKED)
def test_every_tier_is_in_the_table(name: str) -> None:
    engine = registry.find(name)
    for tier in Tier:
        verdict = ROWS.get((name, tier), "")
        assert verdict, f"put {name} {tier} into benchmarks/measured.md: dbbench durability {name}"
        assert verdict == "-" or verdict in list(CheckVerdict)
        assert (verdict == "-") == (tier not in engine.durability)


def test_the_table_has_no_engine_but_dbbenchs() -> None:
    assert {engine for engine, _ in ROWS} <= set(registry.names("dbbench"))


def test_what_failed_lacks_what_it_takes() -> None:
    assert ROWS
    bad = {engine for (engine, _), verdict in ROWS.items() if verdict in (CheckVerdict.FAILED, CheckVerdict.ERROR)}
    assert [engine for engine in bad if "atomic commits" not in registry.find(engine).missing_features] == []


def test_the_table_has_these_tiers() -> None:
    assert f"| engine | {' | '.join(HEAD)} |" in TABLE


@pytest.mark.parametrize("word", [*CheckVerdict, *Tier])
def test_every_word_is_explained(word: str) -> None:
    assert f"| `{word}` |" in PAGE
