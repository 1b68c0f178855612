"""A run as it goes on: a live bar on a terminal, a line for each trial elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from dbbench.analysis.units import duration
from dbbench.outcome import Outcome
from dbbench.runner import Progress as Event
from dbbench.store import Run, TrialResult


@contextmanager
def watched(console: Console, run: Run) -> Iterator[Callable[[Event], None]]:
    """Gives the function that a runner reports to."""
    rounds = run.manifest.rounds
    if not console.is_terminal:
        yield lambda event: _line(console, event, rounds)
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
            if event.result is not None and _worst(event.result) is not Outcome.OK:
                _line(bar.console, event, rounds)
            words = f"round {event.trial.round}/{rounds}  {event.trial.engine}  {event.step}"
            left = f"about {duration(event.seconds_left)} left" if event.seconds_left is not None else ""
            done = event.number - (event.result is None)
            bar.update(task, description=f"{words:<44}", total=event.total, completed=done, left=left)

        yield report


def _line(console: Console, event: Event, rounds: int) -> None:
    if event.result is None:
        return
    outcome = _worst(event.result)
    left = f", about {duration(event.seconds_left)} left" if event.seconds_left else ""
    text = (
        f"{event.number:>3}/{event.total} round {event.trial.round}/{rounds} {event.trial.engine:<14} "
        f"{outcome} {event.result.seconds:.1f} s{left}"
    )
    console.print(text, highlight=False, markup=False, style=None if outcome is Outcome.OK else "yellow")


def _worst(result: TrialResult) -> Outcome:
    return max((step.outcome for step in result.steps), key=lambda outcome: outcome.badness, default=Outcome.OK)
