"""What rounds that depend on one another make of intervals and ranks, and what the correction makes of it.

    python -m benchmarks.dependent_rounds [RUN]

Without RUN, rounds are simulated. It counts how often equal engines are told apart, how often a faster one is, and how
often an interval covers its figure. RUN is a run directory of many rounds, made with `--control`: parts of 5 to 20
rounds in a row stand for runs, and the median of all rounds for the truth. "Before" takes rounds for independent,
"after" as `dbbench.analysis.dependence` does. It prints tables in Markdown.
"""

import argparse
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from statistics import mean, median

import numpy as np

from dbbench.analysis.dependence import INDEPENDENT, Dependence, dependence, stretched
from dbbench.analysis.ranking import told_apart
from dbbench.analysis.statistics import estimate
from dbbench.analysis.summary import summarise
from dbbench.host.metric import Metric
from dbbench.results.chosen_run import by_metric
from dbbench.results.run_directory import Run
from tests.unit.test_dependence import ENGINES, apart, run, share

SIMULATED = 400
LABEL = "@control"


def covers(means: Sequence[float], truth: float, depends: Dependence) -> bool:
    """Whether the interval of a figure has the truth in it."""
    interval = stretched(estimate(list(means)), depends.figures)
    return interval.low is not None and interval.high is not None and interval.low <= truth <= interval.high


def simulated(rounds: int) -> Iterator[str]:
    """A row for each kind of noise, then for each engine that is faster."""
    for name, given in (
        ("independent", {}),
        ("own 0.5", {"own": 0.5}),
        ("own 0.8", {"own": 0.8}),
        ("shared 0.5", {"shared": 0.5}),
        ("shared 0.8", {"shared": 0.8}),
    ):
        runs = [run(seed, rounds=rounds, **given) for seed in range(SIMULATED)]
        found = [(means, dependence(means)) for means in runs]
        false = [share([apart(means, each) for means, each in of]) for of in (_before(found), found)]
        covered = [mean(covers(means[0, 1], 1, each) for means, each in of) for of in (_before(found), found)]
        yield f"| {rounds} | {name} | {false[0]:.0%}, {false[1]:.0%} | {covered[0]:.0%}, {covered[1]:.0%} |"
    for faster in (0.05, 0.1, 0.2):
        runs = [run(seed, rounds=rounds, faster=faster) for seed in range(SIMULATED)]
        found = [(means, dependence(means)) for means in runs]
        power = [
            share([{pair for pair in apart(means, each) if pair[0] == "0"} for means, each in of], pairs=ENGINES - 1)
            for of in (_before(found), found)
        ]
        yield f"| {rounds} | {faster:.0%} faster | told apart: {power[0]:.0%}, {power[1]:.0%} | |"


def _before(found: Sequence[tuple[np.ndarray, Dependence]]) -> list[tuple[np.ndarray, Dependence]]:
    return [(means, INDEPENDENT) for means, _ in found]


def real(directory: Run, metric: Metric) -> Iterator[str]:
    """A row for each length of a part: false differences of the engine that ran twice, and coverage of all figures."""
    rows = summarise(directory.suite, directory.manifest, by_metric(directory.results(), metric))
    timed = [row for row in rows if row.ranked and row.unit == "s" and row.trial_means]
    steps = [
        {row.engine: np.array(row.trial_means) for row in of}
        for _, of in groupby(sorted(timed, key=lambda row: row.step), key=lambda row: row.step)
    ]
    control = next(name for name in steps[0] if name.endswith(LABEL))
    pair = (control, control.removesuffix(LABEL))
    rounds = len(steps[0][control])
    for size in (5, 6, 8, 10, 20):
        false: dict[bool, list[bool]] = {False: [], True: []}
        covered: dict[bool, list[bool]] = {False: [], True: []}
        for start in range(0, rounds - size + 1, size):
            part = [{name: means[start : start + size] for name, means in step.items()} for step in steps]
            corrected = dependence([[each.tolist() for each in step.values()] for step in part])
            for after, depends in ((False, INDEPENDENT), (True, corrected)):
                for step, whole in zip(part, steps, strict=True):
                    two = {name: step[name].tolist() for name in pair}
                    false[after].append(depends.ranks and bool(told_apart(two, inflation=depends.pairs)))
                    covered[after] += [
                        covers(step[name].tolist(), median(whole[name].tolist()), depends) for name in step
                    ]
        yield (
            f"| {size} | {metric.value} | {mean(false[False]):.0%}, {mean(false[True]):.0%} of {len(false[True])} "
            f"| {mean(covered[False]):.0%}, {mean(covered[True]):.0%} of {len(covered[True])} |"
        )


def main() -> None:
    """Print the table of simulated rounds, or of those of a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, nargs="?")
    chosen = parser.parse_args()
    print("| rounds | noise or time | equal engines told apart: before, after | intervals that cover: before, after |")
    print("|---|---|---|---|")
    if chosen.run:
        directory = Run.open(chosen.run)
        for metric in (Metric.WALL, Metric.UNDELAYED):
            print(*real(directory, metric), sep="\n")
    else:
        for rounds in (5, 8, 10):
            print(*simulated(rounds), sep="\n")


if __name__ == "__main__":
    main()
