"""A suite's YAML text as plain data, with the place of each value, and its faults in our words.

The text is composed into nodes, which keep line and column; the nodes become plain data plus a map of positions.
"""

import datetime
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, get_args, get_origin

from pydantic import Tag, ValidationError
from pydantic.fields import FieldInfo
from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from dbbench.errors import Fault, SuiteError
from dbbench.message import cleaned, nearest, printable
from dbbench.suite.base import HIDDEN, Model
from dbbench.suite.model import FORMAT, Suite

Path_ = tuple[str | int | float, ...]
Position = tuple[int, int]

#: The tags of plain values; any other, written out, is refused.
_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("map", "seq", "str", "int", "float", "bool", "null", "timestamp")}
#: More levels, values and YAML nodes (values and keys) than any suite has.
_DEEPEST, _MOST, _NODES = 40, 100_000, 120_000
#: The most faults that are shown; nobody reads more at once.
MOST_FAULTS = 100
#: Characters of a faulty value that a message shows.
_EXCERPT = 200
#: Pydantic's types of error, in the words of a suite file.
_EXPECTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "tuple_type": "a list",
    "date_type": "a date, like 2005-12-31",
    "date_parsing": "a date, like 2005-12-31",
    "date_from_datetime_parsing": "a date, like 2005-12-31",
    "date_from_datetime_inexact": "a date, like 2005-12-31",
}


