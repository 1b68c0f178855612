"""Then and now: what is published of a step beside this run, each as multiples of the best of its own time.

Figures of another machine are never put into one order with ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbbench.analysis.units import whole
from dbbench.report.steps import StepView, heading, times
from dbbench.suite import Published, PublishedRatio, Source


@dataclass(frozen=True)
class Engine:
    """One engine: its figure in words, or why there is none, and its ratio to the best."""

    title: str
    figure: str
    ratio: str
    note: str = ""


@dataclass(frozen=True)
class ThenAndNow:
    """One step. `then` in the published order, in `unit`; `now` best to worst, with ratios alone.

    `said` is what was published as a ratio: of one engine's speed to another's.
    """

    title: str
    unit: str
    then: tuple[Engine, ...]
    now: tuple[Engine, ...]
    said: tuple[Engine, ...] = ()


def then_and_now(source: Source | None, steps: Sequence[StepView]) -> tuple[ThenAndNow, ...]:
    """Each step that has published figures or ratios."""
    found = []
    for view in steps if source else ():
        assert source is not None
        published = [figure for figure in source.figures if figure.step == view.step.name]
        said = tuple(_said(ratio) for ratio in source.ratios if ratio.step == view.step.name)
        unit, engines = _then(published, view) if published else ("", ())
        if published or said:
            found.append(ThenAndNow(view.step.title, unit, engines, _now(view), said))
    return tuple(found)


def _said(ratio: PublishedRatio) -> Engine:
    return Engine(f"{ratio.engine}, to {ratio.than}", "", f"×{ratio.value:g}", ratio.note)


def _then(published: Sequence[Published], view: StepView) -> tuple[str, tuple[Engine, ...]]:
    known = [figure.value for figure in published if figure.value is not None]
    base = "B" if view.step.kind == "size" else "1/s" if view.rates else "s"
    unit = whole(base, known)
    engines = []
    for figure in published:
        if figure.value is None:
            engines.append(Engine(figure.engine, figure.note or "no figure", ""))
            continue
        ratio = ""
        if min(known) > 0:  # a clock that shows 0 for the best tells no ratios
            ratio = f"×{times(max(known) / figure.value if view.rates else figure.value / min(known))}"
        note = figure.note or "the only one" * (len(published) == 1)
        engines.append(Engine(figure.engine, unit.figure(figure.value), ratio, note))
    return heading(unit), tuple(engines)


def _now(view: StepView) -> tuple[Engine, ...]:
    lines = [Engine(line.row.title, line.value if line.withheld else "", line.ratio) for line in view.lines]
    return (*lines, *(Engine(line.row.title, line.value, "") for line in view.failed))
