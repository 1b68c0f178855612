"""What the trials of an engine used besides time: memory, CPU, bytes written."""

from collections.abc import Sequence
from dataclasses import dataclass

from dbbench.analysis.remarks import About, Remark, of_trials
from dbbench.analysis.statistics import known_median
from dbbench.results.run_directory import Manifest
from dbbench.results.trial import TrialResult


@dataclass(frozen=True)
class Resources:
    """What an engine's trials used, medians over rounds. Memory is above the null engine's where that ran."""

    engine: str
    title: str
    peak_memory: float | None
    cpu_seconds: float | None
    written_bytes: float | None
    seconds: float | None
    remarks: tuple[Remark, ...] = ()


def resources(manifest: Manifest, results: Sequence[TrialResult], scenario: str) -> list[Resources]:
    """What each engine's trials used, by name. What a server at a URL uses isn't seen: it is None beside private servers'
    and engines' in the process.
    """
    found = []
    nulls = [result for result in results if not manifest.ranked(result.engine_name)]
    base = known_median(result.peak_memory for result in nulls if result.scenario_name == scenario)
    at_url = {name for name, probed in manifest.engines.items() if probed.get("url")}
    mixed = any(manifest.ranked(name) for name in {result.engine_name for result in results} - at_url)
    for name, title in manifest.titles(results).items():
        mine = [result for result in results if result.engine_name == name and result.scenario_name == scenario]
        if not mine or not manifest.ranked(name):
            continue
        unseen = mixed and name in at_url
        memory = None if unseen else known_median(result.peak_memory for result in mine)
        found.append(
            Resources(
                engine=name,
                title=title,
                peak_memory=None if memory is None else max(0.0, memory - (base or 0)),
                cpu_seconds=None if unseen else known_median(result.cpu_seconds for result in mine),
                written_bytes=None if unseen else known_median(result.written_bytes for result in mine),
                seconds=known_median(result.seconds for result in mine if result.seconds),
                remarks=(*of_trials(mine, manifest.rounds), *[Remark(About.USES_UNSEEN)] * unseen),
            )
        )
    return found