class _Composer(Composer):
    """Composes no more nodes than a suite can have: a million would take minutes."""

    def __init__(self, loader: Any = None) -> None:
        super().__init__(loader=loader)
        self.nodes = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose a node as the library does, and count it."""
        self.nodes += 1
        if self.nodes > _NODES:
            mark = self.parser.peek_event().start_mark
            raise MarkedYAMLError(problem="it goes on", problem_mark=mark, note=f"at most {_MOST:,} values")
        return super().compose_node(parent, index)


class Document:
    """A YAML text as plain data, the position of each value and key, and the faults found so far."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.text = text
        self.faults: list[Fault] = []
        self.untold = 0
        self.values: dict[Path_, Position] = {(): (1, 1)}
        self.keys: dict[Path_, Position] = {}
        self.data: Any = None
        self._unread: set[Path_] = set()  # what stands there is no value, and was told
        self._constructor = SafeConstructor(loader=YAML(typ="safe", pure=True))
        try:
            yaml = YAML(typ="safe", pure=True)
            yaml.Composer = _Composer
            node = yaml.compose(text)
            self.data = self._plain(node, ()) if node is not None else None
        except MarkedYAMLError as exc:
            mark = exc.problem_mark or exc.context_mark
            line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            problem = " ".join(str(exc.problem or exc).split())
            tabs = text.splitlines()[line - 1 : line] if mark else []
            hint = "spaces, not tabs, before and between words" if any("\t" in t for t in tabs) else "valid YAML 1.2"
            self.faults = [Fault(file, line, column, "", problem, exc.note or hint)]
            return
        except ReaderError as exc:
            before = text[: exc.position]
            place = (before.count("\n") + 1, exc.position - before.rfind("\n"))
            self.faults.append(Fault(file, *place, "", f"the character #x{exc.character:04x}", "printable text"))
            return
        except (YAMLError, ValueError) as exc:
            self.faults.append(Fault(file, 1, 1, "", " ".join(str(exc).split()), "valid YAML 1.2"))
            return
        except RecursionError:
            self.faults.append(Fault(file, 1, 1, "", "nested too deeply", "a suite, which is some ten levels deep"))
            return
        if node is None:
            self.faults.append(
                Fault(file, 1, 1, "", "the file is empty", f"a suite that starts with 'dbbench: {FORMAT}'")
            )

    def _plain(self, node: Node, path: Path_) -> Any:
        position = (node.start_mark.line + 1, node.start_mark.column + 1)
        self.values[path] = position
        if node.tag not in _TAGS:
            tag = str(node.tag).replace("tag:yaml.org,2002:", "!!")
            self.faults.append(Fault(self.file, *position, _dotted(path), f"the tag {tag}", "a value without a tag"))
            self._unread.add(path)
            return None
        if len(path) > _DEEPEST or len(self.values) > _MOST:  # an alias that holds itself goes on for ever
            note = f"at most {_MOST:,} values in {_DEEPEST} levels"
            raise MarkedYAMLError(problem="it has no end", problem_mark=node.start_mark, note=note)
        if isinstance(node, MappingNode):
            result: dict[Any, Any] = {}
            for key_node, value_node in node.value:
                key = self._key(key_node)
                place = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
                if not isinstance(key, str | int | float):
                    self.faults.append(Fault(self.file, *place, _dotted(path), "", "a plain text or number as the key"))
                elif key in result:
                    first = self.keys[*path, key][0]
                    self.faults.append(
                        Fault(
                            self.file,
                            *place,
                            _dotted((*path, key)),
                            "",
                            f"each key once (it stands in line {first} too)",
                        )
                    )
                else:
                    self.keys[*path, key] = place
                    result[key] = self._plain(value_node, (*path, key))
                    if value_node.start_mark.index == value_node.end_mark.index:  # nothing there: YAML looks further on
                        self.values[*path, key] = place
            return result
        if isinstance(node, SequenceNode):
            return [self._plain(item, (*path, index)) for index, item in enumerate(node.value)]
        try:
            value = self._constructor.construct_object(node)
        except (YAMLError, ValueError) as exc:
            problem = " ".join(str(getattr(exc, "problem", None) or exc).split())
            self.faults.append(
                Fault(self.file, *position, _dotted(path), problem, "text, a number, a date, true or false")
            )
            self._unread.add(path)
            return None
        if isinstance(value, str) and printable(value) != value:
            self.faults.append(Fault(self.file, *position, _dotted(path), _shown(value), "printable text"))
            self._unread.add(path)
            return None
        return value

    def _key(self, node: Node) -> Any:
        try:
            key = self._constructor.construct_object(node) if isinstance(node, ScalarNode) else None
            return None if isinstance(key, str) and printable(key) != key else key
        except (YAMLError, ValueError):  # a tag such as `<<`, which stands for nothing here
            return None

    def at(self, path: Path_) -> Any:
        """The value at a path, or None."""
        value = self.data
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def fault(self, path: Path_, expected: str, names: Sequence[str] = (), *, at_key: bool = False) -> None:
        """Note a fault at a path; `names` are the known ones, the nearest of which is suggested."""
        if path in self._unread:
            return
        known = path
        while known not in self.values:
            known = known[:-1]
        line, column = self.keys.get(known, self.values[known]) if at_key else self.values[known]
        value = self.at(path)
        shown = "" if value is None or at_key or isinstance(value, dict | list) else _shown(value)
        wanted = str(path[-1]) if at_key else value if isinstance(value, str) else ""
        near = nearest(wanted, names)
        self.faults.append(Fault(self.file, line, column, _dotted(path), shown, expected, near))

    def fault_in_text(self, path: Path_, word: str, expected: str, names: Sequence[str] = ()) -> None:
        """Note a fault of one word in a text, at the word's position."""
        line, column = self.values[path]
        lines = self.text.splitlines()[line - 1 :]
        lines[0] = " " * (column - 1) + lines[0][column - 1 :]
        found = ((at, re.search(rf"\b{re.escape(word)}\b", each, re.IGNORECASE)) for at, each in enumerate(lines))
        written = ""
        for at, match in found if word else ():
            if match:
                line, column, written = line + at, match.start() + 1, match[0]
                break
        shown = repr(written or word) if word else ""
        self.faults.append(Fault(self.file, line, column, _dotted(path), shown, expected, nearest(word, names)))

    def stop_at_faults(self) -> None:
        """Raise SuiteError if there are any."""
        if self.faults:
            faults = sorted(set(self.faults))
            raise SuiteError(faults[:MOST_FAULTS], len(faults) + self.untold)


