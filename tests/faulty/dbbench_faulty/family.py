"""A right engine with one fault is called after its family and its class: OneValue of the family `faulty` is faulty-one-value."""

import re

from dbbench_plugins.sqlite import SQLite

FAMILIES = {
    "books": "books",
    "loads": "loads",
    "servers": "servers",
    "promises": "promises",
    "stores": "store",
    "texts": "words",
    "timed": "timed",
    "vectors": "near",
    "written": "written",
}


class Named:
    """An engine's name and title; its module has a family, unless the class names another."""

    def __init_subclass__(cls, family: str = "", **more: object) -> None:
        super().__init_subclass__(**more)
        family = family or FAMILIES.get(cls.__module__.rpartition(".")[2], "faulty")
        words = [word.lower() for word in re.findall("[A-Z][a-z]+", cls.__name__)]
        for name, text in {"name": "-".join([family, *words]), "title": f"{family.title()}: {' '.join(words)}"}.items():
            if name not in vars(cls):
                setattr(cls, name, text)


class Faulty(Named, SQLite):
    """SQLite, before its fault."""
