"""What there is: suites, what a suite does, whether a file is one, and its data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbbench.cli.common import (
    columns,
    command,
    examples,
    fault_lines,
    outside_option,
    scale_option,
    seed_option,
    shown,
    suite_names,
)

if TYPE_CHECKING:
    from dbbench.suite.model import Suite


@click.command(epilog=examples("dbbench suites"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON: names, titles and descriptions.")
@command
def suites(as_json: bool) -> None:
    """List the built-in suites."""
    from dbbench.host import atomic_json
    from dbbench.suite.loader import builtin_suites, find_suite, load_suite

    found = [load_suite(find_suite(name)) for name in builtin_suites()]
    if as_json:
        document = {"suites": [each.model_dump(include={"name", "title", "description"}) for each in found]}
        click.echo(atomic_json.text(document), nl=False)
        return
    for suite in found:
        click.echo(f"{suite.name:<16} {' '.join(suite.description.split())}")


@click.command(epilog=examples("dbbench describe invoices"))
@click.argument("suite", shell_complete=suite_names)
@command
def describe(suite: str) -> None:
    """Say what SUITE does: data, steps, SQL."""
    from dbbench.report.terminal.listing import suite_lines
    from dbbench.suite.loader import find_suite, load_suite

    for line in suite_lines(load_suite(find_suite(suite)), columns=columns()):
        click.echo(line)


@click.command(
    epilog=examples(
        "dbbench check my-suite.yaml", "dbbench check --keys", "dbbench check --schema > suite.schema.json"
    ),
    short_help="Check suite files.",
)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--keys", is_flag=True, help="Print every key of suite files: default, limits, meaning.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of suite files, for editors.")
@outside_option
@command
def check(files: tuple[Path, ...], keys: bool, schema: bool, allow_outside: bool) -> int:
    """Check suite FILES; every fault is reported with its line and column."""
    import json

    from dbbench.errors import SuiteError, UserError
    from dbbench.suite.loader import builtin_suites, find_suite, parse_suite, read_text

    if keys:
        from dbbench.report.terminal.listing import key_lines

        click.echo("\n".join(key_lines(columns=columns())).lstrip())
        return 0
    if schema:
        from dbbench.suite.model import Suite

        click.echo(json.dumps(Suite.model_json_schema(), indent=2))
        return 0
    if not files:
        raise UserError("name the files to check, like `dbbench check my-suite.yaml`")
    from dbbench.answers import planned
    from dbbench.engine import registry
    from dbbench.report.terminal.listing import rights
    from dbbench.suite.answer import EngineAnswer

    status = 0
    for file in files:
        try:
            path = find_suite(str(file))
            text = read_text(path)
            suite = parse_suite(text, str(file))
            _check_files(suite, path.parent, outside=allow_outside)
            answers = [step.expected_answer for scenario in suite.scenarios for step in scenario.steps]
            registry.check_names([answer.engine for answer in answers if isinstance(answer, EngineAnswer)])
            for line in planned.check(suite, text, str(file)):
                click.echo(line)
            click.echo(f"{file}: ok")
            if str(file) not in builtin_suites() and (said := rights(suite)):
                click.echo(f"  {said}")
        except SuiteError as exc:
            for line in fault_lines(exc):
                click.echo(line, err=True)
            status = 2
        except UserError as exc:
            click.echo(f"dbbench: {shown(exc)}", err=True)
            status = 2
    return status


def _check_files(suite: Suite, folder: Path, *, outside: bool) -> None:
    """Raise UserError if a row of a suite's files does not fit. A damaged file may end the process that reads them."""
    from functools import partial

    from dbbench.datasets.cache import check_rows
    from dbbench.datasets.own_files import check_files
    from dbbench.host.apart import apart

    check_files(suite, folder, outside=outside)
    if any(data.sources for data in suite.datasets.values()):
        apart(f"a file of {suite.name}", partial(check_rows, suite, folder))


@click.command(
    epilog=examples("dbbench dataset invoices --scale 0.1 --seed 7 --format csv --out data"),
    short_help="Write a suite's data out.",
)
@click.argument("suite", shell_complete=suite_names)
@scale_option
@seed_option
@click.option(
    "--format", "form", type=click.Choice(["csv", "parquet"]), default="csv", show_default=True, help="Of the files."
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder to write to.")
@outside_option
@command
def dataset(suite: str, scale: float, seed: int | None, form: str, out: Path, allow_outside: bool) -> None:
    """Write SUITE's data out, so that any answer can be checked by other means."""
    from dbbench.datasets.export import export
    from dbbench.suite.loader import find_suite, load_suite

    source = find_suite(suite)
    loaded = load_suite(source)
    _check_files(loaded, source.parent, outside=allow_outside)
    for name, data in loaded.datasets.items():
        folder = out / name if len(loaded.datasets) > 1 else out
        for path, rows in export(data, folder, form, scale=scale, seed=seed, folder=source.parent):
            click.echo(f"{path}: {rows:,} rows")
