"""`import`: files become the data of a new suite."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dbbench.cli.common import command, examples, writing

if TYPE_CHECKING:
    from dbbench.datasets.found_tables import FoundTable


@click.command(
    "import",
    epilog=examples(
        "dbbench import customers.parquet orders.csv --suite shop.yaml",
        "dbbench import 'flights-*.csv' --suite flights.yaml --key flights=carrier,number,day",
    ),
    short_help="Make a suite of your own CSV or Parquet files.",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--suite", "out", type=click.Path(path_type=Path), required=True, help="The suite to write; it must not exist."
)
@click.option("--key", "keys", multiple=True, metavar="TABLE=COLUMN,...", help="The primary key of a table.")
@command
def import_(files: tuple[str, ...], out: Path, keys: tuple[str, ...]) -> None:
    """Look at each FILE, CSV with a header or Parquet, and write a suite that loads rows and searches vectors.

    A glob in quotes is one table of several files. Types, nulls and keys are found by reading every row. The suite
    refers to the files, and runs at once: `dbbench suite SUITE`. Add your own queries to it.
    """
    from functools import partial

    from dbbench.datasets.found_tables import suite_text
    from dbbench.datasets.inference import identifier, look_at_all
    from dbbench.datasets.own_files import files_of, files_outside
    from dbbench.errors import UserError
    from dbbench.host import plain_file
    from dbbench.host.apart import apart
    from dbbench.suite.loader import parse_suite

    if out.exists():
        raise UserError(f"{out} already exists; choose another file with --suite")
    wanted = dict(_key(text) for text in keys)
    asked: list[tuple[str, str, list[Path], tuple[str, ...]]] = []
    for pattern in files:
        name = identifier(Path(pattern).name.partition(".")[0].replace("*", ""))
        if any(other.lower() == name.lower() for other, *_ in asked):
            raise UserError(f"two files make a table {name}; give several files of one table as a glob in quotes")
        asked.append((name, _relative(pattern, out), files_of(pattern, Path()), wanted.pop(name, ())))
    if wanted:
        tables = ", ".join(name for name, *_ in asked)
        raise UserError(f"--key names {next(iter(wanted))}, which is not one of the tables ({tables})")
    found = apart(" or ".join(files), partial(look_at_all, asked))
    text = suite_text(out.stem, found)
    suite = parse_suite(text, str(out))
    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        plain_file.write(out, text.encode())
    for table in found:
        _show(table)
    allow = " --allow-outside" if files_outside(suite, out.parent) else ""
    click.echo(f"\nwrote {out}; run it: dbbench suite {shlex.quote(str(out))}{allow}")


def _key(text: str) -> tuple[str, tuple[str, ...]]:
    from dbbench.errors import UserError

    table, _, listed = text.partition("=")
    columns = tuple(listed.split(","))
    if not (table and all(columns)):
        raise UserError(f"--key {text!r} is not TABLE=COLUMN or TABLE=COLUMN,COLUMN")
    return table, columns


def _relative(pattern: str, out: Path) -> str:
    """The path of a file as seen from the suite's folder."""
    import os

    place = Path(pattern).expanduser()
    return str(place) if place.is_absolute() else os.path.relpath(place, out.parent)


def _show(table: FoundTable) -> None:
    from dbbench.datasets.found_keys import parts_of_a_key
    from dbbench.message import cleaned

    key = ", ".join(table.key) or ("none: rows are numbered" if table.columns else "none")
    click.echo(f"\n{table.name}: {table.rows:,} rows from {cleaned(table.file)}; primary key: {key}")
    if table.doubled:
        click.echo(f"  {table.doubled}")
    if not table.key and table.columns:
        tried = parts_of_a_key(table.model())
        several = f", nor are two or three together of {', '.join(tried)}" if len(tried) > 1 else ""
        click.echo(f"  no column is unique and without nulls{several}")
    width = max((len(column.name) for column in table.columns), default=0)
    for column in table.columns:
        notes = [note for note in ("nulls" if column.nullable else "", column.note) if note]
        click.echo(f"  {column.name:<{width}}  {column.type:<16}{'; '.join(notes)}".rstrip())
    for vectors in table.vectors:
        click.echo(f"  vectors: {cleaned(vectors.source)}, of {vectors.dimensions:,} dimensions")
    for text in table.left_out:
        click.echo(f"  left out: {cleaned(text)}")
