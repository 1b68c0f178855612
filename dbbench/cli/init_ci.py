"""`init-ci`: workflows that run head against base of a pull request, comment on it, and keep a history."""

import shlex
from pathlib import Path

import click

from dbbench.cli.common import command, engine_names, examples, share, write_files

#: Name of the file -> its template.
_FILES = {
    "benchmark.yml": "benchmark.yml",
    "benchmark-comment.yml": "benchmark_comment.yml",
    "benchmark-history.yml": "benchmark_history.yml",
}


@click.command(
    "init-ci",
    epilog=examples(
        "dbbench init-ci benchmarks/suite.yaml --engine duckdb",
        "dbbench init-ci invoices --engine sqlite+apsw --from python --gate 5% --rounds 15",
    ),
    short_help="Write workflows that gate pull requests and keep a history.",
)
@click.argument("suite")
@click.option(
    "--engine", "-e", required=True, metavar="NAME", shell_complete=engine_names, help="Engine whose driver is built."
)
@click.option(
    "--from", "source", default=".", metavar="FOLDER", show_default=True, help="The driver's folder in the repository."
)
@click.option(
    "--gate", "most", type=share, default="10%", metavar="SHARE", show_default=True, help="How much slower head may be."
)
@click.option("--rounds", type=click.IntRange(5, 1000), default=10, show_default=True, help="Rounds of a run.")
@click.option(
    "--requires",
    default="",
    metavar="REQUIREMENT",
    help="What pip installs. [default: dbbench with the engine's extra]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path(".github/workflows"),
    show_default=True,
    help="Folder for the files.",
)
@command
def init_ci(suite: str, engine: str, source: str, most: float, rounds: int, requires: str, out: Path) -> None:
    """Write three workflows for GitHub Actions: one runs SUITE on head and base of a pull request and fails by the
    gate, one comments on the pull request, also on one from a fork, and one keeps a run of each push to the default
    branch, with a history and a site of all.
    """
    from dbbench.engine import registry
    from dbbench.engine.declared import declared
    from dbbench.errors import Unavailable, UserError
    from dbbench.suite.loader import find_suite, load_suite

    registry.check_names([engine])
    plugin = declared()[engine].package
    try:
        package, extras = registry.versioned_package(engine), registry.extras(registry.find(engine))
    except (Unavailable, registry.Broken) as exc:
        raise UserError(f"{engine} can't be inspected here: {exc}") from exc
    folder, path = Path(source), find_suite(suite)
    load_suite(path)
    for word, named in (("--from", folder), ("SUITE", Path(suite))):
        if named.is_absolute() or ".." in named.parts:
            raise UserError(f"{word}: {named} is outside of this repository; run it at the repository's root")
    if not folder.is_dir():
        raise UserError(f"--from: {source} is not a folder of this repository")
    facts = {
        "suite": shlex.quote(suite),
        "engine": engine,
        "source": shlex.quote(f"./{folder}" if folder.parts else "."),
        "subfolder": shlex.quote(f"#subdirectory={folder}") if folder.parts else "",
        "share": f"{most * 100:g}%",
        "rounds": rounds,
        "requirement": shlex.quote(requires or f"{plugin}[{','.join(extras)}]".removesuffix("[]")),
    }
    if taken := [name for name in _FILES if (out / name).exists()]:
        raise UserError(f"{out / taken[0]} already exists; remove it, or name another folder with --out")
    for path in write_files(out, _FILES, facts):
        click.echo(f"wrote {path}")
    click.echo(
        f"They build {package} from {source}, and run at the next pull request or push after they are committed."
    )
