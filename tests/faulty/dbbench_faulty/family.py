"""A right engine with one fault is called after its family and its class: OneValue of the family `faulty` is faulty-one-value."""

import re

from dbbench_plugins.sqlite import SQLite

#: Module -> its family.
FAMILIES = {"stores": "store", "texts": "words", "unchecked": "slow", "vectors": "near"}
FAMILIES |= {name: name for name in ("books", "documents", "loads", "promises", "servers", "sizes", "timed", "written")}


class Named:
    """An engine's name and title; its module has a family, unless the class names another.

    `clause` is the clause of the conformance kit that it breaks, if it breaks one.
    """

    def __init_subclass__(cls, family: str = "", **more: object) -> None:
        super().__init_subclass__(**more)
        *_, package, module = cls.__module__.split(".")
        family = family or (f"mutant-{module}" if package == "clauses" else FAMILIES.get(module, "faulty"))
        words = [word.lower() for word in re.findall("[A-Z][a-z]+", cls.__name__)]
        for name, text in {"name": "-".join([family, *words]), "title": f"{family.title()}: {' '.join(words)}"}.items():
            if name not in vars(cls):
                setattr(cls, name, text)


class Faulty(Named, SQLite):
    """SQLite, before its fault."""
