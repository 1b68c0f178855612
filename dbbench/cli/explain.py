"""`explain`: why a step takes as long as it does, or longer than another engine's."""

from pathlib import Path

import click

from dbbench.cli.common import Finite, clients_option, command, engine_names, examples, open_console, run_path, writing


@click.command(
    epilog=examples(
        "dbbench explain latest --step join-1 --engine duckdb",
        "dbbench explain r1 --step join-1 --engine duckdb@head --engine duckdb@base",
    ),
    short_help="Plans, a profile and the use over time of a step.",
)
@click.argument("run", type=run_path)
@click.option("--step", required=True, metavar="STEP", help="The step: STEP or SCENARIO/STEP.")
@click.option(
    "-e",
    "--engine",
    "engines",
    multiple=True,
    metavar="ENGINE",
    shell_complete=engine_names,
    help="An engine of the run; given twice, the two are compared. [default: the run's, if it has no more than two]",
)
@click.option(
    "--seconds",
    type=Finite(0.1, 600),
    default=10.0,
    show_default=True,
    help="How long a step that only reads is called.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="ENGINE.OPTION=VALUE",
    help="A program that the run names, as for --resume.",
)
@click.option(
    "--url", "urls", multiple=True, metavar="NAME=URL", help="The URL of a server of the run, as for --resume."
)
@clients_option
@command
def explain(
    run: Path,
    step: str,
    engines: tuple[str, ...],
    seconds: float,
    settings: tuple[str, ...],
    urls: tuple[str, ...],
    max_clients: int | None,
) -> int:
    """Show why a step of RUN takes its time: one more trial of each engine, which never counts.

    It has the run's data and settings, and this must be the run's machine. Shown are the plans of two engines side by
    side, the functions in which they compute differently (by py-spy, and perf for private servers), and what each
    process used. RUN/explain gets all of it as files: profiles for speedscope, flame graphs, and a picture of the use
    over time.
    """
    from dbbench.engine.urls import parse as parse_urls
    from dbbench.errors import UserError
    from dbbench.message import cleaned
    from dbbench.report import explained
    from dbbench.results.outcome import Outcome
    from dbbench.results.run_directory import Run
    from dbbench.runs.explain import explain as found_of
    from dbbench.runs.request import parse_settings
    from dbbench.runs.resume import resumed_run

    console = open_console()
    if Run.open(run).manifest.hosts:
        raise UserError(f"{run} has clients or rounds on several hosts; explain a run of this machine alone")
    ready = resumed_run(run, None, parse_urls(urls), parse_settings(settings), max_clients=max_clients, counts=False)
    folder, found = found_of(
        ready, step, engines, seconds, lambda line: console.print(line, style="dim", highlight=False, markup=False)
    )
    with writing(folder):
        written = explained.write(found, folder)
    for line in explained.lines(found, console.width):
        console.print(cleaned(line), highlight=False, markup=False, soft_wrap=True)
    for path in written:
        console.print(f"wrote {path}", highlight=False, markup=False, soft_wrap=True)
    return 0 if all(each.result.outcome is Outcome.OK for each in found) else 1
