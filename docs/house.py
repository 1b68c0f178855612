"""Print the size and the structure of dbbench as a table: `python docs/house.py`. It needs the extra `dev`."""

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path
from statistics import median

import grimp

ROOT = Path(__file__).parents[1]
#: What a plugin's author may touch.
CONTRACT = ("base", "traits", "operations", "options")


def lines(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def files(folder: str, *endings: str) -> list[Path]:
    return [
        path
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in endings and "__pycache__" not in path.parts
    ]


def words(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text("utf-8").split()) for path in paths)


def functions(paths: Iterable[Path]) -> Iterator[int]:
    """The lines of each function."""
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield (node.end_lineno or node.lineno) - node.lineno + 1


def rows() -> Iterator[tuple[str, str]]:
    modules = files("dbbench", ".py")
    code = [*modules, *files("dbbench", ".j2", ".jinja", ".js", ".css")]
    yield "lines and modules in `dbbench/` (Python and templates)", f"{lines(code):,}; {len(modules)}"
    yield (
        "lines of Python in `plugins/`, `tests/`",
        "; ".join(f"{lines(files(each, '.py')):,}" for each in ("plugins", "tests")),
    )
    graph = grimp.build_graph("dbbench")
    rooms = sorted(name for name in graph.find_children("dbbench"))
    arrows = [
        (a, b)
        for a in rooms
        for b in rooms
        if a != b and graph.direct_import_exists(importer=a, imported=b, as_packages=True)
    ]
    both = [pair for pair in combinations(rooms, 2) if pair in arrows and pair[::-1] in arrows]
    yield (
        "packages and modules beside them; imports between these; pairs that import each other",
        f"{len(rooms)}; {len(arrows)}; {len(both)}",
    )
    circles = [
        (a, b)
        for a, b in combinations(sorted(graph.modules), 2)
        if graph.direct_import_exists(importer=a, imported=b) and graph.direct_import_exists(importer=b, imported=a)
    ]
    yield "pairs of modules that import each other, types included", str(len(circles))
    loose = sum(len(re.findall(r"(?:dict|Mapping)\[str, Any\]", path.read_text("utf-8"))) for path in modules)
    yield "`dict[str, Any]` and `Mapping[str, Any]`", str(loose)
    yield "lines of the contract", str(lines(ROOT / f"dbbench/engine/{name}.py" for name in CONTRACT))
    sizes = list(functions(modules))
    yield "median function; longest, in lines", f"{median(sizes):g}; {max(sizes)}"
    yield "words of README and docs", f"{words([ROOT / 'README.md', *files('docs', '.md')]):,}"
    suites = files("scenarios", ".yaml")
    yield "lines of suites", f"{lines(suites):,}"


if __name__ == "__main__":
    print("| point | now |\n|---|---|")
    for point, value in rows():
        print(f"| {point} | {value} |")
