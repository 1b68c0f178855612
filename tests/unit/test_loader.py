"""Every fault of a suite file, with its place, and names that lead nowhere."""

import io
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from dbbench.errors import Fault, SuiteError, UserError
from dbbench.suite.loader import builtin_suites, find_suite, load_suite, parse_suite, read_text
from dbbench.suite.model import Suite
from dbbench.suite.references import dangling
from dbbench.suite.sql_text import tables_of
from tests.unit.faulty_suites import CHILD, KEYS_AND_SHAPES, OF_ONE_VALUE, VERSION
from tests.unit.refused import refused, rewritten
from tests.unit.shapes import WRONG, places, put

LONG = 200


def faults(text: str) -> list[str]:
    """Each as it is shown, from its line on."""
    found = refused(text, "suite.yaml").faults
    assert {fault.file for fault in found} == {"suite.yaml"}
    return [str(fault).removeprefix("suite.yaml:") for fault in found]


@pytest.mark.parametrize("name", KEYS_AND_SHAPES)
def test_a_fault_is_told_with_its_place_value_and_what_was_expected(name: str, small_text: str) -> None:
    *change, fault = KEYS_AND_SHAPES[name]
    assert fault in faults(rewritten(small_text, change))


@pytest.mark.parametrize("name", OF_ONE_VALUE)
def test_a_fault_of_one_value_is_told_once(name: str, small_text: str) -> None:
    *change, fault = OF_ONE_VALUE[name]
    assert faults(rewritten(small_text, change)) == [fault]


def test_all_faults_are_told_at_once_in_the_order_of_the_file(small_text: str) -> None:
    text = rewritten(
        small_text, ("table: Parent}", "table: Parnt}"), ("title: Small", "title: 3"), ("title: Main", "titel: Main")
    )
    assert [(fault.split(":")[0], fault.split(": ")[1]) for fault in faults(text)] == [
        ("3", "title"),
        ("21", f"{CHILD}.columns.ParentId.values.table"),
        ("24", "scenarios[0].title"),
        ("25", "scenarios[0].titel"),
    ]


def test_a_fault_as_text_has_its_place_first_and_the_nearest_name_last() -> None:
    fault = Fault("a.yaml", 3, 8, "x.y", "'z'", "one of zz", "zz")
    assert str(fault) == "a.yaml:3:8: x.y: 'z': expected one of zz; did you mean 'zz'?"
    assert str(SuiteError([fault, fault])) == f"{fault}\n{fault}"


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ("dbbench: 2", "1:10: dbbench: 2"),
        ("dbbench: '1'", "1:10: dbbench: '1'"),
        ("dbbench: true", "1:10: dbbench: True"),
        ("dbbench: {}", "1:10: dbbench"),
        ("title: x", "1:1"),
    ],
)
def test_the_version_is_checked_before_all_else(first: str, found: str) -> None:
    assert faults(f"{first}\nscenarios: nonsense\nwhat: ever\n") == [f"{found}: expected {VERSION}"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty: expected a suite that starts with 'dbbench: 1'"),
        ("# nothing but a comment\n", "the file is empty: expected a suite that starts with 'dbbench: 1'"),
        ("- dbbench: 1\n", "expected a mapping that starts with 'dbbench: 1'"),
        ("dbbench\n", "'dbbench': expected a mapping that starts with 'dbbench: 1'"),
        ("[" * 5_000, "nested too deeply: expected a suite, which is some ten levels deep"),
    ],
)
def test_a_file_that_is_no_mapping_has_one_fault_at_its_start(text: str, said: str) -> None:
    assert faults(text) == [f"1:1: {said}"]


def test_a_second_document_is_a_fault(small_text: str) -> None:
    (fault,) = faults(f"{small_text}---\n{small_text}")
    assert fault.startswith("36:1: ")


@pytest.mark.parametrize("word", ["yes", "no", "on", "off", "y", "12:30:45"])
def test_yaml_1_2_reads_words_as_text(word: str, small_text: str) -> None:
    assert parse_suite(rewritten(small_text, ("title: Small", f"title: {word}")), "x").title == word


@pytest.mark.parametrize(("written", "read"), [("0o17", 15), ("017", 17), ("0x1f", 31)])
def test_yaml_1_2_reads_numbers(written: str, read: int, small_text: str) -> None:
    assert parse_suite(rewritten(small_text, ("seed: 7", f"seed: {written}")), "x").datasets["things"].seed == read


def test_the_last_key_that_fits_is_no_fault(small_text: str) -> None:
    parse_suite(rewritten(small_text, ("start: 5", f"start: {2**31 - 100}")), "x")
    assert faults(rewritten(small_text, ("start: 5", f"start: {2**31 - 99}")))


def test_an_alias_stands_for_its_value(small_text: str) -> None:
    text = rewritten(small_text, ("title: Small", "title: &t Small"), ("title: Main", "title: *t"))
    assert parse_suite(text, "x").scenarios[0].title == "Small"


