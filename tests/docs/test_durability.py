"""The table of proofs names every engine and tier, and agrees with the plugins."""

from __future__ import annotations

import re
from importlib.metadata import entry_points

import pytest

from dbbench import registry
from dbbench.durability.proof import Verdict
from dbbench.errors import Unavailable
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
ENGINES = sorted(p.name for p in entry_points(group=registry.GROUP) if p.dist and p.dist.name == "dbbench")


@pytest.mark.parametrize("name", ENGINES)
def test_every_tier_of_every_engine_is_in_the_table(name: str) -> None:
    try:
        engine = registry.load(name)
    except Unavailable as exc:
        pytest.skip(exc.reason)
    if not engine.ranked:
        return
    for tier in Tier:
        verdict = ROWS.get((name, tier), "")
        assert verdict, f"put {name} {tier} into docs/durability.md: dbbench durability {name} --markdown"
        assert (verdict == Verdict.REFUSED) == (tier not in engine.durability)


def test_nothing_in_the_table_is_refuted() -> None:
    assert ROWS
    assert set(ROWS.values()) <= {Verdict.PROVEN, Verdict.NOT_PROMISED, Verdict.REFUSED}


def test_the_table_has_the_columns_of_the_command() -> None:
    head, ruler, *_ = markdown(proofs(PROVEN))
    assert f"{head}\n{ruler}\n" in PAGE


@pytest.mark.parametrize("word", [*Verdict, *Tier])
def test_every_word_is_explained(word: str) -> None:
    assert f"| `{word}` |" in PAGE
