"""Variants of an engine: their names, their options, and where they stand in the plan."""

import datetime
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbbench.engine import variants
from dbbench.engine.probe import probe
from dbbench.errors import SuiteError, UserError
from dbbench.report.run_view import view
from dbbench.results.run_directory import VariantFacts
from dbbench.runs import begin
from dbbench.runs.begin import new_run
from dbbench.runs.plan import plan
from dbbench.runs.request import Request, parse_sweeps, with_control
from dbbench.suite.loader import parse_suite
from dbbench.suite.model import Suite
from tests.fabricated import MANY, fabricate

ENGINES = ["sqlite", "sqlite@a", "sqlite@b", "duckdb", "lmdb", "null"]
BESIDE = {"sqlite@a": "sqlite", "sqlite@b": "sqlite"}


@pytest.mark.parametrize("text", ["1", "1.3", "1.3.2", "3.46.0.0", "2.0rc1", "1.4.0.dev12", "17.2.post1"])
def test_a_label_that_looks_like_a_version_is_one(text: str) -> None:
    assert variants.is_version(text)


@pytest.mark.parametrize("text", ["small", "v1.3", "1.3-small", "1..3", "1.", "4mib", ""])
def test_any_other_label_is_only_a_name(text: str) -> None:
    assert not variants.is_version(text)


@pytest.mark.parametrize(
    "name", ["sqlite@", "sqlite@Small", "sqlite@../x", "sqlite@a@b", f"sqlite@{'x' * 49}", "sqlite@a b"]
)
def test_a_label_that_cant_be_a_file_name_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="the label after the @"):
        variants.check([name])


def test_a_variant_has_its_engines_options_then_the_suites_then_its_own() -> None:
    options = {"sqlite": {"cache_mib": "64", "page_size": "4096"}, "sqlite@a": {"page_size": "1024"}}
    found = variants.inherited(
        ["sqlite@a", "sqlite@b", "duckdb@c"], options, {"sqlite@a": {"cache_mib": "4", "page_size": "512"}}
    )
    assert found == {
        "sqlite@a": {"cache_mib": "4", "page_size": "1024"},
        "sqlite@b": {"cache_mib": "64", "page_size": "4096"},
    }


def test_variants_stand_next_to_each_other_in_every_round(small: Suite) -> None:
    found: dict[int, list[str]] = defaultdict(list)
    for trial in plan(small, ENGINES, rounds=40, seed=1, beside=BESIDE):
        found[trial.round].append(trial.engine)
    orders = set()
    for engines in found.values():
        assert sorted(engines) == sorted(ENGINES)
        places = [place for place, engine in enumerate(engines) if engine.startswith("sqlite")]
        assert places == list(range(places[0], places[0] + 3))
        orders.add(tuple(engines[places[0] : places[0] + 3]))
    assert len(orders) == 6


def test_without_variants_the_plan_is_what_it_was(small: Suite) -> None:
    """Runs that were begun by an older dbbench are resumed by their trials' names."""
    names = [trial.engine for trial in plan(small, ["a", "b", "c", "d"], rounds=2, seed=7, beside={})]
    assert names == [trial.engine for trial in plan(small, ["a", "b", "c", "d"], rounds=2, seed=7)]
    assert names == ["d", "b", "a", "c", "b", "c", "d", "a"]


def test_a_variant_is_probed_as_its_engine() -> None:
    found = probe(["sqlite@small"], {"sqlite@small": {"cache_mib": "none"}})["sqlite@small"]
    assert (found.name, found.engine, found.status) == ("sqlite@small", "sqlite", "available")
    assert "cache_mib" in found.fault


VARIANTS = "variants:\n  sqlite@small: {settings: {cache_mib: 4}}\n"


def test_a_suite_brings_variants(small_text: str) -> None:
    suite = parse_suite(small_text + VARIANTS, "small.yaml")
    assert suite.variants["sqlite@small"].texts == {"cache_mib": "4"}


@pytest.mark.parametrize("name", ["sqlite", "sqlite@", "SQLite@a", "sqlite@a/b", "sqlite@a@b"])
def test_a_variant_in_a_suite_needs_a_label(name: str, small_text: str) -> None:
    with pytest.raises(SuiteError, match="variants"):
        parse_suite(f"{small_text}variants:\n  {name}: {{settings: {{}}}}\n", "small.yaml")


