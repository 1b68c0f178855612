"""The package of a new engine, from the templates beside this file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import jinja2

from dbbench.engine import registry
from dbbench.errors import UserError

#: Kind of engine -> a suite to try it on.
_SUITES = {"sql": "invoices", "records": "mixes", "blocks": "virtual-file"}


def write(name: str, out: Path | None, *, kind: Literal["sql", "records", "blocks"]) -> list[Path]:
    """Write the package to `out`, or a folder of its own name; the paths, its module first.

    Raises UserError if the name won't do or its folder already exists.
    """
    if not re.fullmatch(r"[a-z][a-z0-9._-]*(\+[a-z0-9][a-z0-9._-]*)?", name):
        raise UserError(
            f"{name!r} can't be an engine's name: `engine` or `engine+driver`, of small letters, digits and . _ -"
        )
    if name in registry.names():
        raise UserError(f"engine {name!r} already exists; choose another name, or uninstall its package")
    words = re.findall(r"[a-z0-9]+", name)
    engine, _, driver = name.partition("+")
    facts = {
        "name": name,
        "title": engine.capitalize() + (f" ({driver})" if driver else ""),
        "package": "-".join(["dbbench", *words]),
        "module": "_".join(["dbbench", *words]),
        "engine": "".join(word.capitalize() for word in words),
        "suite": _SUITES[kind],
    }
    folder = out or Path(facts["package"])
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is not empty; name another folder with --out")
    files = {
        f"{facts['module']}.py": f"{kind}.py",
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        ".github/workflows/tests.yml": "workflow.yml",
        f"tests/test_{'_'.join(words)}.py": "test.py",
    }
    templates = jinja2.Environment(  # noqa: S701 - they are Python, TOML and Markdown, where nothing is escaped as in HTML
        loader=jinja2.PackageLoader("dbbench.cli"), undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    for path, template in files.items():
        text = templates.get_template(f"{template}.jinja").render(facts)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return [folder / path for path in files]
