"""What disturbed a run, in words that say what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dbbench.analysis.units import fitting
from dbbench.results.facts import NoiseFacts
from dbbench.results.run_directory import Manifest
from dbbench.results.trial import TrialResult

#: Shares of all cores above which a trial counts as disturbed.
MOST_OTHERS, MOST_STEAL = 0.10, 0.02
#: A disk that is quicker than this (seconds) answers from a cache.
LEAST_FDATASYNC = 20e-6
#: Least shares of the memory and of the disk that should be free, and of the CPU's greatest frequency that it may reach.
LEAST_MEMORY, LEAST_DISK, LEAST_FREQUENCY = 0.10, 0.05, 0.95
_IN_MEMORY = ("tmpfs", "ramfs")
#: The largest page of memory (bytes). A system that counts more as written for one changed byte keeps files in larger pieces.
LARGEST_PAGE = 64 << 10


def disturbances(manifest: Manifest, results: Sequence[TrialResult]) -> list[str]:
    """A warning for each thing that makes this run's figures worth less."""
    return [*_during(results), *_cpu(manifest.noise), *_room(manifest.noise), *_disk(manifest)]


def upper_limits(manifest: Manifest) -> list[str]:
    """Which figures the system counts too high, and how far, if it does."""
    counted = manifest.noise.get("overwritten") or 0
    if counted <= LARGEST_PAGE:
        return []
    most = fitting("B", [counted]).text(counted)
    return [f"bytes written are upper limits: this system counts up to {most} for one byte of a file that changes"]


def _during(results: Sequence[TrialResult]) -> Iterator[str]:
    """What the readings at both ends of each trial tell."""
    noise = [result.noise for result in results]
    for known, limit, text in (
        ([each.get("others") for each in noise], MOST_OTHERS, "other processes used up to {} of the machine during {}: stop them, or use a quieter machine"),
        ([each.get("steal") for each in noise], MOST_STEAL, "other virtual machines took up to {} of this one's CPU time during {}: use a machine of its own, or another hour"),
    ):  # fmt: skip
        shares = [share for share in known if share is not None]
        many = sum(share > limit for share in shares)
        if many:
            yield text.format(f"{max(shares):.0%}", _of(many, len(shares)))
    slowed = [result for result in results if result.noise.get("throttled")]
    if slowed:
        yield (
            f"the CPU was slowed down by heat during {_of(len(slowed), len(results))}: "
            "cool it better, or limit its frequency to one that it can keep"
        )


def _cpu(noise: NoiseFacts) -> Iterator[str]:
    governor, limit, most = noise.get("governor"), noise.get("frequency_limit_hz"), noise.get("frequency_most_hz")
    if governor and governor != "performance":
        yield (
            f"the CPU governor is {governor}, which changes the frequency with the load: "
            "cpupower frequency-set -g performance"
        )
    if limit and most and limit < LEAST_FREQUENCY * most:
        yield (
            f"the CPU is kept to {limit / 1e9:.2f} of its {most / 1e9:.2f} GHz: "
            f"cpupower frequency-set --max {most / 1e6:.0f}MHz, unless you want it so"
        )
    if noise.get("on_battery"):
        yield "the machine ran on its battery, which slows it down: plug it in"


def _room(noise: NoiseFacts) -> Iterator[str]:
    memory, disk = (
        (noise.get("memory_available"), noise.get("memory_total")),
        (noise.get("disk_free"), noise.get("disk_total")),
    )
    for what, (left, whole), least, remedy in (
        ("memory", memory, LEAST_MEMORY, "stop other programs, or choose a smaller --scale"),
        ("the disk", disk, LEAST_DISK, "make room, or name another place with --out"),
    ):  # fmt: skip
        if left is not None and whole and left < least * whole:
            yield f"only {fitting('B', [left]).text(left)} ({left / whole:.0%}) of {what} were free: {remedy}"


def _disk(manifest: Manifest) -> Iterator[str]:
    probe = manifest.noise.get("fdatasync")
    kind = manifest.machine.get("file_system")
    if kind in _IN_MEMORY:
        yield f"the run directory is on {kind}: durable commits cost nothing there; name another place with --out"
    elif probe and probe["median"] < LEAST_FDATASYNC:
        yield (
            f"fdatasync takes only {fitting('s', [probe['median']]).text(probe['median'])}: the disk or a cache before "
            "it does not wait for the medium, so durable figures say little; name another disk with --out"
        )


def _of(some: int, all_: int) -> str:
    return f"{some} of {all_} trial{'s' if all_ > 1 else ''}"
