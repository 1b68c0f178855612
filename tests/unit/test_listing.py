"""What is said of engines that take no part in a run."""

from __future__ import annotations

from dbbench.probe import Probed
from dbbench.report.listing import absent_lines


def test_each_engine_that_is_left_out_is_named_with_its_reason() -> None:
    absent = {
        "gone": Probed("gone", "unavailable", detail="no driver", install="pip install gone"),
        "idle": Probed("idle", "available"),
        "open": Probed("open", "available", by_name_only="it opens a port"),
        "still": Probed("still", "available"),
    }
    assert list(absent_lines(absent, ["idle", "still"])) == [
        "not here: gone: no driver; pip install gone",
        "only with --engine open: it opens a port",
        "without the operations of this suite: idle, still",
    ]
