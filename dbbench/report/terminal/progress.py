"""Progress of a run: a live bar on a terminal, a line for each trial elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from dbbench.analysis.publication import forbidden
from dbbench.analysis.units import duration
from dbbench.message import cleaned
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Run
from dbbench.results.trial import Progress as Event
from dbbench.results.trial import TrialResult


@contextmanager
def watched(console: Console, run: Run, *, publish: bool) -> Iterator[Callable[[Event], None]]:
    """Gives the function that a runner reports to.

    What may be published has no times of the trials of an engine whose licence forbids it. The time left is made
    of them too. A null engine's trials and notes are no lines, and aren't counted.
    """
    manifest, results = run.manifest, run.results()
    hidden = set(forbidden(manifest, results)) if publish else set()
    done = {result.id for result in results if manifest.ranked(result.engine_name)}  # some may run again
    part = sum(manifest.ranked(name) for name in manifest.usable) / max(len(manifest.usable), 1)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=16),
        TextColumn("{task.completed:.0f}/{task.total:.0f} {task.fields[left]}"),
        console=console,
        transient=True,
        refresh_per_second=4,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task("starting", total=1, left="")

        def report(event: Event) -> None:
            if publish and event.result is not None:  # which server it is shows when it has answered
                hidden.update(forbidden(manifest, [event.result]))
            counts = manifest.ranked(event.trial.engine)
            left, total = "" if hidden else _left(event), round(event.total * part)
            if counts and event.result is not None:
                done.add(event.trial.id)
                outcome = _worst(event.result)
                if bar.disable or outcome is not Outcome.OK:
                    took = "" if event.trial.engine in hidden else f" {event.result.seconds:.1f} s"
                    text = (
                        f"{len(done):>3}/{total} round {event.trial.round}/{manifest.rounds} {event.trial.engine:<14} "
                        f"{outcome}{took}{left and f', {left}'}"
                    )
                    console.print(
                        text, highlight=False, markup=False, style=None if outcome is Outcome.OK else "yellow"
                    )
            if counts and event.note:
                note = ":".join(event.note.split(":")[:2]) if publish else event.note  # what follows are figures
                text = f"    round {event.trial.round}/{manifest.rounds} {event.trial.engine:<14} {cleaned(note)}"
                console.print(text, highlight=False, markup=False, style="dim")
            name = event.trial.engine if counts else "harness"
            words = f"round {event.trial.round}/{manifest.rounds}  {name}  {event.step}"
            bar.update(task, description=f"{words:<44}", total=total, completed=len(done), left=left)

        yield report


def _left(event: Event) -> str:
    if event.seconds_left is None:
        return ""
    return f"{'at most ' if event.at_most else ''}about {duration(event.seconds_left)} left"


def _worst(result: TrialResult) -> Outcome:
    return max((step.outcome for step in result.steps), key=lambda outcome: outcome.badness, default=Outcome.OK)