def add_errors(document: Document, found: ValidationError) -> None:
    """Pydantic's errors as faults, in our words."""
    errors = found.errors(include_url=False, include_input=False)
    document.untold = max(0, len(errors) - MOST_FAULTS)
    for error in errors[:MOST_FAULTS]:
        _add(document, error)
    if any(error["type"] == "too_long" for error in errors):
        document.stop_at_faults()  # looking for every name in so long a list would take minutes


def _add(document: Document, error: Any) -> None:
    path = tuple(_without_tags(document.data, error["loc"]))
    if error["type"] == "missing":
        path = (*path, error["loc"][-1])
    context = error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            known = _known_keys(error["loc"][:-1])
            document.fault(path, f"one of the keys {', '.join(known)}", known, at_key=True)
        case "missing":
            document.fault(path, "this key, which is missing")
        case "union_tag_invalid":
            tags = [tag.strip(" '") for tag in context["expected_tags"].split(",")]
            document.fault((*path, "kind"), f"one of {', '.join(tags)}", tags)
        case "union_tag_not_found":
            document.fault((*path, "kind"), "this key, which is missing")
        case "literal_error" | "enum":
            names = [name.strip(" '") for name in context["expected"].replace(" or ", ",").split(",")]
            document.fault(path, f"one of {', '.join(names)}", names)
        case "value_error":
            expected = str(context["error"])
            names = expected.replace(",", "").split() if expected.startswith("one of the types") else []
            document.fault(path, expected, names)
        case "too_short" if len(document.at(path)) >= context["min_length"]:
            pass  # its items are faulty, and each of them is reported
        case "too_short":
            document.fault(path, f"{context['min_length']} or more items")
        case "too_long":
            document.fault(path, f"at most {context['max_length']} items")
        case "string_too_long":
            document.fault(path, f"a text of at most {context['max_length']:,} characters")
        case "string_pattern_mismatch":
            document.fault(path, f"a text that matches {context['pattern']}", at_key=error["loc"][-1:] == ("[key]",))
        case kind if kind in _EXPECTED:
            document.fault(path, _EXPECTED[kind])
        case _:
            message = error["msg"]
            document.fault(path, message.removeprefix("Input should be ").replace("Value should have", "a value with"))


def _without_tags(data: Any, location: Sequence[str | int]) -> Iterator[str | int | float]:
    """Pydantic's place of an error without what is no part of the file: tags of unions, `[key]`, a missing key."""
    for part in location:
        if isinstance(data, dict):
            key = next((key for key in data if str(key) == str(part)), None)
            if key is not None:
                yield key
                data = data[key]
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            yield part
            data = data[part]


def _known_keys(location: Sequence[str | int]) -> list[str]:
    """The keys that the model at this place of a suite has."""
    here: Any = Suite
    for part in location:
        here = _step_into(here, part)
    here = next((each for each in get_args(here) if each is not type(None)), here)  # of a key that may be left out
    if not (isinstance(here, type) and issubclass(here, Model)):
        return []
    return sorted(name for name, field in here.model_fields.items() if field.json_schema_extra is not HIDDEN)


def _step_into(here: Any, part: str | int) -> Any:
    if isinstance(here, type) and issubclass(here, Model):
        field: FieldInfo | None = here.model_fields.get(str(part))
        return field.annotation if field else here
    if get_origin(here) is Annotated:
        return _step_into(get_args(here)[0], part)
    arguments = [argument for argument in get_args(here) if argument not in (type(None), Ellipsis)]
    if get_origin(here) in (tuple, list):
        return arguments[0]
    if get_origin(here) is dict:
        return arguments[1]
    for member in arguments:  # a union: a tag picks the member, anything else goes on into the only one
        fields = getattr(member, "model_fields", {})
        if "kind" in fields and part in get_args(fields["kind"].annotation):
            return member
        if Tag(str(part)) in get_args(member)[1:]:
            return get_args(member)[0]
    return _step_into(arguments[0], part) if arguments else here


def _shown(value: Any) -> str:
    text = value.isoformat() if isinstance(value, datetime.date) else repr(value)
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}... ({len(text):,} characters)"


def _dotted(path: Path_) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return cleaned(text, _EXCERPT)
