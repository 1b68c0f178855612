"""Views of steps, made of their rows; every figure is worded once."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dbbench.analysis.footprint import Footprint
from dbbench.analysis.queryplans import QueryPlan
from dbbench.analysis.remarks import Remark
from dbbench.analysis.row import Row
from dbbench.analysis.units import Unit, amount, fitting
from dbbench.report.remarks import notes
from dbbench.report.step_view import BOUND_SHARE, LEAST_SHARE, Data, Line, StepView, times
from dbbench.report.steps import wording
from dbbench.suite.model import Scenario
from dbbench.suite.steps import AnyStep

#: The most characters of a clause in the place of a figure; the whole stands under the chart.
CLAUSE = 48


def step_view(
    scenario: Scenario,
    step: AnyStep,
    rows: Sequence[Row],
    data: Data,
    plans: Sequence[QueryPlan],
    footprints: Mapping[str, Footprint],
) -> StepView:
    """A step in words. `rows` are the step's own, in their order, `footprints` its engines' at a size step."""
    good = [row for row in rows if row.value is not None and row.ranked]
    base = next((row.unit for row in good if row.unit), step.figure_unit)
    unit = fitting(base, [row.value for row in good if row.value])
    footnotes: dict[str, list[str]] = {}
    lines: list[Line] = []
    failed: list[Line] = []
    for row in rows:
        if not row.ranked:
            continue
        marks = []
        for note in notes(row):
            if not (row.withheld and row.measured):  # its clause stands in its line
                footnotes.setdefault(note, []).append(row.title)
                marks.append(str(list(footnotes).index(note) + 1))
        (lines if row.measured else failed).append(_line(row, unit, ",".join(marks)))
    rounds = max((len(row.trial_means) for row in good), default=0)
    words = _harness(good, [row for row in rows if not row.ranked]) if step.unit != "B" else ""
    order = [line.row.engine for line in (*lines, *failed)]
    worded = wording(step)
    view = StepView(
        scenario, step, worded, data, unit, rounds, tuple(lines), tuple(failed), words,
        tuple(f"{', '.join(titles)}: {detail}" for detail, titles in footnotes.items()),
        plans=_plans(plans, order), footprints=footprints,
    )  # fmt: skip
    return worded.detailed(step, view)


def _plans(plans: Sequence[QueryPlan], order: Sequence[str]) -> tuple[QueryPlan, ...]:
    """The best engine's first; one for all engines that have the very same."""
    same: dict[tuple[str, Remark | None], list[QueryPlan]] = {}
    for plan in sorted((plan for plan in plans if plan.engine in order), key=lambda plan: order.index(plan.engine)):
        same.setdefault((plan.text, plan.note), []).append(plan)
    return tuple(
        replace(
            mine[0],
            title=", ".join(plan.title for plan in mine),
            engines=tuple((plan.engine, plan.title) for plan in mine),
        )
        for mine in same.values()
    )


def _line(row: Row, unit: Unit, mark: str) -> Line:
    rank = "–" if row.checked is False else "" if row.rank is None else str(row.rank)
    if row.withheld and row.measured:
        return Line(row, rank, f"withheld: {textwrap.shorten(row.withheld, CLAUSE, placeholder=' …')}", "", "", mark)
    if row.value is None:
        return Line(row, "", str(row.outcome), "", "", mark)
    interval = ""
    if row.low is not None and row.high is not None and row.unit != "B":
        interval = f"{unit.figure(row.low)} to {unit.figure(row.high)}"
    ratio, between = "Arrow" if row.apart and row.gives == "batches" else "", ""
    if row.ratio is not None:
        ratio = f"×{times(row.ratio.value)}"
        if row.ratio.low is not None and row.ratio.high is not None and row.unit != "B":
            between = f"{times(row.ratio.low)} to {times(row.ratio.high)}"
    return Line(
        row=row,
        rank=rank,
        value=unit.figure(row.value),
        interval=interval,
        ratio=ratio,
        mark=mark,
        ratio_interval=between,
        share=_percent(row.harness_share),
        original="" if row.original is None else unit.figure(row.original),
        retries=_retries(row),
        tails=row.tails,
    )


def _retries(row: Row) -> str:
    return f"{row.retries:,} {'retry' if row.retries == 1 else 'retries'}" if row.retries else ""


def _percent(share: float | None) -> str:
    """A harness's share in words, with a mark on what is bound by the harness."""
    if share is None:
        return ""
    return "<0.1%" if share < LEAST_SHARE else f"{share:.1%}{'!' if share > BOUND_SHARE else ''}"


def _harness(good: Sequence[Row], nulls: Sequence[Row]) -> str:
    """The null engines' times in words, and the largest share that they are of any result."""
    awaited = [f"{_own_time(null)} for awaited calls" for null in nulls if null.value and null.form[1]]
    durations = [_own_time(null) for null in nulls if null.value and not null.form[1]]
    shares = [row.harness_share for row in good if row.harness_share is not None]
    if not (durations or awaited) or not shares:
        return ""
    others = f"{' for rows, '.join(durations)}{' for Arrow batches' if len(durations) > 1 else ''}"
    words = f"dbbench's own overhead: {', '.join(filter(None, (others, *awaited)))}"
    most = max(good, key=lambda row: row.harness_share or 0)
    if max(shares) >= LEAST_SHARE:
        words += f"; at most {max(shares):.1%} of a result ({most.title})"
    return words


def _own_time(null: Row) -> str:
    value = null.value or 0
    if null.direction == "higher":
        return f"{amount('s', 1 / value)} an operation"
    return amount(null.unit or "s", value)
