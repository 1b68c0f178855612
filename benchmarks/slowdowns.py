"""How often a gate by rounds finds a slowdown that was planted, while other processes keep every processor busy.

    python -m benchmarks.slowdowns [--runs 10] [--rounds 10] [--busy 2] [--out DIR] [--read DIR]

Each run has four variants of one engine: two that are alike, and two that do another read with each tenth and each fifth
one. So one run asks for all three: 20 % and 10 % slower, and a false verdict between equals. Each is asked by wall
time, by undelayed time and by CPU time. It prints a table in Markdown. `--read` makes the table of runs that are there.
"""

import argparse
import datetime
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import geometric_mean

from dbbench.analysis.paired import paired
from dbbench.analysis.summary import summarise
from dbbench.analysis.verdicts import ComparisonVerdict, Pair
from dbbench.host import machine
from dbbench.host.metric import Metric
from dbbench.results.chosen_run import by_metric
from dbbench.results.run_directory import Run
from dbbench.testing.suite_text import suite_text
from tests.conftest import environment

ENGINE = "faulty-rereads"
STEP = "reads"
SUITE = suite_text(
    "slowdowns",
    "records: {count: 20000, key_bytes: 16, value_bytes: 100}",
    """
    - {kind: keyvalue, name: fill, title: Fill, operation: insert, transaction: 1000}
    - {kind: keyvalue, name: reads, title: Reads, operation: read, order: random, duration: 3s}
    """,
    durability="process",
)
#: Label -> how much slower it is than `base`, in per cent.
PLANTED = {"twenty": 20, "ten": 10, "again": 0}
BUSY = "while True: pass"


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Processes that do nothing but take a processor."""
    others = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def make(out: Path, runs: int, rounds: int, others: int) -> list[Path]:
    """Make the runs, one after another, while the processors are busy."""
    out.mkdir(parents=True, exist_ok=True)
    suite = out / "slowdowns.yaml"
    suite.write_text(SUITE)
    chosen = ["-e", f"{ENGINE}@base"]
    for label, percent in PLANTED.items():
        chosen += ["-e", f"{ENGINE}@{label}", "--set", f"{ENGINE}@{label}.percent={percent}"]
    paths = []
    with busy(others):
        for number in range(runs):
            paths.append(out / f"run-{number}")
            subprocess.run(
                [sys.executable, "-m", "dbbench", "suite", str(suite), *chosen, "--rounds", str(rounds),
                 "--seed", str(number), "--format", "csv", "--out", str(paths[-1])],
                env=environment("faulty"), cwd=out, check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip
    return paths


def pairs_of(run: Run, label: str, metric: Metric) -> list[Pair]:
    """A variant against the base, in each step that is timed."""
    rows = summarise(run.suite, run.manifest, by_metric(run.results(), metric))
    return [pair for pair in paired(rows, f"{ENGINE}@{label}", f"{ENGINE}@base") if pair.timed]


def table(paths: Sequence[Path]) -> Iterator[str]:
    """How many runs showed each planted slowdown, and by how much; of equals how many showed any difference."""
    runs = [Run.open(path) for path in paths]
    yield "| planted | asked by | found in | ratios: least, mean, greatest | median width of the intervals |"
    yield "|---|---|---|---|---|"
    for label, percent in PLANTED.items():
        for metric, name in (
            (Metric.WALL, "wall time"),
            (Metric.UNDELAYED, "undelayed time"),
            (Metric.CPU, "CPU time"),
        ):
            of_each = [pairs_of(run, label, metric) for run in runs]
            reads = [next(pair for pair in pairs if pair.step == STEP) for pairs in of_each]
            ratios = [pair.ratio.value for pair in reads if pair.ratio]
            widths = sorted(
                (pair.ratio.high or 0) / (pair.ratio.low or 1) - 1 for pair in reads if pair.ratio and pair.ratio.low
            )
            if percent:
                count = sum(pair.verdict is ComparisonVerdict.SLOWER for pair in reads)
                found = f"{count} of {len(runs)}"
            else:
                differ = (ComparisonVerdict.SLOWER, ComparisonVerdict.FASTER)
                count = sum(any(pair.verdict in differ for pair in pairs) for pairs in of_each)
                found = f"{count} of {len(runs)} (false)"
            what = f"{percent} % slower" if percent else "nothing"
            yield (
                f"| {what} | {name} | {found} | {min(ratios):.3f}, {geometric_mean(ratios):.3f}, {max(ratios):.3f} "
                f"| {widths[len(widths) // 2]:.1%} |"
            )
    first = runs[0].manifest
    shares = sorted(one.noise.get("others") or 0 for run in runs for one in run.results())
    yield ""
    yield (
        f"{len(runs)} runs of {first.rounds} rounds, {first.created:%Y-%m-%d}, {machine.in_words(first.machine)}; "
        f"other processes took {shares[len(shares) // 2]:.0%} of the machine in the median trial."
    )


def main() -> None:
    """Make the runs, or read them, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--busy", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--read", type=Path)
    chosen = parser.parse_args()
    start = datetime.datetime.now()
    if chosen.read:
        found = (path.parent for path in chosen.read.glob("run-*/run.json"))
        paths = sorted(path for path in found if Run.open(path).manifest.finished)
    else:
        out = chosen.out or Path(tempfile.mkdtemp(prefix="dbbench-slowdowns-"))
        paths = make(out.resolve(), chosen.runs, chosen.rounds, chosen.busy)
        print(f"{(datetime.datetime.now() - start).total_seconds():.0f} s, runs in {out}", file=sys.stderr)
    for line in table(paths):
        print(line)


if __name__ == "__main__":
    main()
