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
#: What engines are compared where some are withheld.
_SHOWN = "the engines whose figures may be shown"


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
    withheld = any(scenario.withheld for scenario in shown.scenarios)
    if len(known) < 2:
        lines = [line for scenario in shown.scenarios for line in _lines(scenario)]
        return _only(titles, " of every scenario", lines, len(shown.across) - 1, withheld=withheld)
    named = [f"{title}, {times(mean)}×" for title, (_, mean) in zip(titles[:_NAMED], known, strict=False)]
    sure = any(line.row.rank for each in shown.scenarios for step in _timed(each) for line in step.lines)
    few = "" if sure else ", from too few rounds to be sure"
    lacking = {next(item.engine for item in line if item) for line in shown.across if not mean_over(line)}
    first = f"Fastest{_among(shown.scenarios, lacking)} over {len(shown.scenarios)} scenarios{few}"
    return f"{first}: {'; then '.join(named)} the best result on average."


def _among(scenarios: Iterable[ScenarioView], lacking: Collection[str]) -> str:
    """What engines the first is the first of: not of `lacking`, which have no mean."""
    withheld = {engine for scenario in scenarios for engine in scenario.withheld}
    arrow = {line.row.engine for scenario in scenarios for line in _lines(scenario) if _is_arrow(line)}
    if not lacking:
        return ""
    who = _SHOWN if withheld else f"the engines{' that return rows' if arrow else ''}"
    failed = {*lacking} - withheld - arrow
    return f" among {who}{',' * bool(withheld and failed)}{' with a figure in every timed step' if failed else ''}"


def _alone(item: Standing) -> str:
    return f"{item.title} stands alone here, so there is nothing to compare it with."


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
    """One sentence on a step: the lead of the best engine, or those that are tied; empty for one engine."""
    if len(step.lines) + len(step.failed) < 2:
        return ""
    known = _known(step)
    if step.withheld:
        return _shown(step, known)
    if not known:
        return "No engine's work was verified here." if step.lines else "No engine has a figure here."
    first = known[0]
    if len(known) == 1:
        others = [line for line in step.lines if line is not first]
        if any(line.row.apart for line in others):
            if step.failed or not all(line.row.apart for line in others):
                return f"Only the {'files' if step.counted else 'rows'} of {first.row.title} were verified."
            return f"Only {first.row.title} {'has files that dbbench measured' if step.counted else 'returns rows'}."
        return f"Only {first.row.title} {'was verified' if len(step.lines) > 1 else 'has a figure'}."
    ranked = [line for line in known if line.row.rank]
    if not ranked:
        return _unranked(known, step)
    if first not in ranked:
        return f"{first.row.title} has the best figure, but no rank: it lacks rounds that others have."
    # Nobody is shown to be better than one of these, so no two of them are told apart.
    level = [line for line in ranked if not line.row.better]
    rest = [line for line in ranked if line.row.better]
    return f"{_first(level, step)}{_next(level, rest[0], step, known)}." if rest else f"{_first(level, step)}."


def _shown(step: StepView, known: Sequence[Line]) -> str:
    if not known:
        return "No figure may be shown here."
    first = known[0]
    best = f"{first.row.title} has the best: {step.unit.text(first.row.value or 0)}"
    return f"Of the figures that may be shown, {best}."


def _unranked(known: Sequence[Line], step: StepView) -> str:
    """The first of two or more of rounds that are too few for ranks."""
    level, ahead = _close(known), known[1].row.ratio
    single = "this single round" if step.rounds == 1 else f"these {step.rounds} rounds"
    if len(level) > 1:
        return f"{_named([line.row.title for line in level])} tie in {single} (less than 2 % apart)."
    gap = f" ({times(ahead.value)}× ahead)" if ahead else ""
    return f"{known[0].row.title} was {'best' if step.higher or step.counted else 'fastest'} in {single}{gap}."


def _first(level: Sequence[Line], step: StepView) -> str:
    """The first engine or engines, without the full stop."""
    titles = [line.row.title for line in level]
    if len(titles) == 1:
        return f"{titles[0]}{' is the smallest' if step.counted else ''}"
    return f"{_named(titles)} tie{' (less than 2 % apart)' if step.counted else ''}"


def _next(level: Sequence[Line], line: Line, step: StepView, known: Sequence[Line]) -> str:
    """The distance from the first engine to the next that was shown to be worse."""
    between = known[: known.index(line)]
    name = f"the next{'' if all(each.row.rank for each in between) else ' that has a rank'}, {line.row.title}"
    ratio = line.row.ratio.value if line.row.ratio else None
    more, much = ("more", "much") if step.counted else ("longer", "long")
    share = "" if ratio is None else small_share(ratio)
    if len(level) == 1 and not step.counted:
        if ratio is None or share:
            return f" is {share} faster than {name}" if share else f" is faster than {name}"
        return f" is {times(ratio)} times as fast as {name}"
    first = "" if len(level) == 1 else level[0].row.title
    if ratio is None or share:
        than = f" than {first}" if first and share else ""
        return f"; {name}, takes {f'{share} {more}' if share else more}{than}"
    return f"; {name}, takes {times(ratio)} times as {much}{f' as {first}' if first else ''}"


def _named(titles: Sequence[str]) -> str:
    """Titles in words, the last ones by their number where there are many."""
    return joined(titles if len(titles) <= _NAMED else [*titles[: _NAMED - 1], f"{len(titles) - _NAMED + 1} others"])


def _only(titles: Sequence[str], where: str, lines: Sequence[Line], others: int, *, withheld: bool) -> str:
    """Sentence on the one engine that is ranked, or none: of `others` those that stand apart have figures, too."""
    if titles and len({line.row.engine for line in lines if _is_arrow(line)}) == others:
        return f"Only {titles[0]} returns rows."
    who = f"only {titles[0]}" if titles else "none" if withheld else "no engine"
    who = f"Of {_SHOWN}, {who}" if withheld else f"{who[0].upper()}{who[1:]}"
    return f"{who} has a figure in every timed step{where}."


def _overall(scenario: ScenarioView) -> str:
    if len(scenario.standings) == 1:
        return _alone(scenario.standings[0])
    if not _timed(scenario):
        return ""
    known = sorted((item for item in scenario.standings if item.mean_ratio), key=lambda item: item.mean_ratio or 0)
    if len(known) < 2:
        titles, others = [item.title for item in known], len(scenario.standings) - 1
        return _only(titles, "", _lines(scenario), others, withheld=bool(scenario.withheld))
    first, second = known[:2]
    among = _among([scenario], {item.engine for item in scenario.standings} - {item.engine for item in known})
    if not among and not all(any(line.row.ratio for line in step.lines) for step in _timed(scenario)):
        among = " over the steps that were verified"
    start = f"Fastest overall{among}"
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
