"""Suites of tests: one scenario on one dataset, of which a test writes what it is about."""

from textwrap import dedent, indent


def suite_text(name: str, data: str, steps: str, *, durability: str = "", more: str = "") -> str:
    """A suite whose dataset and scenario have its name; `data`, `steps` and `more` are YAML, `more` of the scenario."""
    promise = f"durability: {durability}\n" if durability else ""
    scenario = f"title: {name.title()}\ndataset: {name}\n{promise}steps:\n{indent(_block(steps), '  ')}{_block(more)}"
    return (
        f"dbbench: 1\nname: {name}\ntitle: {name.title()}\ndescription: A suite of a test.\n"
        f"datasets:\n  {name}:\n{indent(_block(data), '    ')}"
        f"scenarios:\n  - name: {name}\n{indent(scenario, '    ')}"
    )


def _block(text: str) -> str:
    return f"{dedent(text).strip()}\n" if text.strip() else ""
