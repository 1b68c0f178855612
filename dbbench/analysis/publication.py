"""What may be published of a run. Where a licence forbids it an engine keeps its place, and its figures are withheld.

All reports are worded from `Figures`. What `figures` gives for publication has no measured value of such an engine in
it, nor any that was computed from one, so that no report can forget to leave it out.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from dbbench.analysis.footprint import Footprint, Resources, footprints, resources
from dbbench.analysis.ordering import ordered
from dbbench.analysis.paired import Series, changes, series
from dbbench.analysis.queryplans import QueryPlan, query_plans
from dbbench.analysis.ranking import Rank
from dbbench.analysis.remarks import About, Remark
from dbbench.analysis.row import Row
from dbbench.analysis.standings import Standing, across, standings
from dbbench.analysis.summary import summarise
from dbbench.analysis.verdicts import ComparisonVerdict
from dbbench.results.facts import StepFacts
from dbbench.results.outcome import Outcome
from dbbench.results.run_directory import Manifest, Run
from dbbench.results.trial import StepResult, TrialResult
from dbbench.suite.model import Scenario
from dbbench.suite.steps import AnyStep

#: What an engine says of itself, as `engine.Publication` has it.
ALLOWED, CONDITIONS, FORBIDDEN = "allowed", "with conditions", "forbidden"

#: Outcomes of an engine that nobody named, for want of a feature.
_MAY_LACK = (Outcome.UNSUPPORTED, Outcome.NOT_RUN)


@dataclass(frozen=True)
class Terms:
    """Whether a licence lets figures be published, and the clause that says so."""

    status: str
    clause: str


@dataclass(frozen=True)
class Figures:
    """All that reports of a run are made from: what was found, and what follows from that, computed when it is read."""

    run: Run
    rows: Sequence[Row]
    results: Sequence[TrialResult]
    #: The same with the steps that `run` leaves out, and without what is withheld.
    whole: Sequence[TrialResult]
    #: By scenario.
    standings: Mapping[str, Sequence[Standing]]
    plans: Mapping[str, Sequence[QueryPlan]]
    #: Why there was no further round, in words.
    stopped: str
    #: Whether anything of an engine, null engines apart, came out otherwise than ok.
    unsuccessful: bool
    #: Whether Arrow batches are ranked with rows.
    mixed: bool = False

    @property
    def otherwise(self) -> Mapping[tuple[str, str], Mapping[str, Row]]:
        """Step -> engine -> its row if `mixed` were otherwise; only where that matters, and nothing is withheld."""
        found = {}
        for key, step in groupby(self.rows, key=lambda row: (row.scenario, row.step)):
            rows = list(step)
            forms = {row.gives == "batches" for row in rows if row.ranked and row.value is not None}
            if len(forms) > 1 and not any(row.withheld for row in rows):
                found[key] = {row.engine: row for row in ordered(rows, mixed=not self.mixed)}
        return found

    @property
    def across(self) -> tuple[tuple[Standing | None, ...], ...]:
        """Each engine's standings in the scenarios, best first, where there are several scenarios."""
        return tuple(across([*self.standings.values()])) if len(self.standings) > 1 else ()

    @property
    def series(self) -> tuple[tuple[Series, Mapping[tuple[str, str, str], ComparisonVerdict]], ...]:
        """Variants that form a series, and where one of them is shown to be slower or faster than the one before it."""
        return tuple((each, changes(self.rows, each)) for each in series(self.run.manifest))

    def resources(self, scenario: str) -> list[Resources]:
        """The memory, CPU time and bytes written that each engine's trials used."""
        return resources(self.run.manifest, self.results, scenario)

    def footprints(self, scenario: Scenario, step: AnyStep, csv_bytes: int | None) -> Mapping[str, Footprint]:
        """Engine -> its footprint at a size step; empty for another step."""
        named = {row.engine: row.title for row in self.of_step(scenario, step)} if step.unit == "B" else {}
        return footprints(self.run.whole.suite.scenario(scenario.name), step.name, named, self.whole, csv_bytes)

    def of_step(self, scenario: Scenario, step: AnyStep) -> list[Row]:
        """The rows of a step."""
        return [row for row in self.rows if (row.scenario, row.step) == (scenario.name, step.name)]


def figures(run: Run, *, publish: bool = False, mixed: bool = False) -> Figures:
    """Everything that a run found, or that may be published of it. Raises RunError if one of its trials is damaged.

    `mixed`: rank Arrow batches with rows.
    """
    results = run.results()
    all_results = results if run.whole is run else run.whole.results()
    rows = summarise(run.suite, run.manifest, results, mixed=mixed, whole=all_results)
    called = run.manifest.titles(results)
    remarked = any(result.remarks for result in results if run.manifest.ranked(result.engine_name))
    whole = Figures(
        run=run,
        rows=rows,
        results=results,
        whole=[result for result in all_results if result.engine_name in run.manifest.engines],
        standings={scenario.name: standings(rows, scenario) for scenario in run.suite.scenarios},
        plans={scenario.name: query_plans(run, scenario, called, results) for scenario in run.suite.scenarios},
        stopped=run.manifest.stopped,
        unsuccessful=remarked or any(_counts(run.manifest, row) for row in rows),
        mixed=mixed,
    )
    return _withheld(whole, run) if publish else whole


def _counts(manifest: Manifest, row: Row) -> bool:
    """True if a row makes the run unsuccessful. An engine that nobody named may lack what a step asks for.

    What isn't run after a step does not count either: that step does, unless it is unsupported.
    """
    if row.outcome in _MAY_LACK and manifest.named is not None and row.engine not in manifest.named:
        return False
    return row.ranked and row.outcome not in (Outcome.OK, Outcome.NOT_COUNTED)


