"""The parameters of a transaction: what is drawn for a call."""

from typing import Any

import numpy as np

from dbbench.datasets.cache import materialise
from dbbench.loadgen.drawn_parameters import Known
from dbbench.suite.parameters import Parameter
from tests.unit.bank import SUITE


def known(**more: Any) -> Known:
    whole = {"ranges": {}, "next_keys": {}, "types": {}, "forms": {}, "folder": "", "seed": 1}
    return Known(**{**whole, **more})


def drawn(parameter: dict[str, Any], count: int = 5_000, **more: Any) -> list[Any]:
    draw = known(**more).draw(Parameter.model_validate(parameter))
    found: list[Any] = draw(np.random.default_rng(1), count).tolist()
    return found


def test_whole_numbers_reach_both_ends() -> None:
    for how in ("uniform", "zipfian", "latest"):
        assert set(drawn({"integer": [3, 7], "distribution": how})) == {3, 4, 5, 6, 7}
    assert drawn({"integer": [5, 5]}, 3) == [5, 5, 5]


def test_zipfian_has_favourites_and_latest_the_last() -> None:
    numbers = np.bincount(drawn({"integer": [0, 999], "distribution": "zipfian"}), minlength=1_000)
    assert numbers.max() > 10 * np.median(numbers) + 100
    assert np.bincount(drawn({"integer": [0, 999], "distribution": "latest"})).argmax() == 999


def test_days_are_days_or_texts_as_the_engine_takes_them() -> None:
    days = {str(day) for day in drawn({"date": ["2026-02-27", "2026-03-01"]})}
    assert days == {"2026-02-27", "2026-02-28", "2026-03-01"}
    assert set(drawn({"date": ["2026-02-28", "2026-02-28"]}, forms={"date": "text"})) == {"2026-02-28"}


def test_texts_and_choices() -> None:
    texts = drawn({"text": "a-##b"})
    assert all(text.startswith("a-") and text.endswith("b") and text[2:4].isdigit() for text in texts)
    assert len(set(texts)) == 100
    assert set(drawn({"one_of": ["x", "yy"]})) == {"x", "yy"}
    assert set(drawn({"one_of": [1, 2]})) == {1, 2}


def test_a_column_is_drawn_from_its_own_values() -> None:
    files = materialise(SUITE.datasets["bank"])
    more = {"types": {"Account.Name": "varchar"}, "folder": str(files.directory)}
    assert set(drawn({"draw": "Account.Name"}, **more)) == set(files.table("Account")["Name"].to_pylist())
    assert set(drawn({"draw": "Account.Id"}, ranges={"Account.Id": (4, 6)})) == {4, 5, 6}


def test_no_two_clients_and_no_two_counters_draw_the_same_new_key() -> None:
    keys = []
    for lane in range(2):
        for number in range(3):
            draw = known(next_keys={"T.Id": 10}).counter("T.Id", lane, 2, number, 3)
            keys += [*draw(np.random.default_rng(1), 7).tolist(), *draw(np.random.default_rng(1), 7).tolist()]
    assert len(set(keys)) == len(keys) == 84
    assert min(keys) == 10
