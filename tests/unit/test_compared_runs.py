"""`dbbench compare A B C`: each run with the first, on the terminal, as Markdown, JSON and a page."""

import json
import re
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.conftest import run_here
from tests.fabricated import FORBIDDEN, Fake, fabricate

HOSTILE = '"><script>alert(1)</script>'


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The second run is as the first; in the third everything takes twice as long."""
    folder, paths = tmp_path_factory.mktemp("runs"), []
    for day, factor in enumerate((1.0, 1.0, 2.0), 1):
        fakes = {"a": Fake("A", factor, told={"settings": {"note": HOSTILE if day == 3 else "-"}}), "b": Fake("B", 2.0)}
        fakes["forbidden"] = Fake("F", 0.7, probed=FORBIDDEN)
        run = fabricate(folder / f"r{day}", fakes, rounds=6, day=day)
        paths.append(str(run.path))
    return paths


compare = partial(run_here, Path(), "compare")


def test_each_run_is_compared_with_the_first(runs: list[str]) -> None:
    done = compare(*runs, status=0)
    heads = re.findall(r"^(old|new): (?:.*\n\s+)?.*/(r\d),?", done.stdout, re.MULTILINE)
    assert [name for _, name in heads] == ["r1", "r2", "r1", "r3"]
    assert re.findall(r"^slower \((\d)\)", done.stdout, re.MULTILINE) == ["7"]


def test_the_worst_gate_is_the_exit_status(runs: list[str]) -> None:
    compare(*runs[:2], "--fail-above", "20%", status=0)
    compare(*runs, "--fail-above", "20%", status=1)
    compare(*reversed(runs), "--fail-above", "20%", status=0)


def test_json_has_all_figures_and_verdicts(runs: list[str]) -> None:
    done = compare(*runs, "--json", "--fail-above", "20%")
    first, second = json.loads(done.stdout)["comparisons"]
    assert [run["name"] for one in (first, second) for run in one["old"] + one["new"]] == [
        runs[0], runs[1], runs[0], runs[2],
    ]  # fmt: skip
    assert "slower" not in first["verdicts"]
    assert second["verdicts"]["slower"] == 7
    (pair,) = [each for each in second["pairs"] if (each["engine"], each["step"]) == ("a", "join-1")]
    assert pair["new"] / pair["old"] == pytest.approx(2, rel=0.02)
    assert pair["interval"][0] < pair["cost_ratio"] < pair["interval"][1]
    assert (first["gate"]["answer"], second["gate"]["answer"]) == ("passed", "failed")


def test_the_page_has_both_and_escapes_what_comes_from_files(runs: list[str]) -> None:
    text = compare(*runs, "--html").stdout
    assert text.count("<h2>") == 2
    assert len(re.findall(r'<td class="worse">slower</td><td>a</td>', text)) == 7
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text


@pytest.mark.parametrize("form", ["--html", "--json", "--markdown"])
def test_what_is_withheld_is_in_no_form(runs: list[str], form: str) -> None:
    assert "forbidden" in compare(*runs, form).stdout
    told = compare(*runs, form, "--publish").stdout
    assert not re.search(r"forbidden[^:]*join-1", told)
    assert "withheld: forbidden: Benchmark clause 5(e)" in told


@pytest.mark.parametrize("extra", [[], ["--new", "x"]])
def test_one_run_or_three_and_sides_are_refused(runs: list[str], extra: list[str]) -> None:
    done = compare(*(runs if extra else runs[:1]), *extra, status=2)
    assert "name two runs or more, OLD and NEW, or several a side" in done.stderr


def test_a_comparison_is_drawn_grouped_by_its_verdicts(runs: list[str], tmp_path: Path) -> None:
    compare(runs[0], runs[2], "--out", str(tmp_path / "drawn"), status=0)
    assert (tmp_path / "drawn" / "comparison.png").read_bytes().startswith(b"\x89PNG")
    svg = ElementTree.parse(tmp_path / "drawn" / "comparison.svg").getroot()
    marks = sorted(svg.iter("{http://www.w3.org/2000/svg}text"), key=lambda text: float(text.attrib["y"]))
    texts = [text.text or "" for text in marks]
    heads = [text for text in texts if re.fullmatch(r"(Slower|The same|Can't tell) \(\d+\)", text)]
    assert heads[0] == "Slower (7)"
    slower = texts[texts.index(heads[0]) + 1 : texts.index(heads[1])]
    assert sum(text.startswith("a ") for text in slower) == 7
    assert sum(bool(re.fullmatch("×(1.9[0-9]|2.0[0-9])", text)) for text in slower) == 7
    # A shape and a line with stops for each pair that has a ratio.
    page = compare(*runs, "--html").stdout
    assert page.count("<svg") == 2
    names = re.findall(r"comparison-(\d)-title", page)
    assert set(names) == {"1", "2"}
