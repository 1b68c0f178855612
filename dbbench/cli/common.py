"""What the commands share: how they end, their parameters and the terminal."""

from __future__ import annotations

import contextlib
import errno
import functools
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dbbench.host.metric import Metric

if TYPE_CHECKING:  # at run time each command imports what it needs: --help stays quick
    from rich.console import Console

    from dbbench.errors import SuiteError

INTERRUPTED = 130
#: Seconds, which are 115 days; and more bytes than any machine has.
_LONGEST_WAIT, _MOST_BYTES = 10_000_000, 2**60
#: What the system says of memory, in errors of other kinds: of a fork, a library that is loaded.
_NO_MEMORY = ("Cannot allocate memory", "failed to map segment")
_NO_THREAD = "can't start new thread"


def write_files(folder: Path, templates: Mapping[str, str], facts: Mapping[str, object]) -> list[Path]:
    """Write files for the user's repository or package, each from its template; their paths.

    A fact that is missing is an error. Raises UserError if a file can't be written.
    """
    import jinja2

    known = jinja2.Environment(  # noqa: S701 - they are YAML, Python, TOML and Markdown: nothing is escaped as in HTML
        loader=jinja2.PackageLoader("dbbench.cli"), undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    for name, template in templates.items():
        path = folder / name
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(known.get_template(f"{template}.jinja").render(facts), "utf-8")
    return [folder / name for name in templates]


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise UserError where something can't be written to a file or a folder that the user named."""
    from dbbench.errors import UserError

    try:
        yield
    except OSError as exc:
        raise UserError(f"{path} can't be written: {exc.strerror or exc}") from exc


def examples(*lines: str) -> str:
    """Text below a command's options."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def command(function: Callable[..., int | None]) -> Callable[..., None]:
    """A user's mistake, or too little memory, is one line and exit status 2; an interruption is 130."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        from dbbench.errors import SuiteError, UserError
        from dbbench.host import address_space

        try:
            address_space.check()
            status = function(*args, **kwargs)
        except SuiteError as exc:
            for line in fault_lines(exc):
                click.echo(line, err=True)
            sys.exit(2)
        except UserError as exc:
            click.echo(f"dbbench: {shown(exc)}", err=True)
            sys.exit(2)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            sys.exit(INTERRUPTED)
        except (MemoryError, ImportError, OSError, RuntimeError) as exc:
            if (
                isinstance(exc, OSError)
                and exc.filename
                and exc.errno in (errno.ENAMETOOLONG, errno.EACCES, errno.EPERM)
            ):
                click.echo(f"dbbench: {shown(str(exc.filename), 100)}: {exc.strerror}", err=True)
                sys.exit(2)
            if _NO_THREAD in str(exc):
                what = "no further thread can be started; raise the limit of processes (ulimit -u) or of memory (ulimit -v)"
            elif isinstance(exc, MemoryError) or any(words in str(exc) for words in _NO_MEMORY):
                what = "there is not enough memory; free some, raise the limit (ulimit -v), or choose a smaller --scale"
            else:
                raise
            click.echo(f"dbbench: {what}", err=True)
            sys.exit(2)
        sys.exit(status or 0)

    return wrapped


def shown(said: Exception | str, most: int = 10_000) -> str:
    """An exception's message, safe for a terminal: it may quote a foreign file or a URL."""
    from dbbench.engine.urls import without_passwords
    from dbbench.message import cleaned

    return cleaned(without_passwords(str(said)), most)


def fault_lines(exc: SuiteError) -> list[str]:
    """A line for each fault of a suite, and how many there are."""
    from dbbench.message import cleaned

    first = f", of which these are the first {len(exc.faults)}" if exc.count > len(exc.faults) else ""
    lines = [cleaned(str(fault)) for fault in exc.faults]
    return [*lines, f"{exc.count:,} fault{'s' if exc.count > 1 else ''}{first}"]


def engine_names(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """Completions for the shell: those that begin with what was typed."""
    from dbbench.engine import registry

    return [name for name in registry.names() if name.startswith(typed)]


def suite_names(context: click.Context, parameter: click.Parameter, typed: str) -> list[Any]:
    """Completions for the shell: built-in suites that begin with what was typed, or else files."""
    from click.shell_completion import CompletionItem

    from dbbench.suite.loader import builtin_suites

    names = [CompletionItem(name) for name in builtin_suites() if name.startswith(typed)]
    return names or [CompletionItem(typed, type="file")]


def share(text: Any) -> float:
    """Like 5% or 0.05, as a fraction of one."""
    try:
        fraction = float(str(text).removesuffix("%")) / (100 if str(text).endswith("%") else 1)
    except ValueError as exc:
        raise click.BadParameter(f"{text!r} is not a share like 5% or 0.05") from exc
    if not 0 < fraction < 1:
        raise click.BadParameter(f"{text} is not between 0 % and 100 %: write 5% or 0.05")
    return fraction


def seconds(text: Any) -> float:
    """A time like 90s, 10m or 1h, in seconds."""
    units = {"s": 1, "m": 60, "h": 3600}
    number, unit = (str(text)[:-1], str(text)[-1:]) if str(text)[-1:] in units else (str(text), "s")
    if number.replace(".", "", 1).isdigit() and 0 < float(number) * units[unit] <= _LONGEST_WAIT:
        return float(number) * units[unit]
    raise click.BadParameter(f"{text!r} is not a time like 90s, 10m or 1h")


class Finite(click.FloatRange):
    """A number in a range: nan is none, though it is neither below nor above."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number. Fails as click's types do."""
        found = float(super().convert(value, param, ctx))
        if math.isnan(found):
            self.fail(f"{value} is not a number", param, ctx)
        return found


#: Seconds that a user may wait for something.
patience = Finite(0, _LONGEST_WAIT, min_open=True)
#: A multiple of a suite's rows, like 0.1.
scale = Finite(0, 10_000, min_open=True)
seed = click.IntRange(0, 2**63 - 1)


def memory(text: Any) -> int:
    """A size like 500MiB or 4GB, in bytes."""
    units = {"MiB": 2**20, "GiB": 2**30, "MB": 10**6, "GB": 10**9}
    for unit, size in units.items():
        number = str(text).removesuffix(unit)
        if number != str(text) and number.replace(".", "", 1).isdigit() and 0 < float(number) * size <= _MOST_BYTES:
            return int(float(number) * size)
    raise click.BadParameter(f"{text!r} is not a size like 500MiB or 4GiB")


scale_option = click.option(
    "--scale",
    type=scale,
    metavar="NUMBER",
    default=1.0,
    show_default=True,
    help="Rows or records, as a multiple of the suite's.",
)
outside_option = click.option(
    "--allow-outside", is_flag=True, help="Let the suite read files outside its folder: only if you trust it."
)
clients_option = click.option(
    "--max-clients",
    type=click.IntRange(min=1),
    metavar="N",
    help="Let a step have up to N clients. [default: 256, or one for each 64 MiB of memory if that is more]",
)
seed_option = click.option(
    "--seed", type=seed, metavar="N", help="Seed of everything drawn at random. [default: the suite's]"
)


class _RunPath(click.Path):
    """A run directory, or the word for the newest one. A folder of that name takes precedence."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from dbbench.errors import UserError
        from dbbench.results.found_runs import LATEST, latest

        if str(value) != LATEST or Path(LATEST).exists():
            return super().convert(value, param, ctx)
        try:
            return latest()
        except UserError as exc:
            self.fail(str(exc), param, ctx)


run_path = _RunPath()


class _Formats(click.Option):
    """`--format`. Its help is made from the exporters when it is shown, as loading them takes long."""

    def get_help_record(self, context: click.Context) -> tuple[str, str] | None:
        from dbbench.report.write import EXPORTERS

        named = [name for name, each in EXPORTERS.items() if not each.usual]
        always = [name for name, each in EXPORTERS.items() if each.always]
        self.help = (
            f"What to write, with commas between: {', '.join(EXPORTERS)}. If omitted, all but {', '.join(named)}; "
            f"with --publish or report's --out, all. It always writes {', '.join(always)}."
        )
        return super().get_help_record(context)


def _joined(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> str | None:
    return ",".join(given) if given else None


format_option = click.option("--format", "formats", metavar="FORMATS", cls=_Formats, multiple=True, callback=_joined)
_metric_option = functools.partial(
    click.option,
    "--metric",
    type=click.Choice([metric.value for metric in Metric]),
    callback=lambda _context, _option, named: named and Metric(named),
)
*_FIRST, _LAST = (metric.choice for metric in Metric)
_OF_THE_CALLS = f"{', '.join(_FIRST)}, or {_LAST}."
metric_option = _metric_option(default="wall", show_default=True, help=f"What is compared: {_OF_THE_CALLS}")
gate_metric_option = _metric_option(
    help=f"What is compared: {_OF_THE_CALLS} [default: wall; for a --gate, undelayed if other processes disturbed the run]"
)
publish_option = click.option(
    "--publish",
    is_flag=True,
    help="Withhold the figures of engines whose licences forbid publishing; write to RUN/publish only.",
)


def columns() -> int:
    """The terminal's width; lines that go elsewhere stay whole."""
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000


def open_console() -> Console:
    """The terminal, for text with colours and bars."""
    from rich.console import Console

    return Console(soft_wrap=True)
