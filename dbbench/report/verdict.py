"""What a run and a step found, in a sentence or two: for whoever reads no further."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from dbbench.analysis.ranking import BAND
from dbbench.analysis.standings import Standing, mean_over
from dbbench.report.run_view import ScenarioView, View
from dbbench.report.step_view import Line, StepView, joined, small_share, times

#: The most engines that a sentence names one by one.
_NAMED = 3


@dataclass(frozen=True)
class Win:
    """The timed steps that one engine was best in, or that some engines tie in."""

    titles: tuple[str, ...]
    #: Each step with how many times as much the next engine takes, in words; that may be empty.
    steps: tuple[tuple[ScenarioView, StepView, str], ...]

    @property
    def words(self) -> str:
        """The engine, or those that tie."""
        return self.titles[0] if len(self.titles) == 1 else f"Tie: {_named(self.titles)}"


def wins(scenarios: Sequence[ScenarioView]) -> list[Win]:
    """Winners of steps, the engine with most steps first. A step without two engines to compare is left out."""
    found: dict[tuple[str, ...], list[tuple[ScenarioView, StepView, str]]] = {}
    for scenario in scenarios:
        for step in _timed(scenario):
            if leading := _leading(step):
                titles = tuple(sorted(line.row.title for line in leading))
                margin = _margin(step, leading)
                found.setdefault(titles, []).append((scenario, step, margin))
    order = sorted(found, key=lambda titles: (len(titles) > 1, -len(found[titles])))
    return [Win(titles, tuple(found[titles])) for titles in order]


def _leading(step: StepView) -> list[Line]:
    """The first engine, or those that tie with it; without ranks the one with the best figure; empty without any."""
    known = _known(step)
    if len(known) < 2 or step.withheld:
        return []
    ranked = [line for line in known if line.row.rank]
    if not ranked:
        return _close(known)
    return [line for line in ranked if not line.row.better] if known[0] in ranked else []


def _close(known: Sequence[Line]) -> list[Line]:
    """The best figure, and those within 2 % of it."""
    return [line for line in known if line is known[0] or (line.row.ratio and line.row.ratio.value <= 1 + BAND)]


def _margin(step: StepView, leading: Sequence[Line]) -> str:
    after = [line.row.ratio for line in _known(step) if line not in leading and line.row.ratio]
    return f"{times(after[0].value)}×" if len(leading) == 1 and after else ""


def _known(step: StepView) -> list[Line]:
    """The lines of verified engines, best first, without those that are ranked separately."""
    return [line for line in step.best_first if line.row.value is not None and line.row.verified and not line.row.apart]


def _before_withheld(step: StepView) -> list[Line]:
    """The lines of verified engines, best first, up to the first one whose figure is withheld."""
    lines = step.best_first
    first = next((at for at, line in enumerate(lines) if line.withheld and not line.row.apart), len(lines))
    known = _known(step)
    return [line for line in lines[:first] if line in known]


def verdict(scenario: ScenarioView, *, alike: bool = False) -> str:
    """Sentences: the fastest engine over all steps, the clear wins and ties, the smallest database.

    `alike`: without what sets engines apart, as where several scenarios have it in common.
    """
    unlike = "" if alike else _unlike(_lines(scenario))
    found = (_overall(scenario), _wins(scenario), _smallest(scenario), unlike)
    return " ".join(filter(None, found))


def summary(scenario: ScenarioView) -> str:
    """The verdict without the wins, for use above a list of them."""
    return " ".join(filter(None, (_overall(scenario), _smallest(scenario), _unlike(_lines(scenario)))))


def _unlike(lines: Sequence[Line]) -> str:
    """Sentences on engines that did something else than the others."""
    arrow = list(dict.fromkeys(line.row.title for line in lines if _is_arrow(line)))
    words = (
        f"Not ranked with rows: {_named(arrow)}, which return{'s' * (len(arrow) < 2)} Arrow batches." if arrow else ""
    )
    return " ".join(filter(None, (words, _durable(lines))))


def _lines(scenario: ScenarioView) -> list[Line]:
    return [line for step in _timed(scenario) for line in step.best_first]


def conclusion(shown: View) -> str:
    """What a whole run found, in sentences."""
    if len(shown.scenarios) > 1:
        return " ".join(filter(None, (overall(shown), apart(shown))))
    return verdict(shown.scenarios[0]) if shown.scenarios else ""


def means(shown: View) -> list[tuple[Standing, float | None]]:
    """Each engine and its mean over all timed steps, best first; None if it lacks a figure."""
    if len(shown.scenarios) == 1:
        return [(item, item.mean_ratio) for item in shown.scenarios[0].standings]
    return [(next(item for item in line if item), mean_over(line)) for line in shown.across]


def smallest(shown: View) -> tuple[StepView, list[Line]] | None:
    """The last step with sizes of the first scenario that compares some, and its lines, best first.

    They end before the first engine whose size is withheld: of those after it none is known to be next.
    """
    for scenario in shown.scenarios:
        for step in reversed(scenario.steps):
            if step.counted and len(_known(step)) > 1 and (lines := _before_withheld(step)):
                return step, lines
    return None


def apart(shown: View) -> str:
    """Sentences on engines that did something else than the others, in any step."""
    return _unlike([line for scenario in shown.scenarios for line in _lines(scenario)])


def overall(shown: View) -> str:
    """Sentence on the fastest engines over all scenarios."""
    if len(shown.scenarios) == 1:
        return _overall(shown.scenarios[0])
    if len(shown.across) == 1:
        return _alone(next(filter(None, shown.across[0])))
    known = [(line, mean) for line in shown.across if (mean := mean_over(line))]
    titles = [next(item.title for item in line if item) for line, _ in known]
    if len(known) < 2:
        return _only(titles, " of every scenario")
    named = [f"{title}, {times(mean)}×" for title, (_, mean) in zip(titles[:_NAMED], known, strict=False)]
    sure = any(line.row.rank for each in shown.scenarios for step in _timed(each) for line in step.lines)
    few = "" if sure else ", from too few rounds to be sure"
    lacking = {next(item.engine for item in line if item) for line in shown.across if not mean_over(line)}
    first = f"{_most(shown.scenarios)}{_among(shown.scenarios, lacking)} over {len(shown.scenarios)} scenarios{few}"
    return f"{first}: {'; then '.join(named)} the best result on average."


def _among(scenarios: Iterable[ScenarioView], lacking: Collection[str]) -> str:
    """What engines the first is the first of: not of `lacking`, which have no mean."""
    withheld = {engine for scenario in scenarios for engine in scenario.withheld}
    arrow = {line.row.engine for scenario in scenarios for line in _lines(scenario) if _is_arrow(line)}
    if not lacking:
        return ""
    who = "the engines whose figures may be shown" if withheld else f"the engines{' that return rows' if arrow else ''}"
    failed = {*lacking} - withheld - arrow
    return f" among {who}{',' * bool(withheld and failed)}{' with a figure in every timed step' if failed else ''}"


def _alone(item: Standing) -> str:
    return f"{item.title} stands alone here, so there is nothing to compare it with."


def _most(scenarios: Iterable[ScenarioView]) -> str:
    """What the first over all timed steps is."""
    return "Fastest" if all(step.paced for scenario in scenarios for step in _timed(scenario)) else "Best"


def finding(step: StepView) -> str:
    """A step in words: its order, then what was not ranked with it or promises more; empty for one engine."""
    return " ".join(filter(None, (_order(step), _apart(step), _durable(step.lines))))


def _apart(step: StepView) -> str:
    """Sentence on engines whose Arrow batches are not ranked with rows, or whose servers' counts not with files."""
    apart = [
        line.row.title if line.row.value is None else f"{line.row.title}, {step.unit.text(line.row.value)}"
        for line in step.best_first
        if line.row.apart
    ]
    others = "files: counted by the server at a URL" if step.counted else "rows: Arrow batches"
    return f"Not ranked with {others} ({'; '.join(apart[:_NAMED])})." if apart else ""


