"""Searches for the nearest vectors that lie, each in its own way, beside an honest one."""

import pytest

from tests.conftest import run_dbbench, summary

pytestmark = pytest.mark.matrix

SUITE = """
dbbench: 1
name: near
title: Near
description: What searches return.
datasets:
  l2:
    vectors: {count: 3000, dimensions: 16, labels: [0.02], queries: 1200}
  ip:
    vectors: {count: 3000, dimensions: 16, metric: ip, queries: 1200}
scenarios:
  - name: l2
    title: Squared distance
    dataset: l2
    durability: memory
    steps:
      - {kind: load, name: load, title: Load}
      - {kind: nearest, name: nearest, title: Nearest, recall: [0.9, 0.95]}
      - {kind: nearest, name: crowd, title: Two clients, clients: 2, duration: 0.3, recall: 0.9}
      - {kind: nearest, name: filtered, title: Filtered, where: {label: 0.02}, recall: 0.9}
    charts: [{kind: overview}]
  - name: ip
    title: Inner product
    dataset: ip
    durability: memory
    steps:
      - {kind: load, name: load-ip, title: Load}
      - {kind: nearest, name: by-product, title: By product, recall: 0.9}
    charts: [{kind: overview}]
"""
SEARCHES = ("nearest-90", "nearest-95", "crowd", "filtered", "by-product")
#: Engine -> step -> its outcome, and words of what is said of it.
LIES = {
    "near-fewer": {"filtered": ("wrong", " rows instead of 10, in ")},
    "near-unfiltered": {"filtered": ("wrong", "whose label is 0, where the label 1 was asked for")},
    "near-cached": {"load": ("wrong", "a search of the loaded vectors finds 2")},
    "near-claims": dict.fromkeys(("nearest-90", "nearest-95"), ("no recall", "in the timed searches")),
    "near-crowded": {"nearest-90": ("ok", ""), "crowd": ("wrong", "of the nearest, where 90.0% were found before")},
    "near-exact": dict.fromkeys(
        SEARCHES, ("ok", "an exact search: with the least cells, declared as its knob, it finds every neighbour")
    ),
    "near-stuck": dict.fromkeys(("nearest-90",), ("ok", "its knob cells has no effect")),
    "near-repeats": {"load": ("wrong", "twice in one answer")},
    "near-places": {"load": ("wrong", "a search of the loaded vectors finds 0%")},
    "near-lazy": {"load": ("wrong", "returned a generator, not a list or array of keys")},
    "near-more": {"load": ("wrong", "20 rows instead of 10")},
    "near-drops": {"load": ("wrong", "of the nearest")},
    "near-loses": {"load": ("wrong", "a search for loaded vectors by themselves finds ")},
    "near-loses-more": dict.fromkeys(("load", "load-ip"), ("wrong", "of the nearest")),
    "near-coarse": {
        "nearest-90": ("ok", "approximate, and nothing to set"),
        "nearest-95": ("no recall", "no recall of 0.95: 0.93"),  # by 2.5 standard errors
    },
    "near-replaces": {"load-ip": ("wrong", "of the nearest")},
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, str]]:
    folder = tmp_path_factory.mktemp("near")
    (folder / "suite.yaml").write_text(SUITE, "utf-8")
    engines = [word for name in ("near-honest", *LIES) for word in ("--engine", name)]
    command = ["suite", "suite.yaml", "--quick", "--format", "csv", "--out", "run"]
    done = run_dbbench(folder, *command, *engines, plugins=("faulty",))
    assert done.returncode == 1, done.stdout + done.stderr
    return summary(folder / "run")


@pytest.mark.parametrize("engine", LIES)
def test_a_search_that_lies_is_told(rows: dict[tuple[str, str], dict[str, str]], engine: str) -> None:
    for step, (outcome, words) in LIES[engine].items():
        row = rows[step, engine]
        assert row["outcome"] == outcome, (step, row["detail"])
        assert words in row["detail"]


def test_an_honest_search_is_not_accused(rows: dict[tuple[str, str], dict[str, str]]) -> None:
    for step in ("load", "load-ip", *SEARCHES):
        row = rows[step, "near-honest"]
        assert (row["outcome"], row["detail"]) == ("ok", ""), (step, row["detail"])
    assert float(rows["nearest-90", "near-honest"]["value"]) > float(rows["nearest-90", "near-exact"]["value"])
