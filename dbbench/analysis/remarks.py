"""What is to be said of an engine's rounds besides their figure, in words."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dbbench.analysis.agreement import checked_by
from dbbench.host.interference import MOST_OTHERS
from dbbench.results.outcome import Outcome
from dbbench.results.trial import StepResult, TrialResult
from dbbench.suite.model import Scenario, Tier

#: Files whose names a remark gives.
_NAMED = 3
#: A host whose processors are busier than this may be what limits the rate.
BUSY = 0.80
#: Clocks that are known less exactly than this share of the span leave the rate unsure.
UNSURE = 0.01


def remarks(
    scenario: Scenario,
    steps: Sequence[StepResult],
    results: Sequence[TrialResult],
    unchecked: Sequence[StepResult],
    *,
    part: bool,
) -> list[str]:
    """Of an engine's rounds of a step that went well; `unchecked` are those of them that nothing was checked by.

    `part`: whether the engine takes part.
    """
    return [
        *(checked_by(steps) if part else ()),
        *_unverified(unchecked, len(steps), part=part),
        *_other_forms(steps),
        *_lukewarm(steps),
        *_elsewhere(steps),
        *_ended(steps),
        *(_in_rounds(words, times, len(steps)) for words, times in limits_of_hosts(steps) if part),
        *_stronger(scenario, steps[0].unit, results, part=part),
        *of_trials(results, len(results)),
    ]


def of_trials(results: Sequence[TrialResult], rounds: int) -> list[str]:
    """What the trials as a whole remarked, and in how many of the rounds."""
    remarks = Counter(remark for result in results for remark in result.remarks)
    return [_in_rounds(remark, times, rounds) for remark, times in remarks.items()]


def reason(outcome: Outcome, steps: Sequence[StepResult]) -> str:
    """What the first round with this outcome said, and in how many rounds it came."""
    guilty = [step for step in steps if step.outcome is outcome]
    return _in_rounds(guilty[0].detail, len(guilty), len(steps))


def disturbed(outcome: Outcome, results: Sequence[TrialResult]) -> list[str]:
    """That other processes may be why a rate was not kept."""
    others = max((result.noise.get("others") or 0 for result in results), default=0)
    if outcome not in (Outcome.SATURATED, Outcome.NO_RATE) or others <= MOST_OTHERS:
        return []
    return [f"other processes used up to {others:.0%} of the machine meanwhile: try again on a quieter one"]


def _unverified(unchecked: Sequence[StepResult], rounds: int, *, part: bool) -> list[str]:
    """That nothing of a step was checked, and why. Of the null engine there is nothing to check."""
    return [_in_rounds(unchecked[0].detail, len(unchecked), rounds)] if unchecked and part else []


def _other_forms(steps: Sequence[StepResult]) -> list[str]:
    """Which values came as other types than the suite's, in any round: a driver has less or more to do for them."""
    others = {form for step in steps for form in step.facts.get("other_forms", ())}
    return [f"not in the suite's own types: {', '.join(sorted(others))}"] if others else []


def _lukewarm(steps: Sequence[StepResult]) -> list[str]:
    """That a step which should have been cold was not, and why."""
    warm = [step.facts for step in steps if step.facts.get("cache") == "lukewarm"]
    return [_in_rounds(f"lukewarm: {warm[0].get('why', '')}", len(warm), len(steps))] if warm else []


def _elsewhere(steps: Sequence[StepResult]) -> list[str]:
    """That an engine keeps files outside of its directory, which a size counts."""
    found = [step.facts["outside"] for step in steps if "outside" in step.facts]
    if not found:
        return []
    names = sorted({os.path.basename(name) for outside in found for name in outside["files"]})
    named = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if names[_NAMED:] else "")
    most = max(int(outside["bytes"]) for outside in found)
    return [_in_rounds(f"{most:,} bytes of it outside of the engine's directory ({named})", len(found), len(steps))]


def _ended(steps: Sequence[StepResult]) -> list[str]:
    """That a search had no time to come as close as it was asked to."""
    ended = [text for step in steps if (text := step.facts.get("find", {}).get("ended"))]
    text = "before the rates that pass and fail were as close as `resolution` asks"
    return [_in_rounds(f"{ended[0]}, {text}", len(ended), len(steps))] if ended else []


def _stronger(scenario: Scenario, unit: str, results: Sequence[TrialResult], *, part: bool) -> list[str]:
    """That an engine promises more than it was asked for, and may be slower by it. A size is what it is."""
    given = next((str(result.engine["tier"]) for result in results if result.engine.get("tier")), "")
    words = stronger(given, scenario.durability)
    return [words] if words and part and unit != "B" else []


def stronger(given: str, asked: Tier) -> str:
    """Of a durability tier that promises more than the one asked for: that it does."""
    tiers = [str(tier) for tier in Tier]
    if given not in tiers or tiers.index(given) <= tiers.index(asked):
        return ""
    return f"durability {given}, more than was asked for ({asked})"


def _in_rounds(text: str, times: int, rounds: int) -> str:
    return text if times >= rounds else f"{text} (in {times} of {rounds} rounds)"


def limits_of_hosts(steps: Sequence[StepResult]) -> Iterator[tuple[str, int]]:
    """Where the load on the clients' hosts may be at its limit: each in words, of the round where it is worst, and in how many rounds it was so."""
    spread = [step.facts["cluster"] for step in steps if "cluster" in step.facts]
    busy = [worst for each in spread if (worst := max(each["hosts"], key=_busy)) and _busy(worst) > BUSY]
    if busy:
        worst = max(busy, key=_busy)
        yield f"a host of the clients was at {_busy(worst):.0%} CPU ({worst['name']}): it may limit the rate", len(busy)
    unsure = [share for each in spread if (share := _clock_share(each)) > UNSURE]
    if unsure:
        yield f"the hosts' clocks are known to within {max(unsure):.1%} of the time measured", len(unsure)


def _busy(host: Mapping[str, Any]) -> float:
    return float(host["busy"] or 0.0)


def _clock_share(cluster: Mapping[str, Any]) -> float:
    """The largest bound of the clocks, as a share of the span from the first start to the last end."""
    bound = max(host["bound"] for host in cluster["hosts"])
    return float(bound / cluster["span"]) if cluster["span"] else 0.0
