"""What drivers and strangers say: cleaned and cut where a result is made and where one is read."""

import csv
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from ruamel.yaml import YAML

from dbbench.message import MOST, clean, cleaned, printable
from dbbench.report.export import markdown_page
from dbbench.report.run_view import view
from dbbench.results.run_directory import Run
from tests.attack.conftest import Ask
from tests.conftest import TESTS, Dbbench

NASTY = "\x1b[2J\x1b]0;owned\x07caf\udce9 \u202egnp.exe\x00\x9b31m\r\nnext"


def test_a_text_is_printable_and_keeps_its_lines() -> None:
    text = printable(NASTY)
    assert text == "caf\ufffd \ufffdgnp.exe\ufffd\ufffd31m\nnext"
    text.encode("utf-8")
    assert printable("Überall ✓ 表\t\n") == "Überall ✓ 表\t\n"


def test_a_long_text_is_cut_and_says_how_long_it_was() -> None:
    found = cleaned("x" * 300_000)
    assert len(found) == MOST
    assert found.endswith("xxx... (300,000 characters)")
    assert cleaned(found) == found


def test_a_document_is_cleaned_to_its_keys() -> None:
    found = clean({"\x1b[2Ja": ["\ud800", {"b": float("nan")}], "c": 1.5})
    assert found == {"a": ["\ufffd", {"b": None}], "c": 1.5}


def spoken(run: Path, text: str) -> None:
    """Every place of a run in which a driver's words are says `text`."""
    for path in run.glob("trials/*-sqlite/result.json"):
        document = json.loads(path.read_text("utf-8"))
        document["remarks"] = [text]
        document["engine"]["settings"] = {text[:50]: text}
        document["engine"]["title"] = text[:200]
        for step in document["steps"]:
            step |= {"outcome": "failed", "detail": text}
        path.write_text(json.dumps(document), "utf-8")


@pytest.mark.parametrize("text", [NASTY, "y" * 300_000, "<script>alert(1)</script>" + NASTY])
def test_a_report_of_anything_that_was_said_is_clean_and_small(text: str, run: Path, ask: Ask) -> None:
    spoken(run, text)
    done = ask("report", run)
    assert done.returncode == 1
    assert not set("\x1b\x00\x9b\u202e") & set(done.stdout)
    for path in run.glob("report/*.svg"):
        ElementTree.parse(path)
        assert path.stat().st_size < 2_000_000
    page = (run / "report" / "index.html").read_text("utf-8")
    assert not set("\x1b\x00\x9b\u202e") & set(page)
    assert "<script>alert" not in page
    assert len(page) < 3_000_000


#: What Markdown and HTML would take for markup.
MARKUP = [
    "<script>alert(1)</script>", "[x](javascript:alert(1))", "![x](https://track.example/x.png)",
    "[x]: https://track.example/x.png", "![x] [x] [x][] [x][x]", "<https://track.example>",
    "a | b | <img src=https://track.example/x.png>", "~~~", "# owned", "> owned", "- owned",
    "`a` *b* _c_ ~~d~~ \\*e\\* &lt;b&gt;",
]  # fmt: skip


@pytest.mark.parametrize("text", MARKUP)
def test_no_text_of_a_suite_or_a_driver_is_markup_in_the_page(text: str, run: Path) -> None:
    spoken(run, text)
    document = YAML(typ="safe").load((run / "suite.yaml").read_text("utf-8"))
    (scenario,) = document["scenarios"]
    for each in (document, scenario, *scenario["steps"]):
        each |= {"title": text}
    document["description"] = text
    words = text.replace(";", "")  # a query is one statement
    scenario["steps"][1] |= {"note": text, "sql": f"{scenario['steps'][1]['sql']}\n-- ````\n-- {words}\n```\n{words}"}
    (run / "suite.yaml").write_text(json.dumps(document), "utf-8")
    page = markdown_page.write(view(Run.open(run)), ["main-join"]).read_text("utf-8")
    tokens = [
        token
        for line in MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(page)
        for token in (line, *(line.children or ()))
    ]
    html = "".join(token.content for token in tokens if token.type.startswith("html"))
    assert re.sub(r"</?details>|</?summary>", "", html).count("<") == 0
    assert [token for token in tokens if token.type in ("link_open", "s_open")] == []
    assert {token.attrs["src"] for token in tokens if token.type == "image"} == {"main-join.svg"}
    assert [token.info for token in tokens if token.type == "fence"] == ["sql", *["text"] * html.count("<details>")]
    read = ["".join(each.content for each in token.children or ()) for token in tokens if token.type == "inline"]
    assert read.count(text) >= 4  # as it is meant


