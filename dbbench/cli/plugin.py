"""`plugin`: a package for an engine of one's own, and the conformance kit on any engine."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from dbbench.cli.common import columns, command, engine_names, examples, write_files

if TYPE_CHECKING:
    from dbbench.testing.verdicts import Verdict


#: Kind of engine -> a suite to try it on.
_SUITES = {"sql": "invoices", "records": "mixes", "blocks": "virtual-file"}
#: The exit statuses of pytest after tests that passed, and after some that failed.
_PYTEST_STATUSES = (0, 1)
#: What a driver that crashes when Python ends breaks.
_END = "the process ends in order"


@click.group(epilog=examples("dbbench plugin new mine", "dbbench plugin check mine"))
def plugin() -> None:
    """Write an engine of your own, and check any engine."""


@plugin.command(
    epilog=examples("dbbench plugin new mine", "dbbench plugin new mine --records --out ~/src/dbbench-mine"),
    short_help="Make a package for an engine.",
)
@click.argument("name")
@click.option("--sql", "kind", flag_value="sql", default="sql", help="For a SQL database. This is the default.")
@click.option("--records", "kind", flag_value="records", help="For a store of records under keys.")
@click.option("--blocks", "kind", flag_value="blocks", help="For a file of blocks.")
@click.option("--out", type=click.Path(path_type=Path), help="The folder to make. [default: dbbench-NAME]")
@command
def new(name: str, *, kind: Literal["sql", "records", "blocks"], out: Path | None) -> None:
    """Make a package for the engine NAME: a plugin that runs unchanged, its entry point, its test
    and a workflow that runs it on GitHub.

    NAME is `engine`, or `engine+driver` where a database can be reached in several ways.
    """
    paths = _package(name, out, kind=kind)
    for path in paths:
        click.echo(f"wrote {path}")
    click.echo(f"It runs unchanged: install it, check it, then put your driver into {paths[0].name}.")
    click.echo(f"  pip install -e '{paths[0].parent}[test]'\n  dbbench plugin check {name}")


def _package(name: str, out: Path | None, *, kind: Literal["sql", "records", "blocks"]) -> list[Path]:
    """Write the package of a new engine to `out`, or a folder of its own name; the paths, its module first.

    Raises UserError if the name won't do or its folder already exists.
    """
    from dbbench.engine import registry
    from dbbench.errors import UserError

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
    return write_files(folder, files, facts)


@plugin.command(
    epilog=examples("dbbench plugin check mine", "dbbench plugin check mine --set mine.cache_mib=8"),
    short_help="Run the conformance tests on an engine.",
)
@click.argument("name", shell_complete=engine_names)
@click.option("--set", "settings", multiple=True, metavar="ENGINE.OPTION=VALUE", help="Set an option, as for `suite`.")
@command
def check(name: str, settings: tuple[str, ...]) -> int:
    """Run the conformance tests on the engine NAME: what every engine must keep to.

    Prints a verdict for each clause: passed, left out with the engine's own reason, or failed with what was expected.

    Exit status: 0 nothing failed; 1 something did; 2 usage error, or the engine can't be used here.
    """
    from dbbench.durability.checks import keeps
    from dbbench.engine import registry
    from dbbench.engine.probe import probe
    from dbbench.errors import UserError
    from dbbench.runs.request import check_options, parse_settings

    if find_spec("pytest") is None:
        raise UserError("the conformance tests need pytest: pip install pytest")
    registry.check_names([name])
    options = parse_settings(settings)
    probed = probe([name], options)[name]
    check_options(options, {name: probed})
    if probed.status != "available":
        raise UserError(f"{name} can't be checked here: {'; '.join(filter(None, (probed.detail, probed.install)))}")
    verdicts = _run_kit(name, options.get(name, {}))
    for line in verdict_lines(verdicts, columns()):
        click.echo(line)
    if found := findings(verdicts):
        causes = f"{len(found)} cause{'s' if len(found) > 1 else ''}"
        clauses = f"{sum(map(len, found))} of {len(verdicts)} clauses"
        click.echo(f"{name} fails {clauses}, for {causes}; fix it, then run: dbbench plugin check {name}")
        return 1
    further = f"; next, run: dbbench durability {name}" if keeps(probed) else ""
    click.echo(f"{name} passes the conformance tests{further}")
    return 0


def verdict_lines(verdicts: Sequence[Verdict], width: int) -> Iterator[str]:
    """A line for each clause, those that passed first, then the failures' messages, grouped by cause."""
    from dbbench.message import cleaned
    from dbbench.report.terminal.engines import hanging

    names = max(len(verdict.clause) for verdict in verdicts)
    order = ("passed", "left out", "failed")
    for verdict in sorted(verdicts, key=lambda each: (order.index(each.outcome), each.clause)):
        why = cleaned(verdict.detail) if verdict.outcome == "left out" else ""
        yield from hanging(max(width, names + 40), f"{verdict.clause:<{names}}  {verdict.outcome:<8}  ", why)
    for alike in findings(verdicts):
        yield ""
        yield from hanging(max(width, names + 40), "failed: ", ", ".join(verdict.clause for verdict in alike), 2)
        yield from (f"  {line}" for line in cleaned(alike[0].detail).splitlines() if not line.startswith("clause: "))
    yield ""


def findings(verdicts: Sequence[Verdict]) -> list[list[Verdict]]:
    """The failed verdicts, grouped by cause; a short message may be quoted in a longer one."""
    found: list[list[Verdict]] = []
    failed = [verdict for verdict in verdicts if verdict.outcome == "failed"]
    for verdict in sorted(failed, key=lambda each: len(each.message)):
        known = next((alike for alike in found if any(map(verdict.follows_from, alike))), None)
        if known is None:
            found.append([verdict])
        else:
            known.append(verdict)
    return found


def _run_kit(name: str, options: Mapping[str, str]) -> list[Verdict]:
    """Run the tests in a process of their own, which a driver may crash. Raises UserError if none was run."""
    from dbbench.errors import UserError
    from dbbench.host.processes import environment, python
    from dbbench.message import cleaned
    from dbbench.testing.verdicts import Verdict, read

    with tempfile.TemporaryDirectory(prefix="dbbench-kit-") as made:
        folder = Path(made)
        (folder / "asked.json").write_text(json.dumps({"engine": name, "options": dict(options)}), "utf-8")
        done = subprocess.run(
            python("dbbench.testing.verdicts", str(folder)),
            env=environment(PYTEST_ADDOPTS=""),  # what the caller asks of pytest is for other tests
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        found, running = read(folder / "verdicts.jsonl")
    how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit status {done.returncode}"
    if running:
        found[running] = Verdict(running, "failed", f"the process ended in the middle of it ({how})")
    elif found and done.returncode not in _PYTEST_STATUSES:
        found[_END] = Verdict(_END, "failed", f"the process ended with {how}, after all clauses")
    if not found:
        said = cleaned(done.stdout.decode(errors="replace")).strip().splitlines()
        raise UserError(f"the kit of {name} could not be run: {said[-1] if said else f'status {done.returncode}'}")
    return list(found.values())
