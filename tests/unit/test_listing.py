"""What is said of engines that take no part in a run."""

from __future__ import annotations

from dbbench.engine.probe import Probed
from dbbench.report.terminal.engines import absent_lines, overview_lines


def test_engines_that_are_left_out_are_named_and_a_broken_one_says_why() -> None:
    absent = {
        "gone": Probed("gone", "unavailable", detail="no driver", install="pip install gone"),
        "hurt": Probed("hurt", "broken", detail="its import raised OSError"),
        "idle": Probed("idle", "available"),
        "lost": Probed("lost", "unavailable", detail="no library"),
        "open": Probed("open", "available", by_name_only="it opens a port"),
        "still": Probed("still", "available"),
    }
    assert list(absent_lines(absent, ["idle", "still"], columns=80)) == [
        "broken: hurt: its import raised OSError",
        "unavailable (see `dbbench engines`): gone, lost",
        "only with --engine (see `dbbench engines NAME`): open",
        "without the operations of this suite: 2 engines",
    ]
    assert all(len(line) <= 30 for line in absent_lines(absent, [], columns=30))


def test_an_overview_has_a_line_for_each_available_engine_and_for_each_family_that_is_not() -> None:
    engines = {
        "alpha": Probed("alpha", "unavailable", detail="no driver", install="pip install alpha"),
        "alpha+orm": Probed("alpha+orm", "unavailable", detail="no other driver"),
        "beta": Probed("beta", "available", versions={"Beta": "1.2", "beta-driver": "3"}),
        "delta": Probed("delta", "available", title="Delta", by_name_only="it opens a port"),
        "hurt": Probed("hurt", "broken", detail="its import raised OSError"),
    }
    assert list(overview_lines(engines, columns=60)) == [
        "available: 2",
        "  beta         Beta 1.2, beta-driver 3",
        "  delta        Delta (only with --engine)",
        "broken: 1 (`dbbench engines NAME` shows the whole error)",
        "  hurt         its import raised OSError",
        "unavailable: 2 (`dbbench engines NAME` says what it needs)",
        "  alpha, +orm  no driver",
        "details of all: dbbench engines --all",
    ]


def test_a_long_reason_is_cut_so_that_an_engine_stays_on_its_line() -> None:
    engines = {"hurt": Probed("hurt", "broken", detail="word " * 100)}
    (line,) = [line for line in overview_lines(engines, columns=60) if line.startswith("  hurt")]
    assert len(line) <= 60
    assert line.endswith("word ...")
