"""Searches for texts and for the nearest vectors that lie, each in its own way, beside honest ones."""

from collections.abc import Callable, Mapping
from functools import cache

import pytest

from dbbench.testing.suite_text import suite_text
from tests.conftest import Rows, run_suite, summary
from tests.trials_here import trials_here

pytestmark = pytest.mark.matrix

WORDS = suite_text(
    "words",
    "texts: {count: 1000, vocabulary: 2000}",
    """
    - {kind: load, name: load, title: Load}
    - {kind: search, name: all, title: All, match: {all: {}}}
    - {kind: search, name: frequent, title: Frequent, match: {any: {among: [1, 20]}}}
    - {kind: search, name: best, title: Best, match: {any: {words: 3}}, top: 10}
    - {kind: search, name: text, title: Text, match: {any: {}}, top: 3, payload: text}
    - {kind: search, name: crowd, title: Two clients, match: {all: {}}, clients: 2, duration: 0.3}
    """,
    durability="memory",
)
NEAR = suite_text(
    "near",
    "vectors: {count: 3000, dimensions: 16, labels: [0.02], queries: 1200}",
    """
    - {kind: load, name: load, title: Load}
    - {kind: nearest, name: nearest, title: Nearest, recall: [0.9, 0.95]}
    - {kind: nearest, name: filtered, title: Filtered, where: {label: 0.02}, recall: 0.9}
    """,
    durability="memory",
)
BY_PRODUCT = suite_text(
    "products",
    "vectors: {count: 3000, dimensions: 16, metric: ip, queries: 1200}",
    """
    - {kind: load, name: load-ip, title: Load}
    - {kind: nearest, name: by-product, title: By product, recall: 0.9}
    - {kind: nearest, name: crowd, title: Two clients, clients: 2, duration: 0.3, recall: 0.9}
    """,
    durability="memory",
)
CHANGED = suite_text(
    "changed",
    "vectors: {count: 2000, dimensions: 16, queries: 1200}",
    """
    - {kind: load, name: load-most, title: Load, share: 0.9}
    - {kind: nearest, name: adding, title: While others are added, adding: {batch: 10}, recall: 0.9, duration: 0.5}
    - {kind: delete, name: delete, title: Delete, share: 0.1}
    - {kind: nearest, name: after, title: After, recall: 0.9}
    - {kind: nearest, name: again, title: While they are added again, adding: {batch: 20}, recall: 0.9, duration: 0.5}
    """,
    durability="memory",
)
CHANGED_WORDS = suite_text(
    "rewritten",
    "texts: {count: 1000, vocabulary: 2000}",
    """
    - {kind: load, name: load-texts, title: Load, share: 0.9}
    - {kind: search, name: adding-texts, title: While others are added, match: {any: {}}, adding: {batch: 5}, duration: 0.5}
    - {kind: delete, name: delete-texts, title: Delete, share: 0.2}
    - {kind: search, name: after-texts, title: After, match: {any: {}}, top: 10}
    - {kind: search, name: again-texts, title: Again, match: {any: {}}, top: 10, adding: {batch: 10}, duration: 0.5}
    """,
    durability="memory",
)
SEARCHES, SEARCHES_BY_PRODUCT = ("nearest-90", "nearest-95", "filtered"), ("by-product", "crowd")
EXACT = "an exact search: with the least cells, declared as its knob, it finds every neighbour"
#: Suite -> engine -> step -> its outcome, and words of what is said of it.
LIES: Mapping[str, Mapping[str, Mapping[str, tuple[str, str]]]] = {
    WORDS: {
        "words-fewer": {"load": ("wrong", " rows instead of ")},
        "words-limited": {"load": ("wrong", " rows instead of ")},
        "words-any-for-all": {"load": ("wrong", "whose text doesn't match, for all of ")},
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
    },
    NEAR: {
        "near-fewer": {"filtered": ("wrong", " rows instead of 10, in ")},
        "near-unfiltered": {"filtered": ("wrong", "whose label is 0, where the label 1 was asked for")},
        "near-cached": {"load": ("wrong", "a search of the loaded vectors finds 2")},
        "near-claims": dict.fromkeys(("nearest-90", "nearest-95"), ("no recall", "in the timed searches")),
        "near-exact": dict.fromkeys(SEARCHES, ("ok", EXACT)),
        "near-stuck": {"nearest-90": ("ok", "its knob cells has no effect")},
        "near-repeats": {"load": ("wrong", "twice in one answer")},
        "near-places": {"load": ("wrong", "a search of the loaded vectors finds 0%")},
        "near-lazy": {"load": ("wrong", "returned a generator, not a list or array of keys")},
        "near-more": {"load": ("wrong", "20 rows instead of 10")},
        "near-drops": {"load": ("wrong", "of the nearest")},
        "near-loses": {"load": ("wrong", "a search for loaded vectors by themselves finds ")},
        "near-loses-more": {"load": ("wrong", "of the nearest")},
        "near-coarse": {
            "nearest-90": ("ok", "approximate, and nothing to set"),
            "nearest-95": ("no recall", "no recall of 0.95: 0.93"),  # by 2.5 standard errors
        },
    },
    BY_PRODUCT: {
        "near-crowded": {"by-product": ("ok", ""), "crowd": ("wrong", "% were found before")},
        "near-exact": dict.fromkeys(SEARCHES_BY_PRODUCT, ("ok", EXACT)),
        "near-loses-more": {"load-ip": ("wrong", "of the nearest")},
        "near-replaces": {"load-ip": ("wrong", "of the nearest")},
    },
    CHANGED: {
        "near-undead": {"delete": ("wrong", "which was deleted"), "after": ("not run", "")},
        "near-ghosts": {"delete": ("wrong", "which was deleted")},
        "near-overdoes": {"delete": ("wrong", "a search for loaded vectors by themselves finds ")},
        # What is not there is met by a search beside the additions, or by the check after them, whichever comes first.
        "near-mislays": {"adding": ("wrong", "a search ")},
        "near-later": {"adding": ("wrong", "of the last 10 vectors right after they were added")},
        "near-foresees": {"adding": ("ok", ""), "again": ("wrong", "whose adding had not begun")},
    },
    CHANGED_WORDS: {
        "words-undead": {"delete-texts": ("wrong", "which was deleted"), "after-texts": ("not run", "")},
        "words-ghosts": {"delete-texts": ("wrong", "which was deleted")},
        "words-overdoes": {"delete-texts": ("wrong", " rows instead of ")},
        "words-mislays": {"adding-texts": ("wrong", "a search returned ")},
        "words-later": {"adding-texts": ("wrong", "a search returned ")},
    },
}
#: Suite -> an engine that is right in these steps.
HONEST = {
    WORDS: ("right-texts", ("load", "all", "frequent", "best", "text", "crowd")),
    NEAR: ("right-vectors", ("load", *SEARCHES)),
    BY_PRODUCT: ("right-vectors", ("load-ip", *SEARCHES_BY_PRODUCT)),
    CHANGED: ("right-vectors", ("load-most", "adding", "delete", "after", "again")),
    CHANGED_WORDS: ("right-texts", ("load-texts", "adding-texts", "delete-texts", "after-texts", "again-texts")),
}