def _is_arrow(line: Line) -> bool:
    return line.arrow and line.row.apart


def _durable(lines: Iterable[Line]) -> str:
    """Sentences on engines with figures that promise less durability than was asked for, and more."""
    found: dict[str, dict[str, list[str]]] = {"Less": {}, "More": {}}
    for line in lines:
        tiers = found["Less" if line.weaker else "More"]
        if line.tier and line.row.title not in (names := tiers.setdefault(line.tier, [])):
            names.append(line.row.title)
    return " ".join(
        f"{how} durable than asked for: {'; '.join(f'{_named(names)} at {tier}' for tier, names in tiers.items())}."
        for how, tiers in found.items()
        if tiers
    )


def _order(step: StepView) -> str:
    """One sentence on a step: the best engine or those that tie, and who comes next; empty for one engine."""
    known = _known(step)
    if len(step.lines) + len(step.failed) < 2:
        return ""
    if not known:
        return "No engine has a figure to compare here."
    best = known[0].row.title
    if step.withheld:
        return f"Of the figures that may be shown, {best} has the best: {step.unit.text(known[0].row.value or 0)}."
    if len(known) == 1:
        return f"Only {best} has a figure to compare here."
    leading = _leading(step)
    if not leading:
        return f"{best} has the best figure, but no rank: it lacks rounds that others have."
    ranked = [line for line in known if line.row.rank]
    titles = [line.row.title for line in leading]
    words = f"{_named(titles)} {'is best' if len(titles) == 1 else 'tie'}"
    if not ranked:
        words += " in this single round" if step.rounds == 1 else f" in these {step.rounds} rounds"
    rest = [line for line in ranked or known if line not in leading]
    if rest:
        skipped = ranked and any(not line.row.rank for line in known[: known.index(rest[0])])
        words += f"; then, of those with a rank, {_behind(rest[0])}" if skipped else f"; then {_behind(rest[0])}"
    return f"{words}."


