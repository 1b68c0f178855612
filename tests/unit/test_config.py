"""A configuration file: what it may hold, what goes before it, and what is refused."""

import os
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import click
import pytest

from dbbench.cli import common
from dbbench.cli.common import format_option
from dbbench.errors import UserError
from dbbench.runs.choice import options_of
from dbbench.runs.config import Config, read
from dbbench.runs.request import Request
from dbbench.suite.model import Variant
from tests.conftest import Dbbench

FULL = """
[variants."sqlite@small"]
settings = {cache_mib = 4}
env = {MALLOC_ARENA_MAX = 1}
[gates."sqlite@small/sqlite"]
"*" = "10%"
join = "20%:cpu"
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "dbbench.toml"
    path.write_text(text)
    return path


def test_all_that_it_may_hold_is_read(tmp_path: Path) -> None:
    config = read(written(tmp_path, FULL))
    assert config.gate_texts == ["sqlite@small/sqlite:10%", "sqlite@small/sqlite:join:20%:cpu"]
    assert config.variants["sqlite@small"].texts == {"cache_mib": "4"}
    assert config.variants["sqlite@small"].env == {"MALLOC_ARENA_MAX": "1"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("varaints = {}", "varaints: there is no such key; did you mean 'variants'?"),
        ("engines = ['sqlite']", "engines: there is no such key; it may be variants, gates"),
        (
            "[variants.'sqlite@a']\nsetting = {}",
            "variants.sqlite@a.setting: there is no such key; did you mean 'settings'",
        ),
        ("[variants]\n'sqlite@a' = 'small'", "variants.sqlite@a: "),
        ("[gates]\n'a/b' = '10%'", "gates.a/b: "),
        ("[variants.'sqlite@A b']", "variants"),
        ("[variants.'null@x']", "the null engine has no variants"),
        ("[gates", "is not TOML: Expected"),
    ],
)
def test_a_fault_is_told_with_its_place(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=told):
        read(written(tmp_path, text))


@pytest.mark.parametrize(
    "name",
    ["LD_PRELOAD", "PYTHONPATH", "PATH", "PGPASSWORD", "JAVA_TOOL_OPTIONS", "DBBENCH_URL", "HOME", "omp_num_threads"],
)
def test_a_variable_that_could_do_harm_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is none"):
        Variant.model_validate({"env": {name: "1"}})


@pytest.mark.parametrize("value", ["/etc/passwd", "a b", "..", "x" * 101, "$(id)", "a\nb"])
def test_a_value_is_no_path_and_no_command(value: str) -> None:
    with pytest.raises(ValueError, match=r"it is no path|at most 100"):
        Variant.model_validate({"env": {"TZ": value}})


def test_a_file_that_is_not_there_or_too_long_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be read"):
        read(tmp_path / "none.toml")
    with pytest.raises(UserError, match="larger than 1 MiB"):
        read(written(tmp_path, "#" * 2**20 + "\n"))
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(UserError, match="is not a regular file"):
        read(tmp_path / "pipe.toml")
    (tmp_path / "link.toml").symlink_to(written(tmp_path, ""))
    read(tmp_path / "link.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="is not TOML"):
        read(tmp_path / "b.toml")


def options(config: Config, given: dict[str, dict[str, str]], variants: dict[str, Variant]) -> dict[str, Any]:
    names = ["sqlite", "sqlite@a", "sqlite@b"]
    known = {**config.variants, **variants}
    return options_of(known, Request("s", options=given, config=config), names, names[1:])


def test_the_command_line_goes_before_the_suite_and_that_before_the_file() -> None:
    config = Config.model_validate(
        {"variants": {"sqlite@a": {"settings": {"cache_mib": 2}}, "sqlite@b": {"settings": {"cache_mib": 2}}}}
    )
    of_suite = {"sqlite@a": Variant(settings={"cache_mib": 3})}
    assert options(config, {}, of_suite) == {"sqlite@a": {"cache_mib": "3"}, "sqlite@b": {"cache_mib": "2"}}
    given = {"sqlite": {"cache_mib": "1", "page_size": "5"}, "sqlite@a": {"cache_mib": "5"}}
    assert options(config, given, of_suite) == {
        "sqlite": {"cache_mib": "1", "page_size": "5"},
        "sqlite@a": {"cache_mib": "5", "page_size": "5"},
        "sqlite@b": {"cache_mib": "2", "page_size": "5"},
    }


def test_a_file_names_no_program() -> None:
    known = {"postgresql@a": Variant(settings={"bin": "/tmp/evil"})}
    with pytest.raises(UserError, match=r"a file can't name a program to run: use --set postgresql@a\.bin"):
        options_of(known, Request("s"), ["postgresql@a"], ["postgresql@a"])


def test_what_the_command_line_says_goes_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dbbench_here: Dbbench
) -> None:
    """The file counts where it is named, and only there."""
    new_run = Mock(side_effect=UserError("enough"))
    monkeypatch.setattr("dbbench.runs.begin.new_run", new_run)
    path = str(written(tmp_path, FULL))
    monkeypatch.chdir(tmp_path)
    named = ["--config", path]
    for more in (named, [*named, "--gate", "duckdb/sqlite:5%"], [*named, "--quick"], []):
        dbbench_here("suite", "invoices", *more, status=2)
    asked = [call.args[0] for call in new_run.call_args_list]
    assert [(one.needed, one.needed_steps, one.scale) for one in asked] == [
        (["sqlite@small", "sqlite"] * 2, ["join"], None),
        (["duckdb", "sqlite"], [], None),
        ([], [], None),
        ([], [], None),
    ]
    assert [[*one.config.variants] for one in asked] == [["sqlite@small"]] * 3 + [[]]


def test_a_value_that_an_option_does_not_take_is_a_usage_error(tmp_path: Path, dbbench_here: Dbbench) -> None:
    path = str(written(tmp_path, "[gates.'sqlite@small/sqlite']\njoin = 'little'"))
    assert "is not a share" in dbbench_here("suite", "invoices", "--config", path, status=2).stderr


@pytest.mark.parametrize(("given", "shown"), [(["--format", "csv", "--format", "md,png"], "csv,md,png"), ([], None)])
def test_formats_may_be_named_one_after_another(given: list[str], shown: str | None) -> None:
    @click.command()
    @format_option
    def command(formats: str | None) -> str | None:
        return formats

    assert command.main(given, standalone_mode=False) == shown


@pytest.mark.parametrize("text", ["inf", "nan", "1e9", "0", "-1"])
def test_what_a_user_may_wait_for_is_finite(text: str) -> None:
    assert common.patience("0.5") == 0.5
    with pytest.raises(click.BadParameter):
        common.patience(text)


def test_a_folder_that_one_may_not_enter_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    @common.command
    def refused() -> None:
        raise PermissionError(13, "Permission denied", "/root/suite.yaml")

    with pytest.raises(SystemExit) as ended:
        refused()
    assert (ended.value.code, capsys.readouterr().err) == (2, "dbbench: /root/suite.yaml: Permission denied\n")
