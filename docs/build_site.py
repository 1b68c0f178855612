"""Builds the documentation as a site, in the clone's folder: `python -m docs.build_site OUT [RUN...]`.

Besides the pages of the repository it has pages made of the code: each engine, the plugin contract and the
help of each command. For editors it has the JSON schemas of suites and of results.json. With runs it has a gallery of
them (`dbbench site`). A warning of Sphinx is an error.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from dbbench import __version__, cli
from dbbench.engine import registry
from dbbench.report.export import results_json
from dbbench.suite.model import Suite
from docs import contract_page, seeds_page
from docs.engine_page import page as engine_page

ROOT = Path(__file__).resolve().parents[1]
#: Where the site's pages come from. What is linked to and none of them is shown without its link.
PAGES = ("*.md", "docs/*.md", "docs/engines/*.md", "docs/adr/*.md", "benchmarks/*.md", "examples/*/*.md")
#: Heading in the side bar -> its pages, in order; `*` stands for those that no other line names.
CONTENTS = {
    "Start": ("docs/README", "docs/troubleshooting"),
    "Use it": (
        "docs/own-data",
        "docs/suites",
        "docs/variants",
        "docs/compare",
        "docs/larger-than-memory",
        "docs/cluster",
        "docs/python",
    ),
    "Look it up": ("docs/cli", "docs/commands", "docs/files", "docs/urls", "docs/glossary"),
    "Trust it": ("docs/method", "docs/durability", "docs/security", "docs/seeds", "benchmarks/measured"),
    "Suites": (
        "docs/catalogue",
        "docs/invoices",
        "docs/order-entry",
        "docs/contention",
        "docs/object-load",
    ),
    "Engines": ("docs/engines", "docs/engines/*", "docs/engines/reference/index"),
    "Extend it": (
        "docs/plugins",
        "docs/contract",
        "docs/architecture",
        "docs/adr/README",
        "docs/adr/*",
        "examples/*/*",
    ),
    "Project": ("CONTRIBUTING", "SECURITY", "CHANGELOG"),
}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")
_CONFIGURATION = f"""
project = "dbbench"
release = "{__version__}"
extensions = ["myst_parser"]
root_doc = "index"
html_theme = "furo"
html_title = "dbbench {__version__}"
html_show_copyright = False
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]
"""
#: What the theme lacks for readers without a mouse or a screen -> that with it.
ACCESSIBLE = {
    'role="heading">': 'role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="On this page">',
    '<div class="content-icon-container">': '<div class="content-icon-container" role="region" aria-label="Source and theme">',
    "<pre>": '<pre tabindex="0">',
    '<th class="head"><p></p></th>': "<td></td>",
}


def build(out: Path, runs: list[str]) -> None:
    """Write the site to a folder that is not there yet. Raises CalledProcessError if a page has a fault."""
    with TemporaryDirectory(prefix="dbbench-docs-") as folder:
        source = Path(folder, "source")
        _lay_out(source)
        if runs:
            (source / "gallery.md").write_text(_GALLERY, "utf-8")
        (source / "index.md").write_text("\n".join(_index(bool(runs))), "utf-8")
        (source / "conf.py").write_text(_CONFIGURATION, "utf-8")
        doctrees = str(Path(folder, "doctrees"))
        subprocess.run(
            [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", doctrees, str(source), str(out)],
            check=True,
        )
    for page in out.rglob("*.html"):
        text = page.read_text("utf-8")
        for lacking, whole in ACCESSIBLE.items():
            text = text.replace(lacking, whole)
        page.write_text(text, "utf-8")
    for name, schema in (("suite", Suite.model_json_schema()), ("results", results_json.schema())):
        (out / f"{name}.schema.json").write_text(json.dumps(schema), "utf-8")
    if runs:
        subprocess.run(
            [sys.executable, "-P", "-m", "dbbench", "site", *runs, "--out", str(out / "gallery")], check=True
        )


def _lay_out(source: Path) -> None:
    """Copy the pages, and make those that are made of the code."""
    pages = {path for pattern in PAGES for path in ROOT.glob(pattern)}
    for path in pages:
        page = source / _name(path)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(_linked(path, pages), "utf-8")
    for path in (*ROOT.glob("docs/images/*"), *ROOT.glob("examples/**/*.png")):
        image = source / path.relative_to(ROOT)
        image.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, image)
    reference = source / "docs" / "engines" / "reference"
    reference.mkdir()
    engines = {name: engine for name in registry.names("dbbench") if not (engine := registry.find(name)).is_null}
    links = "\n".join(f"- [{name}]({name}.md)" for name in engines)
    (reference / "index.md").write_text(f"{_EACH}\n{links}\n", "utf-8")
    for name, engine in engines.items():
        # In the side bar of each page of the site they would take most of the time and of the bytes.
        (reference / f"{name}.md").write_text(f"---\norphan: true\n---\n{engine_page(engine)}", "utf-8")
    (source / "docs" / "commands.md").write_text("\n".join(_commands()), "utf-8")
    (source / "docs" / "contract.md").write_text(contract_page.page(), "utf-8")
    (source / "docs" / "seeds.md").write_text(seeds_page.page(), "utf-8")


def _name(path: Path) -> Path:
    """A page's place in the source: README is the first page."""
    return Path("index.md") if path == ROOT / "README.md" else path.relative_to(ROOT)


def _linked(path: Path, pages: set[Path]) -> str:
    """A page's text with links to pages and images alone."""

    def link(found: re.Match[str]) -> str:
        image, text, target, place = found.groups()
        linked = (path.parent / target).resolve()
        if linked.is_dir() and linked / "README.md" in pages:
            linked, target = linked / "README.md", f"{target.rstrip('/')}/README.md"
        if linked == ROOT / "README.md":
            target = target.replace("README.md", "index.md")
        return f"{image}[{text}]({target}{place or ''})" if image or linked in pages else text

    return _LINK.sub(link, path.read_text("utf-8"))


def _index(gallery: bool) -> Iterator[str]:
    """README, and the contents of the side bar."""
    yield _linked(ROOT / "README.md", {path for pattern in PAGES for path in ROOT.glob(pattern)})
    for heading, pages in CONTENTS.items():
        more = ("gallery",) if gallery and heading == "Suites" else ()
        yield f"```{{toctree}}\n:hidden:\n:glob:\n:caption: {heading}\n"
        yield from (*pages, *more)
        yield "```"


def _commands() -> Iterator[str]:
    """The help of every command."""
    yield "# Help of each command\n"
    yield "Here you read what `--help` prints, made of the code. [The command line](cli.md) says more.\n"
    for words, command in _all(cli.main):
        context = click.Context(command, info_name=words, max_content_width=100)
        yield f"## `{words}`\n\n```text\n{command.get_help(context)}\n```\n"


def _all(group: click.Group, before: str = "dbbench") -> Iterator[tuple[str, click.Command]]:
    for name, command in sorted(group.commands.items()):
        yield f"{before} {name}", command
        if isinstance(command, click.Group):
            yield from _all(command, f"{before} {name}")


_EACH = """# Each engine

Here you find a page for each engine, made of its plugin.
"""
_GALLERY = """# Gallery

Here you see a real run of each suite: <a href="gallery/index.html">the list of runs, with filters</a>. Figures of different machines are
never ranked together.
"""


if __name__ == "__main__":
    try:
        build(Path(sys.argv[1]), sys.argv[2:])
    except subprocess.CalledProcessError as exc:  # it has said what is wrong
        sys.exit(exc.returncode)
