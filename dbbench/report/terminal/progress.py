"""A run as it goes on: a live bar on a terminal, a line for each trial elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from dbbench.analysis.publication import forbidden
from dbbench.analysis.units import duration
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Run
from dbbench.results.trial import TrialResult
from dbbench.run.runner import Progress as Event


@contextmanager
def watched(console: Console, run: Run, *, publish: bool) -> Iterator[Callable[[Event], None]]:
    """Gives the function that a runner reports to.

    What may be published has no times of the trials of an engine whose licence forbids it. The time left is made
    of them too.
    """
    rounds = run.manifest.rounds
    held = set(forbidden(run.manifest, ())) if publish else set()

    def look(event: Event) -> None:
        if publish and event.result is not None:  # which server it is shows when it has answered
            held.update(forbidden(run.manifest, [event.result]))

    def line(event: Event) -> None:
        look(event)
        _line(console, event, rounds, held)

    if not console.is_terminal:
        yield line
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=16),
        TextColumn("{task.completed:.0f}/{task.total:.0f} {task.fields[left]}"),
        console=console,
        transient=True,
        refresh_per_second=4,
    )
    with bar:
        task = bar.add_task("starting", total=1, left="")

        def report(event: Event) -> None:
            look(event)
            if event.result is not None and _worst(event.result) is not Outcome.OK:
                _line(bar.console, event, rounds, held)
            words = f"round {event.trial.round}/{rounds}  {event.trial.engine}  {event.step}"
            left = "" if held else _left(event)
            done = event.number - (event.result is None)
            bar.update(task, description=f"{words:<44}", total=event.total, completed=done, left=left)

        yield report


def _line(console: Console, event: Event, rounds: int, held: Collection[str]) -> None:
    if event.result is None:
        return
    outcome = _worst(event.result)
    left = f", {_left(event)}" if event.seconds_left and not held else ""
    took = "" if event.trial.engine in held else f" {event.result.seconds:.1f} s"
    text = (
        f"{event.number:>3}/{event.total} round {event.trial.round}/{rounds} {event.trial.engine:<14} "
        f"{outcome}{took}{left}"
    )
    console.print(text, highlight=False, markup=False, style=None if outcome is Outcome.OK else "yellow")


def _left(event: Event) -> str:
    if event.seconds_left is None:
        return ""
    return f"{'at most ' if event.at_most else ''}about {duration(event.seconds_left)} left"


def _worst(result: TrialResult) -> Outcome:
    return max((step.outcome for step in result.steps), key=lambda outcome: outcome.badness, default=Outcome.OK)
