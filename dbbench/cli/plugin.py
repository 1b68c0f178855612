"""`plugin`: a package for an engine of one's own, and the conformance kit on any engine."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import click

from dbbench.cli.common import command, engine_names, examples


@click.group(epilog=examples("dbbench plugin new mine", "dbbench plugin check mine"))
def plugin() -> None:
    """Write an engine of your own, and check any engine."""


@plugin.command(
    epilog=examples("dbbench plugin new mine", "dbbench plugin new mine --records --out ~/src/dbbench-mine"),
    short_help="Make a package for an engine.",
)
@click.argument("name")
@click.option("--records", is_flag=True, help="For a store of records under keys. [default: for a SQL database]")
@click.option("--out", type=click.Path(path_type=Path), help="The folder to make. [default: dbbench-NAME]")
@command
def new(name: str, *, records: bool, out: Path | None) -> None:
    """Make a package for the engine NAME: a plugin that runs as it stands, its test and its entry point.

    NAME is `engine`, or `engine+driver` where a database can be reached in several ways.
    """
    from dbbench.cli.scaffold import write

    paths = write(name, out, kind="records" if records else "sql")
    for path in paths:
        click.echo(f"wrote {path}")
    click.echo(f"It runs as it stands: install it, check it, then put your driver into {paths[0].name}.")
    click.echo(f"  pip install -e '{paths[0].parent}[test]'\n  dbbench plugin check {name}")


@plugin.command(
    epilog=examples("dbbench plugin check mine", "dbbench plugin check mine --set mine.cache_mib=8"),
    short_help="Put an engine through the conformance kit.",
)
@click.argument("name", shell_complete=engine_names)
@click.option("--set", "settings", multiple=True, metavar="ENGINE.OPTION=VALUE", help="Set an option, as for `suite`.")
@command
def check(name: str, settings: tuple[str, ...]) -> int:
    """Put the engine NAME through the conformance kit: what every engine must keep to.

    Exit status: 0 it keeps to all of it; 1 it doesn't; 2 wrong use, or the engine can't be used here.
    """
    from dbbench import registry
    from dbbench.errors import UserError
    from dbbench.probe import probe
    from dbbench.request import check_options, parse_settings

    if find_spec("pytest") is None:
        raise UserError("the kit is made of tests, and pytest is missing: pip install pytest")
    registry.check_names([name])
    options = parse_settings(settings)
    found = probe([name], options)[name]
    check_options(options, {name: found})
    if found.status != "available":
        raise UserError(f"{name} can't be checked here: {'; '.join(filter(None, (found.detail, found.install)))}")
    if (status := _run_kit(name, options.get(name, {}))) == 0:
        click.echo(f"{name} keeps to the kit; what its commits survive is next: dbbench durability {name}")
    return status


def _run_kit(name: str, options: Mapping[str, str]) -> int:
    """Run the tests in a process of their own, which a driver may crash; nothing of the folder that this runs in counts."""
    from dbbench.processes import environment, python

    with tempfile.TemporaryDirectory(prefix="dbbench-kit-") as folder:
        config = Path(folder) / "pytest.ini"
        config.write_text("[pytest]\n", "utf-8")
        arguments = ["-c", str(config), "--basetemp", str(Path(folder) / "data"), "-p", "no:cacheprovider"]
        arguments += ["--noconftest"]  # else pytest runs one of the current folder
        shown = ["-q", "--no-header", "--tb=short", "-rfE"]
        done = subprocess.run(
            python("pytest", *arguments, *shown, "--pyargs", "dbbench.testing.asked"),
            env=environment(DBBENCH_ASKED=json.dumps({"engine": name, "options": dict(options)})),
            cwd=folder,
            check=False,
        )
    return min(abs(done.returncode), 1)
