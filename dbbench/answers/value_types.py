"""The type in which the values of an answer came: the suite's own, or another that holds the same values.

A number may come as another type of number: that may cost a driver more or less, so it is noted. Text or bytes in the
place of something else are a driver's way to save itself the work of decoding, so they are refused, unless the session
declares them (`Session.reads`); then they are noted as well.
"""

from collections.abc import Callable, Mapping

import pyarrow as pa

from dbbench.errors import WrongAnswer

#: Suite's type -> the form that a session declares for it.
Declared = Mapping[str, str]


_FORMS: Mapping[str, Callable[[pa.DataType], bool]] = {
    "nothing": pa.types.is_null,
    "boolean": pa.types.is_boolean,
    "integer": pa.types.is_integer,
    "decimal": pa.types.is_decimal,
    "float": pa.types.is_floating,
    "date": pa.types.is_temporal,
    "text": lambda kind: "string" in str(kind),
    "bytes": lambda kind: "binary" in str(kind),
}
#: Of these one may come for another.
_NUMBERS = frozenset({"boolean", "integer", "decimal", "float"})
#: Arrow's type in an answer -> the suite's types that it stands for.
_TYPES: Mapping[str, tuple[str, ...]] = {
    "int32": ("integer",),
    "int64": ("bigint", "integer"),
    "float": ("real",),
    "double": ("double", "real"),
    "date32[day]": ("date",),
    "timestamp[s]": ("datetime",),
    "string": ("varchar", "char"),
}


def form(kind: pa.DataType) -> str:
    """What values of an Arrow type are, whatever their width; of an extension, what they are stored as."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    return next((name for name, belongs in _FORMS.items() if belongs(kind)), str(kind))


def other_form(found: pa.DataType, field: pa.Field, declared: Declared) -> str:
    """Remark that a column came in another form than its own, as "decimal as float"; empty if it didn't.

    Raises WrongAnswer for a form that would have to be declared.
    """
    own, came = form(field.type), form(found)
    if came in (own, "nothing"):
        return ""
    types = ("decimal",) if own == "decimal" else _TYPES.get(str(field.type), ())
    if not {own, came} <= _NUMBERS and came not in {declared.get(name) for name in types}:
        raise WrongAnswer(f"column {field.name}: {came} in place of {own}, which the engine doesn't declare (`reads`)")
    return f"{own} as {came}"
