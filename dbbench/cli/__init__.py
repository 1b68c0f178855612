"""The command line. Thin: it checks nothing itself, and is the only package that prints and exits."""

import contextlib
import signal
from collections.abc import Iterator
from typing import Any

import click

import dbbench
from dbbench.cli.cache import cache
from dbbench.cli.common import examples, shown
from dbbench.cli.durability import durability
from dbbench.cli.engines import engines, versions
from dbbench.cli.explain import explain
from dbbench.cli.importing import import_
from dbbench.cli.init_ci import init_ci
from dbbench.cli.listing import check, dataset, describe, suites
from dbbench.cli.plugin import plugin
from dbbench.cli.report import report
from dbbench.cli.runs import compare, history, runs, site
from dbbench.cli.streams import settle
from dbbench.cli.suite import suite

#: What other tools call our commands.
_MEANT = {"run": "'suite'", "list": "'suites' or 'engines'"}


@contextlib.contextmanager
def _fit_to_be_shown() -> Iterator[None]:
    """Click's message about a wrong value, which quotes it, without the password of a URL."""
    try:
        yield
    except click.ClickException as exc:
        if exc.message:  # without one, click makes it of the parameter's name
            exc.message = shown(exc.message)  # type: ignore[misc]  # Final, and the one place where all that click says comes by
        raise


class _Plain(click.Group):
    """Commands in the order they are written, not by the alphabet."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _fit_to_be_shown():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _fit_to_be_shown():
            return super().invoke(ctx)

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        if meant := _MEANT.get(args[0]):
            context.fail(f"No such command {args[0]!r}; did you mean {meant}?")
        return super().resolve_command(context, args)


@click.group(
    cls=_Plain,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples("dbbench suite invoices", "dbbench suite invoices --quick --engine sqlite", "dbbench engines"),
)
@click.version_option(dbbench.__version__, prog_name="dbbench")
def main() -> None:
    """Benchmark databases through plugins: verified answers, intervals, best-to-worst charts.

    Start with `dbbench suite invoices`: it runs on every engine that is installed.
    """
    settle()
    # Let a SIGTERM be as kind as Ctrl-C: what is finished stays, what runs is cleared up.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


for each in (
    suite,
    suites,
    engines,
    versions,
    cache,
    describe,
    check,
    import_,
    dataset,
    runs,
    report,
    compare,
    explain,
    history,
    site,
    durability,
    plugin,
    init_ci,
):
    main.add_command(each)