@pytest.fixture(scope="module")
def rows_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Rows]:
    """A run of one of the suites, made when it is first asked for."""

    @cache
    def run(suite: str) -> Rows:
        honest, _ = HONEST[suite]
        with trials_here():
            return summary(run_suite(tmp_path_factory.mktemp(honest), suite, (honest, *LIES[suite])))

    return run


@pytest.mark.parametrize(
    ("suite", "engine"),
    [
        pytest.param(suite, engine, id=f"{suite.split()[3]}-{engine}")
        for suite, liars in LIES.items()
        for engine in liars
    ],
)
def test_a_search_that_lies_is_told(rows_of: Callable[[str], Rows], suite: str, engine: str) -> None:
    for step, (outcome, words) in LIES[suite][engine].items():
        row = rows_of(suite)[step, engine]
        assert row["outcome"] == outcome, (step, row["detail"])
        assert words in row["detail"]


@pytest.mark.parametrize("suite", HONEST, ids=lambda suite: HONEST[suite][0])
def test_an_honest_search_is_not_accused(rows_of: Callable[[str], Rows], suite: str) -> None:
    engine, steps = HONEST[suite]
    for step in steps:
        row = rows_of(suite)[step, engine]
        assert row["outcome"] == "ok", (step, row["detail"])
        assert not row["detail"] or " added meanwhile, of " in row["detail"], (step, row["detail"])
