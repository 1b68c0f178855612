"""One colour for each family of engines: the same in every run, theme, selection and form.

What bears the family's name has its colour, other members have it in a tint. With any of the three colour blindnesses,
as Machado, Oliveira and Fernandes (2009) simulate them, all eight differ; `tests/unit/test_chart_colours.py` says by
how much. On their own page they can be read as text (a contrast of 4.5), as names beside curves are.
"""

import re
import zlib
from collections.abc import Iterable, Mapping

from dbbench.report.run_view import View

#: On white; those that page.css has as --c0 to --c7, in its order.
COLOURS = ("#0072b2", "#682e09", "#6d7a52", "#642d5c", "#d1420f", "#392b93", "#bd4380", "#184333")
#: On a dark page, as page.css has them.
ON_DARK = ("#3d9ad6", "#f5c27a", "#7f9c5c", "#ff9fd2", "#e8702a", "#cfd4ff", "#d9649a", "#a5f2dc")
#: On a page of any colour: those of both that a white and a dark page bear (a contrast of 3).
ON_ANY = ("#0072b2", "#e8702a", "#6d7a52", "#d9649a", "#d1420f", "#3d9ad6", "#bd4380", "#7f9c5c")
#: A tint is so much of the colour; the rest is of the page.
TINT = 0.6

#: Family -> its place among the colours. Those that are often run together differ. Any other has one by its name.
FAMILIES = {
    "sqlite": 0, "libsql": 0, "turso": 0, "odbc+sqlite": 0, "duckdb": 4, "postgresql": 3, "mysql": 2, "mariadb": 2,
    "firebird": 1, "chdb": 6, "clickhouse": 6, "lmdb": 7, "libmdbx": 7, "rocksdb": 5, "leveldb": 5, "berkeleydb": 6,
    "h2": 5, "hsqldb": 7, "derby": 2, "access": 6, "unqlite": 1, "redis": 4, "wiredtiger": 3, "dbm": 2,
    "rawfile": 3, "io_uring": 1, "virtualfile": 7, "dict": 4,
    "usearch": 1, "faiss": 2, "zvec": 3, "qdrant": 5, "lancedb": 7, "tantivy": 1, "xapian": 5,
}  # fmt: skip
#: Members of a family that have another name.
_LEADERS = {"libsql": "sqlite", "turso": "sqlite", "odbc": "sqlite", "libmdbx": "lmdb", "leveldb": "rocksdb"}

#: Engine -> the name of its colour: c0 to c7, or a tint, t0 to t7; "grey" beside one that is highlighted.
Colours = Mapping[str, str]


def _mixed(colour: str, page: str) -> str:
    pairs = [(int(colour[at : at + 2], 16), int(page[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(TINT * mine + (1 - TINT) * under):02x}" for mine, under in pairs)


def _theme(page: str, ink: str, grey: str, faint: str, colours: Iterable[str], tints: Iterable[str]) -> dict[str, str]:
    named = {f"c{number}": colour for number, colour in enumerate(colours)}
    tinted = {f"t{number}": colour for number, colour in enumerate(tints)}
    return {"page": page, "ink": ink, "grey": grey, "line": faint, **named, **tinted}


#: Theme -> name of a colour -> the colour. A transparent one has a grey that can be read on white and on black.
THEMES = {
    "light": _theme("#ffffff", "#1a1a1a", "#6b6b6b", "#d9d9d9", COLOURS, [_mixed(each, "#ffffff") for each in COLOURS]),
    "dark": _theme("#14171b", "#e8e8e8", "#aab1b9", "#3d444d", ON_DARK, [_mixed(each, "#14171b") for each in ON_DARK]),
    "transparent": _theme("none", "#767676", "#767676", "#9a9a9a", ON_ANY, ON_ANY),
}


def engine_order(shown: View) -> list[str]:
    """The engines of a report, each once: the first scenario's from best to worst, then the others'."""
    return [*dict.fromkeys(item.engine for scenario in shown.scenarios for item in scenario.standings)]


def engine_colours(shown: View) -> dict[str, str]:
    """Engine -> the name of its colour. One of several engines may be highlighted: the others are grey then."""
    names = engine_order(shown)
    return {name: colour_name(name) if shown.highlight in ("", name) else "grey" for name in names}


def colour_name(engine: str) -> str:
    """The name of an engine's colour, by its family."""
    base = re.split(r"[@\[]", engine)[0]
    family = base.partition("+")[0].partition(".")[0].partition("-")[0]
    place = FAMILIES.get(family, FAMILIES.get(base, zlib.crc32(family.encode()) % len(COLOURS)))
    return f"{'c' if engine == _LEADERS.get(family, family) else 't'}{place}"
