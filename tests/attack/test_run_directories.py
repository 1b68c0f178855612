"""Run directories from elsewhere: nothing outside of them is written, removed or run, and what is damaged is told."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.attack.conftest import Ask


def outside(folder: Path) -> dict[str, bytes]:
    """Every file beside the run, by its path."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    return {str(path): path.read_bytes() for path in files if not path.is_relative_to(folder / "run")}


def change(path: Path, edit: Callable[[Any], None]) -> None:
    """Edit a JSON file of a run."""
    document = json.loads(path.read_text("utf-8"))
    edit(document)
    path.write_text(json.dumps(document), "utf-8")


def trial(run: Path, engine: str = "sqlite") -> Path:
    """The first trial's folder."""
    return min((run / "trials").glob(f"*-{engine}"))


def twin(run: Path) -> Path:
    """The same run made at another time, to compare it with."""
    other = Path(shutil.copytree(run, run.parent / "twin", symlinks=True))
    change(other / "run.json", lambda document: document.update(created="2026-01-02T03:04:05Z"))
    return other


def linked(link: Path, target: Path) -> None:
    """Put a link in the place of whatever is at `link`."""
    if link.is_dir():
        shutil.move(link, target)
    link.unlink(missing_ok=True)
    link.symlink_to(target)


def test_a_whole_run_is_reported_and_resumed(run: Path, ask: Ask) -> None:
    assert ask("report", run, "--format", "csv").returncode == 0
    assert ask("suite", "--resume", run).returncode == 0
    assert ask("compare", run, twin(run)).returncode == 0


@pytest.mark.parametrize("name", ["trials", "trials/ID"])
def test_resume_empties_no_folder_that_is_a_link_and_starts_no_trial_in_it(
    name: str, run: Path, ask: Ask, tmp_path: Path
) -> None:
    folder = run / name.replace("ID", trial(run).name)
    shutil.rmtree(folder)
    (tmp_path / "elsewhere" / "photos").mkdir()
    (tmp_path / "elsewhere" / "photos" / "one").write_text("mine")
    linked(folder, tmp_path / "elsewhere")
    before = outside(tmp_path)
    done = ask("suite", "--resume", run)
    assert done.returncode == 2
    assert f"{folder} is a link, and links are not followed" in done.stdout
    assert outside(tmp_path) == before


def test_resume_removes_only_what_the_plan_names(run: Path, ask: Ask) -> None:
    (run / "trials" / "notes").mkdir()
    (run / "trials" / "notes" / "one").write_text("mine")
    unfinished = trial(run)
    (unfinished / "result.json").unlink()
    assert ask("suite", "--resume", run).returncode == 0
    assert (run / "trials" / "notes" / "one").read_text() == "mine"
    assert (unfinished / "result.json").is_file()


@pytest.mark.parametrize(
    "name",
    [".summary.csv", "summary.csv", "report/.index.html", "report/index.html", "report/index.md", "report/main-join.svg", "report/main-join.png"],
)  # fmt: skip
def test_report_replaces_a_link_and_does_not_write_through_it(name: str, run: Path, ask: Ask, tmp_path: Path) -> None:
    (run / "report").mkdir(exist_ok=True)
    linked(run / name, tmp_path / "elsewhere" / "mine")
    before = outside(tmp_path)
    assert ask("report", run, "--format", Path(name).suffix[1:]).returncode == 0
    assert outside(tmp_path) == before
    if not Path(name).name.startswith("."):
        assert not (run / name).is_symlink()
        assert (run / name).stat().st_size > 100


@pytest.mark.parametrize("name", ["report", "publish", "publish/report"])
def test_report_writes_into_no_folder_that_is_a_link(name: str, run: Path, ask: Ask, tmp_path: Path) -> None:
    shutil.rmtree(run / name, ignore_errors=True)
    (run / name).parent.mkdir(exist_ok=True)
    linked(run / name, tmp_path / "elsewhere")
    before = outside(tmp_path)
    done = ask("report", run, "--format", "csv,html", *(["--publish"] if "publish" in name else []))
    assert outside(tmp_path) == before
    if name != "publish/report":  # `publish` is made anew
        assert done.returncode == 2
        assert f"{run / name} is a link, and links are not followed" in done.stdout


@pytest.mark.parametrize(
    "name", ["run.json", "suite.yaml", "trials/ID/result.json", "trials/ID/plans", "trials/ID/plans/join.txt"]
)
def test_nothing_is_read_through_a_link(name: str, run: Path, ask: Ask, tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere" / "secret"
    path = run / name.replace("ID", trial(run).name)
    linked(path, secret)
    done = ask("report", run, "--format", "md")
    assert done.returncode == 2
    assert f"{path} is a link, and links are not followed" in done.stdout


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("id", "../../../elsewhere"), ("id", "/etc"), ("id", "another"), ("engine_name", "../../../escaped"),
        ("engine_name", "duckdb"), ("scenario_name", "../escaped"), ("scenario_name", "other"),
    ],
)  # fmt: skip
def test_names_in_a_result_are_those_of_the_run(key: str, value: str, run: Path, ask: Ask) -> None:
    path = trial(run) / "result.json"
    change(path, lambda document: document.update({key: value}))
    for command in (["report", run], ["compare", run, twin(run)]):
        done = ask(*command)
        assert done.returncode == 2
        assert f"dbbench: {path} is damaged: {key}: " in done.stdout
        assert done.stdout.count("\n") == 1


@pytest.mark.parametrize("place", ["name", "engine"])
def test_an_engines_name_in_a_manifest_is_no_path(place: str, run: Path, ask: Ask, tmp_path: Path) -> None:
    escaped = "../../../escaped"

    def edit(document: Any) -> None:
        if place == "name":
            document["engines"][escaped] = document["engines"]["sqlite"]
        else:
            document["engines"]["sqlite"]["engine"] = escaped

    change(run / "run.json", edit)
    before = outside(tmp_path)
    for command in (["report", run], ["suite", "--resume", run]):
        done = ask(*command)
        assert done.returncode == 2
        assert f"{run / 'run.json'} is damaged: engines." in done.stdout
    assert outside(tmp_path) == before


def test_resume_runs_no_program_that_a_run_names(run: Path, ask: Ask, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("initdb", "postgres", "pg_config"):
        (programs / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/was-run\n")
        (programs / name).chmod(0o755)

    def edit(document: Any) -> None:
        names = {"name": "postgresql", "engine": "postgresql"}
        document["engines"]["postgresql"] = document["engines"].pop("sqlite") | names
        document["options"] = {"postgresql": {"bin": str(programs)}}

    change(run / "run.json", edit)
    shutil.rmtree(run / "trials")
    (run / "trials").mkdir()
    done = ask("suite", "--resume", run)
    assert done.returncode == 2
    assert f"if you trust that, name it again: --set postgresql.bin={programs}" in done.stdout
    assert not (tmp_path / "was-run").exists()
    done = ask("suite", "--resume", run, "--set", "postgresql.bin=/other")
    assert (done.returncode, f"postgresql.bin={programs}, not /other" in done.stdout) == (2, True)
    done = ask("suite", "--resume", run, "--set", f"postgresql.bin={programs}", "--set", "postgresql.work_mem_mib=8")
    assert (done.returncode, "omit --set postgresql.work_mem_mib" in done.stdout) == (2, True)
