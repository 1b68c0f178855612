"""What is said of engines that take no part in a run."""

from __future__ import annotations

from dbbench.probe import Probed
from dbbench.report.listing import absent_lines


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
        "not here (`dbbench engines` says what each needs): gone, lost",
        "only with --engine (`dbbench engines` says why): open",
        "without the operations of this suite: 2 engines",
    ]
    assert all(len(line) <= 30 for line in absent_lines(absent, [], columns=30))