def terms(manifest: Manifest, results: Sequence[TrialResult]) -> dict[str, Terms]:
    """Publication of each engine: as the server that answered has it, else as the plugin states."""
    answered = {result.engine_name: result.engine for result in results if result.engine.get("publication")}
    found = {}
    for name in manifest.usable:
        if manifest.ranked(name):
            source = answered.get(name, manifest.engines[name])
            found[name] = Terms(source.get("publication") or "unknown", source.get("publication_note") or "")
    return found


def forbidden(manifest: Manifest, results: Sequence[TrialResult]) -> dict[str, str]:
    """The engines whose figures may not be published -> the clause that says so."""
    return {
        name: found.clause or "its licence"
        for name, found in terms(manifest, results).items()
        if found.status == FORBIDDEN
    }


def _withheld(found: Figures, run: Run) -> Figures:
    """The same without any figure of the engines whose licences forbid it; the order is what it was."""
    clauses = forbidden(run.manifest, found.results)
    if not clauses:
        return found
    by_step = groupby(found.rows, key=lambda row: (row.scenario, row.step))
    rows = [row for _, step in by_step for row in _step(list(step), clauses, mixed=found.mixed)]
    return replace(
        found,
        rows=rows,
        results=[_bare_result(result) if result.engine_name in clauses else result for result in found.results],
        whole=[result for result in found.whole if result.engine_name not in clauses],
        standings={
            scenario.name: _in_order(standings(rows, scenario), found.standings[scenario.name], clauses)
            for scenario in run.suite.scenarios
        },
        plans={name: [_bare_plan(plan, clauses) for plan in plans] for name, plans in found.plans.items()},
        stopped=found.stopped.partition(":")[0],  # what follows may be the width of an interval of theirs
    )


def _step(rows: Sequence[Row], clauses: Mapping[str, str], *, mixed: bool) -> list[Row]:
    """A step with ratios and ranks among the figures that are shown, and ranges that leave room for the others."""
    shown = {row.engine: row for row in ordered([row for row in rows if row.engine not in clauses], mixed=mixed)}
    order = [row.engine for row in rows]
    alike = [row.value is not None and row.verified and not row.apart for row in rows]
    if any(row.rank for row in rows):  # those that lack rounds have none
        alike = [row.rank is not None for row in rows]
    hidden = [at for at, row in enumerate(rows) if row.engine in clauses and alike[at]]
    return [
        _bare_row(row, clauses[row.engine])
        if row.engine in clauses
        else replace(shown[row.engine], rank=_rank(shown[row.engine], shown, [] if row.apart else hidden, order))
        for row in rows
    ]


def _rank(row: Row, shown: Mapping[str, Row], hidden: Sequence[int], order: Sequence[str]) -> Rank | None:
    """A rank among the shown ones and the withheld, which stand at `held` in the order of medians.

    Of a withheld one the order alone is known. It counts as better than this row if it stands before one that is
    shown to be better, as worse if it stands after one that is shown to be worse, and else it may be either: any other
    rule would tell its figure to within 2 %.
    """
    if row.rank is None:
        return None
    better = max((order.index(engine) for engine in row.better), default=-1)
    worse = min((order.index(name) for name, other in shown.items() if row.engine in other.better), default=len(order))
    return Rank(row.rank.best + sum(at < better for at in hidden), row.rank.worst + sum(at < worse for at in hidden))


def _bare_row(row: Row, clause: str) -> Row:
    """What is known of a row without its trials. The outcome stays: a failure is named, and has no figure."""
    return Row(
        scenario=row.scenario,
        step=row.step,
        engine=row.engine,
        title=row.title,
        outcome=row.outcome,
        ranked=row.ranked,
        verified=row.verified,
        apart=row.apart,
        metric=row.metric,
        unit=row.unit,
        direction=row.direction,
        facts=_plain(row.facts) if row.facts else None,
        withheld=clause,
        remarks=(Remark(About.WITHHELD, clause),),
    )


def _plain(facts: StepFacts) -> StepFacts:
    """Facts that don't concern the engine: the rows of the answer, and the form that they came in."""
    plain: StepFacts = {}
    if "rows" in facts:
        plain["rows"] = facts["rows"]
    if "gives" in facts:
        plain["gives"] = facts["gives"]
    return plain


def _bare_result(result: TrialResult) -> TrialResult:
    """Identity of a trial: versions and settings, and the outcomes of its steps."""
    return TrialResult(
        id=result.id,
        scenario_name=result.scenario_name,
        engine_name=result.engine_name,
        round=result.round,
        engine=result.engine,
        steps=tuple(StepResult(name=step.name, outcome=step.outcome) for step in result.steps),
    )


def _bare_plan(plan: QueryPlan, clauses: Mapping[str, str]) -> QueryPlan:
    """A plan may hold what the engine estimates that a query costs."""
    if plan.engine not in clauses:
        return plan
    return QueryPlan(plan.step, plan.engine, plan.title, note=Remark(About.WITHHELD, clauses[plan.engine]))


def _in_order(found: Sequence[Standing], full: Sequence[Standing], hidden: Collection[str]) -> list[Standing]:
    """Standings of the shown engines in their order, and of the withheld ones at their places in the full order."""
    withheld = {standing.engine: standing for standing in found if standing.engine in hidden}
    shown = (standing for standing in found if standing.engine not in hidden)
    return [withheld.get(standing.engine) or next(shown) for standing in full]
