"""No retired word stands in messages, help, comments or documentation."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.docs.test_docs import ROOT

#: What is looked for -> what to write in its place.
RETIRED = {
    r"\bprovers?\b": "crash check, checker", r"\bproven\b": "passed; shown to be better", r"\brefuted\b": "failed",
    r"\bwrong use\b": "usage error", r"\bis there already\b": "already exists", r"\bleave it away\b": "omit it to use",
    r"\bso\s+many\b": "the number itself, or what it limits: at most `count` rows",
    r"\bkeeps? to the kit\b": "passes the conformance tests", r"\bnot here\b": "unavailable",
    r"(?<!`)\byardsticks?\b(?!`)": "reference", r"\bmend(s|ing)?\b": "fix, repair",
    r"\ball else goes before\b": "command-line options override the file, or take precedence",
    r"\bbe rid of\b": "remove it", r"\b(counts?|holds?) no (more|longer true)\b": "no longer counts, no longer applies",
    r"\bis to be said of\b": "remarks on a row",
    r"\b(is|are)\s+told\b(?!\s+apart)": "is reported, is shown; gets (an argument)", r"\bwhat\s+came\s+of\b": "result",
}  # fmt: skip
#: Words that begin no docstring: it begins with a verb, or with a noun that names the result.
NO_BEGINNINGS = {
    "Of", "In", "If", "As", "So", "Why", "Where", "Who", "Whose", "Which", "That", "Those", "To",
    "From", "For", "With", "On", "By", "At", "No", "It",
}  # fmt: skip
#: Words that name no variable or parameter: they don't say what it is. Fields of a class are part of its form.
NO_NAMES = {"told", "there", "held", "kept"}
#: History keeps its words.
EXEMPT = {"CHANGELOG.md"}
#: The key of the suite format, which stays until the format has a new version.
KEYS = {"yardstick"}


@cache
def texts(path: Path) -> list[tuple[int, str]]:
    """Every text of a file with its line: of Python the comments, and the strings: messages, help and docstrings."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        return list(enumerate(text.splitlines(), 1))
    return list(_python_texts(text))


def _python_texts(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in KEYS:
            yield node.lineno, node.value
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings of a module, its classes and functions, each with its line."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            yield node.body[0].lineno, text


def files() -> list[Path]:
    """What dbbench says and what its documentation says; decisions of the past keep their words."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    for folder in ("dbbench", "plugins", "examples"):
        found += [path for ending in ("py", "j2") for path in (ROOT / folder).rglob(f"*.{ending}")]
    known = {path: str(path.relative_to(ROOT)) for path in found}
    return sorted(path for path, name in known.items() if name not in EXEMPT and not name.startswith("docs/adr/"))


def faults(paths: list[Path], pattern: str) -> list[str]:
    """Where the pattern stands."""
    return [
        f"{path.relative_to(path.anchor)}:{line}"
        for path in paths
        for line, text in texts(path)
        if re.search(pattern, text, re.IGNORECASE)
    ]


@pytest.mark.parametrize("pattern", RETIRED)
def test_no_retired_word_is_used(pattern: str) -> None:
    assert faults(files(), pattern) == [], f"write {RETIRED[pattern]}"


def test_a_docstring_begins_with_a_verb_or_a_noun() -> None:
    assert [
        f"{path.relative_to(ROOT)}:{line}"
        for path in files()
        if path.suffix == ".py" and not path.is_relative_to(ROOT / "examples")
        for line, text in docstrings(path)
        if text.split()[0].strip(".,:;") in NO_BEGINNINGS
    ] == []


def test_a_name_says_what_it_is() -> None:
    functions = [
        (path, function)
        for path in (ROOT / "dbbench").rglob("*.py")
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef)
    ]
    assert {
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, function in functions
        for node in ast.walk(function)
        if (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in NO_NAMES)
        or (isinstance(node, ast.arg) and node.arg in NO_NAMES)
    } == set()


def test_a_retired_word_is_found_in_a_message_a_docstring_a_comment_and_a_page(tmp_path: Path) -> None:
    module, page = tmp_path / "module.py", tmp_path / "page.md"
    module.write_text('"""A Prover."""\nprover = 1  # prover\nraise ValueError(f"the prover {prover} ended")\n')
    page.write_text("A page.\nIts provers.\n")
    assert [place.rpartition("/")[2] for place in faults([module, page], r"\bprovers?\b")] == [
        "module.py:1", "module.py:3", "module.py:2", "page.md:2"]  # fmt: skip
