"""What the reference's planner finds in the SQL of a suite, on empty tables; and what steps before a query make of its rows."""

from pathlib import Path

import pytest

from dbbench.answers import planned
from dbbench.answers.stored import read_answers, refused
from dbbench.datasets.cache import materialise
from dbbench.errors import SuiteError
from dbbench.runs.data import answers_of, doubtful
from dbbench.suite.changes import before
from dbbench.suite.loader import parse_suite
from dbbench.suite.steps.query import QueryStep
from dbbench.testing.suite_text import suite_text
from tests.conftest import Dbbench
from tests.tables import one_table

SUITE = suite_text(
    "s",
    one_table(
        "T",
        10,
        "Name: {type: varchar(10), values: {kind: listed, texts: [a, b]}}",
        "Day: {type: date, values: {kind: days, first: 2026-01-01, last: 2026-01-31}}",
    ),
    "- {kind: load, name: load, title: Load}",
)
STEP = "      - {kind: query, name: q, title: Q, sql: '"


def checked(steps: str) -> list[str]:
    text = SUITE + steps
    return planned.check(parse_suite(text, "s.yaml"), text, "s.yaml")


@pytest.mark.parametrize(
    ("step", "value", "words", "near"),
    [
        (f"{STEP}SELECT Id, ^Nam FROM T'}}", "'Nam'", "a column of the tables", "Name"),
        (f"{STEP}SELECT t2.Id FROM T AS t2 ORDER BY t2.^Dai'}}", "'Dai'", "a column of the tables", "Day"),
        (f"{STEP}SELECT Id FROM T WHERE Id = ''^abc'''}}", "'abc'", "a whole number", ""),
        (f"{STEP}SELECT Id FROM T WHERE Day > ''^soon'''}}", "'soon'", "a day, like", ""),
        (
            f"{STEP}SELECT Id FROM T WHERE Day > ''^2026-01-01 10:00:00+02:00'''}}",
            "'2026-01-01 10:00:00+02:00'",
            "a time without a zone",
            "",
        ),
        (f"{STEP}SELECT Id FROM T WHERE ^Name > 3'}}", "'Name'", "a text compared with texts", ""),
        (f"{STEP.removesuffix(chr(39))}^'SELECT Id + Name FROM T'}}", "", "values of types that fit", ""),
        (f"{STEP}SELECT Id FROM T', read: ^Nam}}", "'Nam'", "one of the columns that the query returns: Id", ""),
        (f"{STEP}SELECT Id FROM T', answer: {{sql: SELECT ^Idd FROM T}}}}", "'Idd'", "a column of the tables", "Id"),
        ("      - {kind: statement, name: w, title: W, sql: 'UPDATE T SET ^Nmae = 1'}", "'Nmae'", "a column", "Name"),
    ],
)
def test_a_fault_is_told_with_line_and_column(step: str, value: str, words: str, near: str) -> None:
    """It stands behind the ^."""
    with pytest.raises(SuiteError) as caught:
        checked(step.replace("^", ""))
    (fault,) = caught.value.faults
    assert (fault.line, fault.column, fault.value, fault.nearest) == (21, step.index("^") + 1, value, near)
    assert words in fault.expected


def test_the_place_is_that_of_the_word_in_a_text_of_several_lines() -> None:
    with pytest.raises(SuiteError) as caught:
        checked(
            "      - kind: query\n        name: q\n        title: Q\n        sql: >-\n          SELECT Id\n          FROM T WHERE Nam = 'a'\n"
        )
    (fault,) = caught.value.faults
    assert (fault.line, fault.column) == (26, 24)


@pytest.mark.parametrize(
    "step",
    [
        f"{STEP}SELECT rowid FROM T'}}",
        f"{STEP}SELECT NAME, id FROM T WHERE Id = :x', parameters: {{x: {{integer: [1, 2]}}}}}}",
        f"{STEP}SELECT Id + Name FROM T', answer: none}}",
        f"{STEP}SELECT Id AS n FROM T ORDER BY n', read: n}}",
    ],
)
def test_what_systems_have_of_their_own_and_what_is_not_compared_is_no_fault(step: str) -> None:
    checked(step)


@pytest.mark.parametrize("sql", ["SELECT EXISTS (SELECT 1 FROM T) FROM T", "SELECT soundslike(Name) FROM T"])
def test_what_the_reference_cannot_answer_is_told(sql: str) -> None:
    (note,) = checked(f"{STEP}{sql}'}}")
    assert note.startswith("s.yaml: q: answer not computed: ")


def test_the_command_asks_the_planner_and_prints_what_it_tells(dbbench_here: Dbbench, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(f"{SUITE}{STEP}SELECT soundslike(Name) FROM T'}}")
    assert dbbench_here("check", "s.yaml", status=0).stdout.startswith("s.yaml: q: answer not computed: ")


INSERT = "      - {kind: statement, name: w, title: W, sql: \"INSERT INTO T (Id, Name) SELECT MAX(Id) + 1, 'c' FROM T\""
READ = f"{STEP}SELECT COUNT(*) AS n FROM T WHERE Name = ''c'''}}\n"


@pytest.mark.parametrize(
    ("steps", "calls", "unknown"),
    [
        (f"{READ}", (), False),
        (f"{INSERT}, iterations: 4}}\n{READ}", (5,), False),
        (f"{INSERT}, rate: {{per_second: 50, seconds: 1}}}}\n{READ}", (), True),
        (f"{INSERT}, clients: 2}}\n{READ}", (), True),
    ],
)
def test_a_query_is_answered_with_what_statements_have_made_of_its_rows(
    steps: str, calls: tuple[int, ...], unknown: bool, tmp_path: Path
) -> None:
    suite = parse_suite(SUITE + steps, "s.yaml")
    query = suite.scenarios[0].steps[-1]
    assert isinstance(query, QueryStep)
    found = before(query, suite.scenarios[0].steps)
    assert tuple(count for _, count in found.statements) == calls
    assert bool(found.unknown) == unknown
    answers = answers_of(suite, {"s": materialise(suite.datasets["s"])}, tmp_path, None)
    (answer,) = read_answers(Path(answers["s"]["q"]))
    assert bool(refused([answer])) == unknown
    if not unknown:
        assert answer.to_pydict() == {"n": [sum(calls)]}


def test_an_engine_that_answers_before_all_steps_knows_no_change(tmp_path: Path) -> None:
    suite = parse_suite(
        f"{SUITE}{INSERT}, iterations: 4}}\n{READ.rstrip()[:-1]}, answer: {{engine: sqlite}}}}\n", "s.yaml"
    )
    answers = answers_of(suite, {"s": materialise(suite.datasets["s"])}, tmp_path, None)
    assert "the effect of" in refused(read_answers(Path(answers["s"]["q"])))


def test_an_answer_without_rows_or_values_is_doubtful(tmp_path: Path) -> None:
    texts = ["SELECT Id FROM T WHERE Id < 0", "SELECT MAX(Id) FROM T WHERE Id < 0", "SELECT COUNT(*) FROM T"]
    steps = "".join(f"      - {{kind: query, name: q{n}, title: Q, sql: {text}}}\n" for n, text in enumerate(texts))
    suite = parse_suite(SUITE + steps, "s.yaml")
    lines = list(doubtful(suite, answers_of(suite, {"s": materialise(suite.datasets["s"])}, tmp_path, None)))
    assert [line.partition(";")[0] for line in lines] == [
        "q0: its expected answer has no rows",
        "q1: its expected answer has no values",
    ]