def _behind(line: Line) -> str:
    """An engine, and how far behind the best it is."""
    if line.row.ratio is None:
        return line.row.title
    share = small_share(line.row.ratio.value)
    return f"{line.row.title}, {f'{share} behind' if share else f'×{times(line.row.ratio.value)}'}"


def _named(titles: Sequence[str]) -> str:
    """Titles in words, the last ones by their number where there are many."""
    return joined(titles if len(titles) <= _NAMED else [*titles[: _NAMED - 1], f"{len(titles) - _NAMED + 1} others"])


def _only(titles: Sequence[str], where: str = "") -> str:
    """Sentence on the one engine that has a mean, or none."""
    return f"{f'Only {titles[0]}' if titles else 'No engine'} has a figure to compare in every timed step{where}."


def _overall(scenario: ScenarioView) -> str:
    if len(scenario.standings) == 1:
        return _alone(scenario.standings[0])
    if not _timed(scenario):
        return ""
    known = sorted((item for item in scenario.standings if item.mean_ratio), key=lambda item: item.mean_ratio or 0)
    if len(known) < 2:
        return _only([item.title for item in known])
    first, second = known[:2]
    among = _among([scenario], {item.engine for item in scenario.standings} - {item.engine for item in known})
    if not among and not all(any(line.row.ratio for line in step.lines) for step in _timed(scenario)):
        among = " over the steps that were verified"
    start = f"{_most([scenario])} overall{among}"
    mean = times(first.mean_ratio or 0)
    all_best = (first.mean_ratio or 0) < 1 + 1e-9  # "1.00" may have been rounded
    best = "the best of each step" if all_best else f"on average {mean}× the best result"
    sure = any(line.row.rank for step in _timed(scenario) for line in step.lines)
    if first.high is None or second.low is None or not sure:
        return f"{start}, from too few rounds to be sure: {first.title}, {best}; then {_mean(second)}."
    level = [item for item in known[1:] if item.low is not None and item.low <= first.high]
    if level:
        rest = [item for item in known[1:] if item not in level]
        after = f"; then {_mean(rest[0])}" if rest else ""
        return f"{start}: a tie of {_named([item.title for item in (first, *level)])}{after}."
    return f"{start}: {first.title}, {best}; then {_mean(second)}."


def _mean(item: Standing) -> str:
    return f"{item.title}, {times(item.mean_ratio or 0)}×"


def _wins(scenario: ScenarioView) -> str:
    timed = [step for step in _timed(scenario) if not step.withheld and (known := _known(step)) and known[0].row.rank]
    if not timed:
        return ""
    firsts = [[line.row.title for line in step.lines if line.row.rank and line.row.rank.worst == 1] for step in timed]
    counts = Counter(title for titles in firsts for title in titles).most_common()
    ties = [step.step.title for step, titles in zip(timed, firsts, strict=True) if not titles]
    tied = "" if not ties else f"; {len(ties)} ties" if len(ties) > 1 else f"; {ties[0]}: tie"
    if not counts:
        return f"No clear win in {_steps(len(timed))}."
    named = [
        f"{title} {count} of {_steps(len(timed))}" if not at else f"{title} {count}"
        for at, (title, count) in enumerate(counts[:_NAMED])
    ]
    more = sum(count for _, count in counts[_NAMED:])
    words = ", ".join([*named, f"others {more}"] if more else named)
    return f"Clear wins: {words}{tied}."


def _steps(count: int) -> str:
    return f"{count} step{'s' if count > 1 else ''}"


def _smallest(scenario: ScenarioView) -> str:
    """Sentence on the last step with sizes; empty without ranks, or if the smallest may be one that is withheld."""
    sized = [step for step in scenario.steps if step.counted and len(step.best_first) > 1]
    ranked = [line for line in sized[-1].best_first if line.row.rank] if sized else []
    level = [line for line in ranked if not line.row.better]
    sure = _before_withheld(sized[-1]) if sized else []
    if not level or any(line not in sure for line in level) or sure[0] not in level:
        return ""
    rest = [line for line in ranked if line.row.better and line in sure]
    unit = sized[-1].unit
    after = f"; then {rest[0].row.title}, {unit.text(rest[0].row.value or 0)}" if rest else ""
    return f"Smallest: {_named([line.row.title for line in level])}, {unit.text(level[0].row.value or 0)}{after}."


def _timed(scenario: ScenarioView) -> list[StepView]:
    return [step for step in scenario.steps if not step.counted and step.step.name not in scenario.fills]