def test_a_byte_order_mark_is_no_fault(small_text: str, tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(small_text, "utf-8-sig")
    assert load_suite(path).name == "small"
    assert read_text(path) == small_text


def test_whatever_stands_anywhere_is_accepted_or_a_fault_and_never_another_exception(small_text: str) -> None:
    data = YAML(typ="safe").load(small_text)
    refused = 0
    for number, path in enumerate(places(data)[1:]):
        text = io.StringIO()
        YAML(typ="safe").dump(put(data, path, WRONG[number % len(WRONG)]), text)
        try:
            parse_suite(text.getvalue(), "x")
        except SuiteError:
            refused += 1
    assert refused > 50


def test_a_file_that_is_not_utf_8_is_told_with_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_bytes(b"title: \xe9t\xe9\n")
    with pytest.raises(UserError, match=re.escape(f"{path}: not UTF-8 at byte 7; save the file as UTF-8")):
        read_text(path)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"can't be read: No such file or directory$"):
        load_suite(tmp_path / "gone.yaml")


def test_find_suite_finds_built_in_names_and_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.yaml").write_text("x")
    monkeypatch.chdir(tmp_path)
    assert find_suite("mine.yaml") == Path("mine.yaml")
    assert find_suite("invoices").name == "invoices.yaml"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("invoice", r"there is no suite 'invoice'; did you mean 'invoices'\? \(built in: .*; or give the path"),
        ("zzz", r"there is no suite 'zzz' \(built in: "),
        ("gone.yaml", r"there is no file gone\.yaml$"),
        ("folder/gone", r"there is no file folder/gone$"),
        (".", r"\. is a directory; name a suite file \(\*\.yaml\) in it$"),
    ],
)
def test_a_suite_that_is_not_there_is_told(name: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        find_suite(name)


@pytest.mark.parametrize("name", builtin_suites())
def test_built_in_suites_load_under_their_own_name(name: str) -> None:
    assert load_suite(find_suite(name)).name == name


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = Suite.model_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def as_json(text: str) -> Any:
    return json.loads(json.dumps(YAML(typ="safe").load(text), default=str))


@pytest.mark.parametrize("name", builtin_suites())
def test_the_json_schema_accepts_built_in_suites(name: str, validator: Any) -> None:
    assert [error.message for error in validator.iter_errors(as_json(read_text(find_suite(name))))] == []


@pytest.mark.parametrize(
    "change",
    [("seed: 7", "sede: 7"), ("dbbench: 1", "dbbench: 2"), ("kind: load", "kind: lod"), ("rows: 10", "rows: 0")],
)
def test_the_json_schema_refuses_a_broken_suite(change: tuple[str, str], small_text: str, validator: Any) -> None:
    assert validator.is_valid(as_json(small_text))
    assert not validator.is_valid(as_json(rewritten(small_text, change)))


def test_a_text_is_checked_once_and_a_faulty_one_each_time(small_text: str) -> None:
    assert parse_suite(small_text, "a.yaml") is parse_suite(small_text, "b.yaml")
    for file in ("a.yaml", "b.yaml"):
        assert file in str(refused("dbbench: 1", file))


@pytest.mark.parametrize("name", builtin_suites())
def test_what_has_the_wrong_shape_is_passed_over(name: str) -> None:
    data = YAML(typ="safe").load(read_text(find_suite(name)))
    assert list(dangling(data)) == []
    paths = places(data)[1:]
    for number, path in enumerate(paths):
        # Of a long suite each place has one of them in turn: all of them would take minutes.
        for wrong in WRONG if len(paths) < LONG else [WRONG[number % len(WRONG)]]:
            list(dangling(put(data, path, wrong)))  # must not raise


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("SELECT * FROM A", ["A"]),
        ('select 1 from "A" join B on 1 = 1 inner join C', ["A", "B", "C"]),
        ("INSERT INTO A SELECT MAX(x) + 1 FROM B", ["A", "B"]),
        ("UPDATE A SET x = 'from B'", ["A"]),
        ("SELECT 'it''s FROM B' FROM A", ["A"]),
        ("SELECT x FROM A WHERE x IN (SELECT y FROM B)", ["A", "B"]),
        ("SELECT * FROM (SELECT x FROM A) s", ["A"]),
        ("WITH t AS (SELECT x FROM A), u AS (SELECT 1) SELECT * FROM t JOIN u ON 1 = 1", ["A"]),
        ("WITH RECURSIVE t AS (SELECT x FROM A) SELECT * FROM t", ["A"]),
        ("SELECT EXTRACT(YEAR FROM a.x) FROM A a", ["A"]),
        ("SELECT SUBSTRING(a.x FROM 2), TRIM(BOTH FROM y) FROM A a", ["A"]),
        ("TRUNCATE A, B", ["A", "B"]),
        ("SELECT x FROM A WHERE x IS NOT DISTINCT FROM y", ["A"]),
        *((f"TRUNCATE {more}", ["A"]) for more in ("TABLE A", "TABLE `A`", "[A]", 'TABLE "A"', "TABLE IF EXISTS A")),
        ("WITH `t` AS (SELECT x FROM `A`) SELECT a[1], `from` FROM `t` JOIN [B]", ["A", "B"]),
        ("SELECT fromage, B.x FROM A B", ["A"]),
    ],
)
def test_tables_of_finds_the_tables_that_a_statement_names(sql: str, tables: list[str]) -> None:
    assert tables_of(sql) == tables
