"""What disturbs a run: read from fake machines, and put into words."""

import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from dbbench.durability.check import VOLATILE
from dbbench.host import interference
from dbbench.host import machine as this_machine
from dbbench.host.interference import Reading, between, cpu_times, reading
from dbbench.report.warnings import disturbances, upper_limits
from dbbench.results.run_directory import Manifest
from dbbench.results.trial import TrialResult
from tests.unit.test_summary import manifest, trial

STAT = "cpu  100 20 30 4000 50 6 7 80 9 0\ncpu0 1 1 1 1 1 1 1 1 1 0\nintr 5\n"
TICK = 1 / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """The root of a machine of two CPUs."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/stat").write_text(STAT)
    for number in (0, 1):
        cpu = tmp_path / f"sys/devices/system/cpu/cpu{number}"
        (cpu / "cpufreq").mkdir(parents=True)
        (cpu / "thermal_throttle").mkdir()
        (cpu / "cpufreq/scaling_governor").write_text("powersave\n")
        (cpu / "cpufreq/scaling_driver").write_text("intel_pstate\n")
        (cpu / "cpufreq/scaling_max_freq").write_text(f"{2_000_000 + number}\n")
        (cpu / "cpufreq/cpuinfo_max_freq").write_text("4000000\n")
        (cpu / "thermal_throttle/core_throttle_count").write_text(f"{number + 3}\n")
    (tmp_path / "sys/devices/system/cpu/cpufreq").mkdir()  # no CPU, though it starts like one
    return tmp_path


def test_cpu_times_are_seconds_of_all_cores_without_counting_guests_twice() -> None:
    total, busy, steal = cpu_times(STAT)
    assert (total / TICK, busy / TICK, steal / TICK) == pytest.approx((4293, 163, 80))


def test_an_older_kernel_has_fewer_columns() -> None:
    assert cpu_times("cpu 1 2 3 4\n") == pytest.approx((10 * TICK, 6 * TICK, 0))


@pytest.mark.parametrize("text", ["", "cpu0 1 2 3 4", "cpu 1 2 3", "cpu a b c d"])
def test_what_is_no_stat_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no line|invalid literal"):
        cpu_times(text)


def test_a_reading_of_a_machine(machine: Path) -> None:
    found = reading(machine)
    assert found is not None
    assert found.total == pytest.approx(4293 * TICK)
    assert found.throttled == 3 + 4
    assert found.own > 0


def test_a_machine_that_tells_nothing_has_no_reading(tmp_path: Path) -> None:
    assert reading(tmp_path) is None
    assert between(None, None) == {}


def test_shares_are_of_all_cores_and_leave_out_what_is_ones_own() -> None:
    earlier = Reading(total=100, busy=10, steal=1, own=5, throttled=3)
    later = Reading(total=120, busy=18, steal=2, own=9, throttled=4)
    assert between(earlier, later) == {"others": 4 / 20, "steal": 1 / 20, "throttled": 1}
    assert between(earlier, replace(later, throttled=2))["throttled"] == 0, "a CPU was taken offline"


def test_ticks_that_fall_otherwise_than_times_do_not_make_a_share_below_nothing() -> None:
    assert between(Reading(0, 0, 0, 0), Reading(10, 3, 0, 3.01)) == {"others": 0, "steal": 0, "throttled": None}


def test_no_time_between_two_readings_tells_nothing() -> None:
    assert between(Reading(1, 1, 1, 1), Reading(1, 1, 1, 1)) == {}


def test_the_start_of_a_run_is_recorded_in_full(machine: Path, tmp_path: Path) -> None:
    found = interference.before(tmp_path, root=machine)
    assert found["governor"] == "powersave"
    assert found["frequency_driver"] == "intel_pstate"
    assert (found["frequency_limit_hz"], found["frequency_most_hz"]) == (2e9, 4e9)
    assert 0 < found["disk_free"] <= found["disk_total"]
    assert 0 < found["memory_available"] <= found["memory_total"]
    assert len(found["loadavg"]) == 3


def test_governors_that_differ_are_all_told(machine: Path, tmp_path: Path) -> None:
    (machine / "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor").write_text("performance\n")
    assert interference.before(tmp_path, root=machine)["governor"] == "performance, powersave"


def test_what_a_machine_does_not_tell_is_none(tmp_path: Path) -> None:
    found = interference.before(tmp_path / "gone", root=tmp_path)
    for key in (
        "governor", "frequency_limit_hz", "frequency_most_hz", "disk_free", "disk_total", "fdatasync", "overwritten",
    ):  # fmt: skip
        assert found[key] is None


def test_the_probe_of_fdatasync_leaves_nothing(tmp_path: Path) -> None:
    found = interference.fdatasync(tmp_path)
    assert found is not None
    assert 3 <= found["writes"] <= 20
    assert 0 < found["min"] <= found["median"] <= found["max"]
    assert list(tmp_path.iterdir()) == []


def test_the_probe_of_what_counts_as_written_leaves_nothing(tmp_path: Path) -> None:
    counted = interference.overwritten(tmp_path)
    if this_machine.describe(tmp_path)["file_system"] in VOLATILE:
        assert counted == 0
    else:
        assert counted in {size << 10 for size in (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)}
    assert list(tmp_path.iterdir()) == []


def test_a_slow_disk_is_probed_a_few_times_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr(interference, "perf_counter", lambda: float(next(clock)))
    assert interference.fdatasync(tmp_path) == {"writes": 3, "min": 1, "median": 1, "max": 1}


# In words


@pytest.mark.parametrize(
    ("counted", "words"),
    [
        (None, []),
        (65536, []),
        (2 << 20, ['"Bytes written" is an upper bound: this kernel may count 2.10 MB for a one-byte change']),
    ],
)  # fmt: skip
def test_bytes_written_are_said_to_be_upper_limits_where_they_are(counted: int | None, words: list[str]) -> None:
    assert upper_limits(of({"overwritten": counted})) == words


QUIET: dict[str, Any] = {
    "others": 0.1, "steal": 0.02, "throttled": 0, "governor": "performance",
    "frequency_limit_hz": 4e9, "frequency_most_hz": 4e9, "memory_available": 8e9, "memory_total": 16e9,
    "disk_free": 5e9, "disk_total": 9e9, "on_battery": False, "fdatasync": {"median": 1e-4},
}  # fmt: skip


def of(noise: dict[str, Any], file_system: str = "ext4") -> Manifest:
    return manifest().model_copy(update={"noise": noise, "machine": {"file_system": file_system}})


def trials(**noise: list[Any]) -> list[TrialResult]:
    ((key, values),) = noise.items()
    return [trial("a", number, noise={} if value is None else {key: value}) for number, value in enumerate(values, 1)]


def test_a_file_system_that_another_covers_is_not_the_one(monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = [
        SimpleNamespace(mountpoint=at, fstype=kind) for at, kind in (("/", "ext4"), ("/x", "xfs"), ("/x", "tmpfs"))
    ]
    monkeypatch.setattr(psutil, "disk_partitions", lambda **_: mounts)
    assert [this_machine.file_system(Path(name)) for name in ("/x/y", "/z")] == ["tmpfs", "ext4"]


def test_a_quiet_machine_has_no_warning() -> None:
    assert disturbances(of(QUIET), trials(others=[0.1, 0.0])) == []


def test_a_run_of_before_or_of_a_machine_that_tells_nothing_has_no_warning() -> None:
    assert disturbances(manifest(), [trial("a", 1)]) == []
    assert disturbances(of(dict.fromkeys(QUIET), "unknown file system"), trials(others=[None])) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"governor": "powersave"}, "the CPU governor is powersave, which changes the frequency with the load: cpupower frequency-set -g performance"),
        ({"governor": "performance, powersave"}, "the CPU governor is performance, powersave, "),
        ({"frequency_limit_hz": 2e9}, "the CPU is limited to 2.00 of its 4.00 GHz: cpupower frequency-set --max 4000MHz"),
        ({"on_battery": True}, "the machine ran on its battery, which slows it down: plug it in"),
        ({"memory_available": 1e9}, "only 1.00 GB (6%) of memory were free: stop other programs"),
        ({"disk_free": 9e7}, "only 90.0 MB (1%) of the disk were free: make room"),
        ({"fdatasync": {"median": 4e-6}}, "fdatasync takes only 4.00 µs: the disk or its cache doesn't wait for the medium"),
    ],
)  # fmt: skip
def test_what_disturbs_is_told_with_what_to_do(change: dict[str, Any], words: str) -> None:
    (warning,) = disturbances(of(QUIET | change), [])
    assert warning.startswith(words)


def test_a_file_system_in_memory_is_told_rather_than_its_quick_syncs() -> None:
    (warning,) = disturbances(of(QUIET | {"fdatasync": {"median": 1e-7}}, "tmpfs"), [])
    assert warning == "the run directory is on tmpfs: durable commits cost nothing there; name another place with --out"


@pytest.mark.parametrize(
    ("results", "words"),
    [
        (trials(others=[0.3, 0.05, None, 0.12]), "other processes used up to 30% of the machine during 2 of 3 trials: run again without them, or on a quieter machine"),
        (trials(steal=[0.25]), "other virtual machines took up to 25% of this one's CPU time during 1 of 1 trial: "),
        (trials(throttled=[2, 0, None]), "the CPU throttled from heat during 1 of 3 trials: cool it better"),
    ],
)  # fmt: skip
def test_trials_that_were_disturbed_are_counted(results: list[TrialResult], words: str) -> None:
    (warning,) = disturbances(of(QUIET), results)
    assert warning.startswith(words)