@pytest.mark.parametrize("sign", "=+-@")
def test_no_text_of_a_driver_is_a_formula_in_a_spreadsheet(sign: str, run: Path, ask: Ask) -> None:
    text = f"{sign}HYPERLINK(1)"
    spoken(run, text)
    assert ask("report", run, "--format", "csv").returncode == 1
    with (run / "summary.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    cells = [cell for row in rows for cell in row.values()]
    assert f"'{text}" in cells
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []


def test_what_a_driver_says_is_cut_in_the_result_and_whole_in_its_trials_folder(
    dbbench: Dbbench, tmp_path: Path
) -> None:
    suite = str(TESTS / "unit" / "small.yaml")
    asked = ("--quick", "--format", "csv,svg", "-e", "faulty-raves")
    done = dbbench("suite", suite, *asked, "--out", "r", plugins=("faulty",), status=1)
    assert not set("\x1b\x00\x9b\u202e") & set(done.stdout + done.stderr)
    (folder,) = (tmp_path / "r" / "trials").glob("*-faulty-raves")
    for name in ("steps.json", "result.json"):
        assert (folder / name).stat().st_size < 20 * MOST
    (step,) = [
        each for each in json.loads((folder / "result.json").read_text("utf-8"))["steps"] if each["name"] == "load"
    ]
    assert step["detail"].startswith("RuntimeError: caf\ufffd")
    assert step["detail"].endswith("... (300,038 characters)")
    assert "y" * 300_000 in (folder / "stderr.txt").read_text("utf-8")
    for path in (tmp_path / "r" / "report").glob("*.svg"):
        ElementTree.parse(path)
    dbbench("report", "r", plugins=("faulty",), status=1)


@pytest.mark.parametrize(
    "arguments",
    [
        ("describe", "a" * 5_000), ("check", "a/" * 5_000), ("import", "/dev/null", "--suite", "a" * 5_000),
        ("plugin", "check", "--set", "sqlite=postgresql://u:SECRET@h", "sqlite"),
        ("cache", "--remove", "sqlite=postgresql://u:SECRET@h"),
        ("cache", "--remove", "postgresql://h/d?user=u&password=SECRET"), ("describe", "oracle://scott/SECRET@h/d"),
        ("report", "postgresql://me:SECRET"), ("describe", "odbc:Driver={ODBC Driver 17};PWD=SECRET;UID=me"),
    ],
)  # fmt: skip
def test_what_is_no_name_is_told_in_a_line_without_its_password(ask: Ask, arguments: tuple[str, ...]) -> None:
    done = ask(*arguments)
    assert done.returncode == 2
    assert "SECRET" not in done.stdout
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("suite", "invoices", "--seed", "postgresql://u:SECRET@h/d"),
        ("suite", "invoices", "--rounds=postgresql://h/d?password=SECRET"),
        ("suite", "invoices", "postgresql://u:SECRET@h/d"),
        ("report", "r", "--sort", "odbc:Driver={ODBC Driver 17};PWD=SECRET"),
        ("plugin", "postgresql://u:SECRET@h/d"),
        ("postgresql://u:SECRET@h/d",),
        ("--postgresql://u:SECRET@h/d",),
    ],
)
def test_a_url_where_an_option_takes_another_value_is_shown_without_its_password(
    ask: Ask, arguments: tuple[str, ...]
) -> None:
    done = ask(*arguments)
    assert (done.returncode, "SECRET" in done.stdout) == (2, False)
    assert "Error: " in done.stdout
