"""Then and now: what is published of a step beside this run, each as multiples of the best of its own time.

Figures of another machine are never put into one order with ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dbbench.analysis.units import whole
from dbbench.report.step_view import StepView, heading, times
from dbbench.suite.model import Published, PublishedRatio, Source


@dataclass(frozen=True)
class PublishedEngine:
    """One engine: its figure in words, or why there is none, and its ratio to the best.

    Of a published ratio `figure` is that of the run.
    """

    title: str
    figure: str
    ratio: str
    note: str = ""


@dataclass(frozen=True)
class PublishedComparison:
    """One step. `published` in the published order, in `unit`; `measured` best to worst, with ratios alone.

    `said` is what was published as a ratio: of one engine's speed to another's.
    """

    title: str
    unit: str
    published: tuple[PublishedEngine, ...]
    measured: tuple[PublishedEngine, ...]
    said: tuple[PublishedEngine, ...] = ()


def published_comparisons(source: Source | None, steps: Sequence[StepView]) -> tuple[PublishedComparison, ...]:
    """Each step that has published figures or ratios."""
    found = []
    for view in steps if source else ():
        assert source is not None
        published = [figure for figure in source.figures if figure.step == view.step.name]
        said = tuple(_said(ratio, steps) for ratio in source.ratios if ratio.step == view.step.name)
        unit, engines = _then(published, view) if published else ("", ())
        if published or said:
            found.append(PublishedComparison(view.step.title, unit, engines, _now(view), said))
    return tuple(found)


def _said(ratio: PublishedRatio, steps: Sequence[StepView]) -> PublishedEngine:
    ours = _ratio(ratio, steps)
    opposite = ours is not None and (ours < 1) == ((ratio.value or 2) > 1)
    note = f"{ratio.note}; here the opposite: {ratio.why}" if opposite and ratio.why else ratio.note
    figure = "–" if ours is None else f"×{times(ours)}"
    return PublishedEngine(
        f"{ratio.engine}, to {ratio.than}", figure, f"×{ratio.value:g}" if ratio.value else "better", note
    )


def _ratio(ratio: PublishedRatio, steps: Sequence[StepView]) -> float | None:
    """How many times as good as the best of `to` the worst of `of` is in this run; None without a figure of each."""
    mine = _speeds(steps, ratio.step, ratio.of, within=ratio.to_step is None)
    others = _speeds(steps, ratio.to_step or ratio.step, ratio.to, within=ratio.to_step is None)
    return min(mine) / max(others) if mine and others else None


def _speeds(steps: Sequence[StepView], step: str, engines: Sequence[str], *, within: bool) -> list[float]:
    """The figures of some engines that have a ratio, the greatest the best: within one step by their ratios."""
    view = next((view for view in steps if view.step.name == step), None)
    rows = [line.row for line in view.lines if line.row.engine in engines] if view else []
    if within:
        return [1 / row.ratio.value for row in rows if row.ratio]
    known = [row.value for row in rows if row.ratio and row.value]
    return known if view and view.rates else [1 / value for value in known]


def _then(published: Sequence[Published], view: StepView) -> tuple[str, tuple[PublishedEngine, ...]]:
    known = [figure.value for figure in published if figure.value is not None]
    unit = whole(view.step.unit, known)
    engines = []
    for figure in published:
        if figure.value is None:
            engines.append(PublishedEngine(figure.engine, figure.note or "no figure", ""))
            continue
        ratio = ""
        if min(known) > 0:  # a clock that shows 0 for the best tells no ratios
            ratio = f"×{times(max(known) / figure.value if view.rates else figure.value / min(known))}"
        note = "; ".join(filter(None, (figure.note, "the only one" * (len(published) == 1))))
        engines.append(PublishedEngine(figure.engine, unit.figure(figure.value), ratio, note))
    return heading(unit), tuple(engines)


def _now(view: StepView) -> tuple[PublishedEngine, ...]:
    lines = [PublishedEngine(line.row.title, line.value if line.withheld else "", line.ratio) for line in view.lines]
    return (*lines, *(PublishedEngine(line.row.title, line.value, "") for line in view.failed))
