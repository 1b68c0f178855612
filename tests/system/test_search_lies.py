"""Searches for texts that lie, each in its own way, beside an honest one."""

import pytest

from tests.conftest import run_dbbench, summary

pytestmark = pytest.mark.matrix

SUITE = """
dbbench: 1
name: words
title: Words
description: What searches return.
datasets:
  texts:
    texts: {count: 1000, vocabulary: 2000}
scenarios:
  - name: words
    title: Words
    dataset: texts
    durability: memory
    steps:
      - {kind: load, name: load, title: Load}
      - {kind: search, name: all, title: All, match: {all: {}}}
      - {kind: search, name: frequent, title: Frequent, match: {any: {among: [1, 20]}}}
      - {kind: search, name: best, title: Best, match: {any: {words: 3}}, top: 10}
      - {kind: search, name: text, title: Text, match: {any: {}}, top: 3, payload: text}
      - {kind: search, name: crowd, title: Two clients, match: {all: {}}, clients: 2, duration: 0.3}
"""
#: Engine -> step -> its outcome, and words of what is said of it.
LIES = {
    "words-fewer": {"load": ("wrong", " rows instead of ")},
    "words-limited": {"load": ("wrong", " rows instead of ")},
    "words-any": {"load": ("wrong", "whose text doesn't match, for all of ")},
    "words-order": {"load": ("wrong", "whose text doesn't match, for phrase of ")},
    "words-whole": {"load": ("wrong", ", for prefix of ")},
    "words-cached": {"load": ("wrong", "a search of the loaded texts returned ")},
    "words-tired": {"best": ("wrong", ", for any of ")},
    "words-crowded": {"best": ("ok", ""), "crowd": ("wrong", "whose text doesn't match, for all of ")},
    "words-doubled": {"load": ("wrong", "a key twice in one answer")},
    "words-stems": {"load": ("wrong", "whose text doesn't match, for any of ")},
    "words-stops": {"frequent": ("wrong", " rows instead of ")},
    "words-unranked": {"best": ("ok", "its order is hardly better than a random one")},
    "words-others": {"best": ("ok", ""), "text": ("wrong", "another text under the key ")},
    "words-lazy": {"load": ("wrong", "returned a generator, not a list or array of keys")},
    "words-loses": {"load": ("wrong", " rows instead of ")},
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, str]]:
    folder = tmp_path_factory.mktemp("words")
    (folder / "suite.yaml").write_text(SUITE, "utf-8")
    engines = [word for name in ("words-honest", *LIES) for word in ("--engine", name)]
    command = ["suite", "suite.yaml", "--rounds", "1", "--format", "csv", "--out", "run"]
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
    for step in ("load", "all", "frequent", "best", "text", "crowd"):
        row = rows[step, "words-honest"]
        said = row["detail"].startswith("its first calls took ")  # on a busy machine
        assert row["outcome"] == "ok", (step, row["detail"])
        assert said or not row["detail"], (step, row["detail"])