EVIL = "variants:\n  postgresql@evil: {settings: {bin: /tmp/evil}}\n"
REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "a program in a suite": (EVIL, {}, r"a file can't name a program to run: use --set postgresql@evil\.bin"),
    "a setting of a variant that does not run": (
        "", {"engines": ["sqlite@small"], "options": {"sqlite@other": {"cache_mib": "4"}}},
        "--set names sqlite@other, which is not among the engines to run",
    ),
    "a variant of no engine": ("", {"engines": ["sqlit@small"]}, "there is no engine 'sqlit'; did you mean 'sqlite'"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_run_is_refused_for(name: str, small_text: str, tmp_path: Path) -> None:
    more, asked, words = REFUSED[name]
    file = tmp_path / "small.yaml"
    file.write_text(small_text + more)
    with pytest.raises(UserError, match=words):
        new_run(Request(suite=str(file), out=tmp_path / "r", **asked))
    assert not (tmp_path / "r").exists()


def test_a_sweep_makes_a_variant_of_each_value() -> None:
    assert parse_sweeps(["sqlite.cache_mib=16, 64", "postgresql+pq.shared_buffers=128MB,1GB"]) == [
        ("sqlite@cache_mib-16", "cache_mib", "16"),
        ("sqlite@cache_mib-64", "cache_mib", "64"),
        ("postgresql+pq@shared_buffers-128mb", "shared_buffers", "128MB"),
        ("postgresql+pq@shared_buffers-1gb", "shared_buffers", "1GB"),
    ]


@pytest.mark.parametrize(
    "text", ["sqlite.cache_mib", "cache_mib=1,2", "sqlite.=1,2", "sqlite@a.cache_mib=1,2", "sqlite.x=1,,2"]
)
def test_a_sweep_that_can_not_be_read_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="is not ENGINE"):
        parse_sweeps([text])


@pytest.mark.parametrize("text", ["sqlite.cache_mib=1", "sqlite.cache_mib=1,1"])
def test_a_sweep_needs_two_values_each_once(text: str) -> None:
    with pytest.raises(UserError, match="needs two values or more, each once"):
        parse_sweeps([text])


@pytest.mark.parametrize("values", ["a,A", f"/{'x' * 48}/1,/{'x' * 48}/2"])
def test_values_of_a_sweep_that_would_have_one_label_need_their_own(values: str) -> None:
    with pytest.raises(UserError, match=r"its own by -e sqlite@LABEL --set sqlite@LABEL\.library=VALUE$"):
        parse_sweeps([f"sqlite.library={values}"])


def test_variants_with_the_same_versions_and_settings_are_named(tmp_path: Path) -> None:
    """Also if one spells out a default, which is in both's settings."""
    same = replace(MANY["sqlite"], told={"versions": {"SQLite": "3.50"}, "settings": {"cache_mib": 64}})
    other = replace(same, told={"versions": {"SQLite": "3.50"}, "settings": {"cache_mib": 8}})
    known = {"probed": {"engine": "sqlite"}}
    engines = {"sqlite": same, "sqlite@a": replace(same, **known), "sqlite@b": replace(other, **known)}
    more = dict.fromkeys(("sqlite@control", "sqlite@built"), engines["sqlite@a"])
    run = fabricate(tmp_path / "run", {**engines, **more}, rounds=6)
    run.manifest.options["sqlite@a"] = {"cache_mib": 64}
    run.manifest.variants["sqlite@built"] = VariantFacts(engine="sqlite", build="a folder")
    run.manifest.variants["sqlite@control"] = VariantFacts(engine="sqlite", repeats="sqlite")
    found = [text for text in view(run).warnings if "versions" in text]
    assert found == ["sqlite and sqlite@a have the same versions and settings: what differs between them is noise"]


@pytest.mark.parametrize(
    ("engines", "old", "repeated", "name"),
    [
        (["sqlite", "sqlite@small"], "", "sqlite", "sqlite@control"),
        (["sqlite", "sqlite@small"], "sqlite@small", "sqlite@small", "sqlite@small-control"),
    ],
)
def test_a_control_runs_what_a_gate_compares_with_or_the_first_engine(
    engines: list[str], old: str, repeated: str, name: str
) -> None:
    found = with_control(Request(suite="s", engines=engines), old)
    assert (found.control, list(found.engines)) == (repeated, [*engines, name])


def test_a_control_has_all_that_it_repeats(small_text: str, tmp_path: Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(
        f"{small_text}variants:\n  sqlite@small: {{settings: {{cache_mib: 4}}, env: {{MALLOC_ARENA_MAX: 1}}}}\n"
    )
    request = Request(suite=str(file), engines=["sqlite@small"], options={"sqlite": {"cache_mib": "8"}})
    manifest = new_run(replace(with_control(request), out=tmp_path / "r")).run.manifest
    name = "sqlite@small-control"
    assert manifest.options[name] == manifest.options["sqlite@small"] == {"cache_mib": "4"}
    assert manifest.variants[name].repeats == "sqlite@small"
    assert manifest.variants[name].env == manifest.variants["sqlite@small"].env == {"MALLOC_ARENA_MAX": "1"}


def test_runs_that_begin_in_the_same_second_have_a_folder_each(
    small_text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "small.yaml").write_text(small_text)
    monkeypatch.chdir(tmp_path)
    clock = SimpleNamespace(now=lambda zone=None: datetime.datetime(2026, 11, 28, tzinfo=zone))
    monkeypatch.setattr(begin, "datetime", SimpleNamespace(datetime=clock, UTC=datetime.UTC))
    made = [new_run(Request(suite="small.yaml", engines=["sqlite"])).run.path.name for _ in range(3)]
    assert made == [f"small-20261128-000000{more}" for more in ("", "-2", "-3")]


def test_a_control_needs_an_engine_that_can_run_twice() -> None:
    with pytest.raises(UserError, match="--control runs one engine twice: name it with -e"):
        with_control(Request(suite="s"))
    with pytest.raises(UserError, match="can't repeat postgresql, a server at a URL"):
        with_control(Request(suite="s", engines=["postgresql"], urls={"postgresql": "postgresql://x/y"}))
