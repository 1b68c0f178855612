"""Documents as JSON texts: drawn from the description of their fields, and brought to one form."""

import json
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbbench.suite.documents import DocumentField, Leaf
from dbbench.suite.values import Quantiles

#: Draws values of a type, as many as asked for; the path names the random bits.
Draw = Callable[[Leaf, str, str, int], pa.Array]

#: Shares are drawn in these parts.
_PARTS = 1_000_000


def texts(field: DocumentField, path: str, count: int, draw: Draw) -> pa.Array:
    """JSON texts of values, objects or arrays; null where one is missing. Draws the bits of `draw` on every machine."""
    if field.length is not None and field.items is not None:
        lengths = draw(_between(*field.length), "integer", f"{path}[]", count).to_numpy()
        ends = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
        elements = texts(field.items, f"{path}[].", int(ends[-1]), draw)
        inner = pc.binary_join(pa.ListArray.from_arrays(pa.array(ends), elements), ",")
        made = pc.binary_join_element_wise("[", inner, "]", "")
    elif field.fields:
        made = _objects(field, path, count, draw)
    else:
        assert field.values is not None
        assert field.type is not None
        made = _encoded(draw(field.values, field.type, path, count))
    if field.missing:
        parts = draw(_between(0, _PARTS - 1), "integer", f"{path}?", count)
        made = pc.if_else(pc.less(parts, round(field.missing * _PARTS)), pa.scalar(None, pa.string()), made)
    return made


def _objects(field: DocumentField, path: str, count: int, draw: Draw) -> pa.Array:
    members = []
    for name, each in field.fields.items():
        value = texts(each, f"{path}.{name}", count, draw)
        if each.fields:
            value = pc.if_else(pc.equal(value, "{}"), pa.scalar(None, pa.string()), value)
        members.append(pc.fill_null(pc.binary_join_element_wise(f',"{name}":', value, ""), ""))
    inner = pc.ascii_ltrim(pc.binary_join_element_wise(*members, ""), ",")
    return pc.binary_join_element_wise("{", inner, "}", "")


def _between(least: int, most: int) -> Quantiles:
    return Quantiles(kind="quantiles", points={0: least, 1: most})


def _encoded(values: pa.Array) -> pa.Array:
    """Numbers as they are, all else in quotes: days and moments as ISO texts."""
    written = values.cast(pa.string())
    if pa.types.is_integer(values.type) or pa.types.is_decimal(values.type) or pa.types.is_floating(values.type):
        return written
    known = written.dictionary_encode()
    quoted = [json.dumps(each, ensure_ascii=False) for each in known.dictionary.to_pylist()]
    return pa.array(quoted, pa.string()).take(known.indices)


def canonical(given: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The same text for the same document, whatever its spaces, the order of its fields and the zeros of its fractions.

    Raises ValueError for a text that is no JSON, or that has a field twice.
    """
    return pa.array([None if text is None else _canonical(text) for text in given.to_pylist()], pa.string())


def _canonical(text: str) -> str:
    read = json.loads(text, object_pairs_hook=_once, parse_float=_number, parse_constant=_refused)
    return json.dumps(read, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def without(given: pa.Array, path: str, left_out: Collection[str]) -> pa.Array:
    """Documents under a path without the values at some paths, which are in capitals. Raises ValueError for no JSON.

    What would hold such a value and holds nothing, or is null, is left out, too: setting the value may have made it.
    """
    found = [None if text is None else _without(json.loads(text), path.upper(), left_out) for text in given.to_pylist()]
    return pa.array([None if each is None else json.dumps(each) for each in found], pa.string())


def _without(value: Any, path: str, left_out: Collection[str]) -> Any:
    if isinstance(value, list):
        return [_without(each, path, left_out) for each in value]
    if not isinstance(value, dict):
        return value
    places = {name: f"{path}_{name.upper()}" for name in value}
    rest = {
        name: _without(each, places[name], left_out) for name, each in value.items() if places[name] not in left_out
    }
    holders = {name for name in rest if any(each.startswith(f"{places[name]}_") for each in left_out)}
    return {name: each for name, each in rest.items() if each not in ({}, None) or name not in holders}


def _number(text: str) -> float | int:
    number = float(text)
    return int(number) if number.is_integer() else number


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a field stands twice in one object")
    return found


def _refused(text: str) -> None:
    raise ValueError(f"{text} is no JSON")
