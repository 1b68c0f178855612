"""One row for each step and engine of a run's trials, best to worst."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from dbbench.analysis.agreement import agreed, confirmed, disputed
from dbbench.analysis.dependence import Dependence, dependence, stretched
from dbbench.analysis.ordering import harness_share, ordered
from dbbench.analysis.remarks import About, Remark, no_ranks, of_failed, remarks
from dbbench.analysis.row import Row
from dbbench.analysis.statistics import Estimate, estimate
from dbbench.analysis.steadiness import unsteady
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Manifest
from dbbench.results.trial import StepResult, TrialResult
from dbbench.suite.model import Scenario, Suite, WorstOfLast
from dbbench.suite.steps import AnyStep
from dbbench.suite.steps.transaction import TransactionStep

#: The null engine's time is at most this share of an engine's: what gives rows must also find them.
MOST = 2 / 3
#: Fewer rounds don't show that the null engine was not disturbed.
_ROUNDS = 3
#: The kinds in which it holds. A dict in C finds a record sooner than the null engine's own function, in Python,
#: returns.
_KINDS = ("query", "statement", "load", "churn", "objects", "transaction", "nearest", "search")


def summarise(
    suite: Suite,
    manifest: Manifest,
    results: Sequence[TrialResult],
    *,
    mixed: bool = False,
    whole: Sequence[TrialResult] | None = None,
) -> list[Row]:
    """All rows, in the order of scenarios and steps, each step best to worst and then the failed ones.

    `mixed`: rank Arrow batches with rows. `whole`: the run's results where some of its engines are left out.
    """
    return [row for rows in unordered(suite, manifest, results, whole=whole) for row in ordered(rows, mixed=mixed)]


def unordered(
    suite: Suite,
    manifest: Manifest,
    results: Sequence[TrialResult],
    *,
    intervals: bool = True,
    whole: Sequence[TrialResult] | None = None,
) -> list[list[Row]]:
    """The rows of each step as engines were asked for, without ranks and ratios.

    `intervals`: with those, and with remarks on how the rounds vary. `whole`: as for `summarise`.
    """
    whole = results if whole is None else whole  # whether an answer is right is a fact of the whole run
    steps: list[list[Row]] = []
    called = manifest.titles(results)
    for scenario in suite.scenarios:
        mine: dict[str, list[TrialResult]] = {}
        for result in results:
            if result.scenario_name == scenario.name:
                mine.setdefault(result.engine_name, []).append(result)
        for step in scenario.steps:
            found = [
                _row(
                    scenario,
                    step.name,
                    engine,
                    called[engine],
                    manifest,
                    mine.get(engine, []),
                    whole,
                    intervals=intervals,
                )
                for engine in manifest.engines
            ]
            rows = agreed(disputed([row for row in found if row is not None], whole), whole)
            steps.append(possible(step, rows))
    if not intervals:
        return steps
    depends = dependence([[row.trial_means for row in rows if _timed(row)] for rows in steps])
    return [[_widened(row, depends) for row in rows] for rows in steps]


def _timed(row: Row) -> bool:
    return row.ranked and row.value is not None and row.unit != "B"


def _widened(row: Row, depends: Dependence) -> Row:
    """A row with its interval as wide as the dependence of rounds makes it; sizes don't depend on the machine."""
    if row.value is None or row.unit == "B":
        return row
    interval = stretched(Estimate(row.value, row.low, row.high), depends.figures)
    return replace(row, low=interval.low, high=interval.high, dependence=depends)


def _row(
    scenario: Scenario,
    step: str,
    engine: str,
    title: str,
    manifest: Manifest,
    mine: Sequence[TrialResult],
    whole: Sequence[TrialResult],
    *,
    intervals: bool,
) -> Row | None:
    """`mine` are the engine's own trials of the scenario, `whole` those of the run."""
    probed = manifest.engines[engine]
    part = manifest.ranked(engine)
    if probed["status"] != "available":
        texts = (f"{probed['status']}: {probed.get('detail', '')}", probed.get("install", ""))
        why = tuple(Remark(About.RECORDED, text) for text in texts)
        return Row(scenario.name, step, engine, title, Outcome.UNAVAILABLE, part, remarks=why)
    taken = [(result.round, found) for result in mine if (found := result.step(step)) is not None]
    steps = [found for _, found in taken]
    if not steps:
        return None
    outcome = max({result.outcome for result in steps}, key=lambda item: item.badness)
    if outcome is not Outcome.OK:
        return Row(
            scenario.name, step, engine, title, outcome, part,
            remarks=tuple(of_failed(outcome, steps, mine)),
            metric=steps[0].metric, unit=steps[0].unit, direction=steps[0].direction,
        )  # fmt: skip
    unverified = [found for found in steps if not found.verified]
    if unverified and "checked_by" in steps[0].facts and confirmed(whole, scenario.name, step):
        unverified = []
    trial_means = tuple(result.value for result in steps if result.value is not None)
    middle = Estimate(median(trial_means), None, None)
    if intervals:
        middle = _with_brackets(estimate(trial_means), steps)
    return Row(
        scenario=scenario.name,
        step=step,
        engine=engine,
        title=title,
        outcome=outcome,
        ranked=part,
        at_url=bool(probed.get("url")),
        metric=steps[0].metric,
        unit=steps[0].unit,
        direction=steps[0].direction,
        trial_means=trial_means,
        of_rounds=tuple(number for number, result in taken if result.value is not None),
        value=middle.value,
        low=middle.low,
        high=middle.high,
        original=_original(scenario.worst_of_last, trial_means, steps[0].direction),
        verified=not unverified and (steps[0].unit == "B" or not any(no_ranks(mine))),
        remarks=tuple(remarks(scenario, steps, mine, unverified, part=part)),
        unsteady=unsteady(trial_means) if intervals and part and steps[0].unit != "B" else (),
        facts=steps[-1].facts,
        rounds=tuple(result.facts for result in steps),
    )


def _with_brackets(middle: Estimate, steps: Sequence[StepResult]) -> Estimate:
    """Interval of a search over several rounds: up to the upper end of the rates that failed."""
    failed = [found.facts["find"]["failed"] for found in steps if found.facts.get("find")]
    known = [rate for rate in failed if rate is not None]
    if not known or len(known) < len(steps) or middle.high is None:
        return middle
    return replace(middle, high=estimate(known).high)


def _original(method: WorstOfLast | None, trial_means: Sequence[float], direction: str) -> float | None:
    """The worst of the last trial means, as the benchmark that is reproduced had it; None if rounds are missing."""
    if method is None or len(trial_means) < method.runs:
        return None
    last = trial_means[method.runs - method.last : method.runs]
    return min(last) if direction == "higher" else max(last)


def possible(step: AnyStep, rows: Sequence[Row]) -> list[Row]:
    """The rows of a step, those that can't be without a rank."""
    nulls = [row for row in rows if not row.ranked]
    if not _one_after_another(step):
        return list(rows)
    return [
        replace(row, verified=False, remarks=(Remark(About.IMPOSSIBLE, amount=1 / share), *row.remarks))
        if row.ranked and len(row.trial_means) >= _ROUNDS and (share := harness_share(row, nulls) or 0.0) > MOST
        else row
        for row in rows
    ]


def _one_after_another(step: AnyStep) -> bool:
    """Whether its figure is of calls alone: not of waiting for a moment, for another client, or to think."""
    waits = getattr(step, "rate", None) or getattr(step, "find", None)
    waits = waits or (isinstance(step, TransactionStep) and step.thinks)
    return step.kind in _KINDS and step.concurrent_clients.count == 1 and not waits
