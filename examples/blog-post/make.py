"""A blog post from one run: `python examples/blog-post/make.py OUT` (needs the extras `embedded`, `frames`).

It calls nothing but dbbench: six engines that return rows are run, three of them are drawn, and pandas makes a table
of all. Options of `dbbench suite` may follow, such as `--scale 0.1 --rounds 6`.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

import dbbench

ENGINES = ("sqlite", "sqlite+apsw", "libsql", "turso", "duckdb", "firebird")
#: Those that the pictures show, and what to call them.
SHOWN = {"sqlite": "SQLite", "libsql": "libSQL", "duckdb": "DuckDB"}
TITLE = "Three small databases and a join"
STEP = "join-1"
#: From this number of rounds on an interval is one of 95 %.
SURE_ROUNDS = 6

POST = """# {title}

![{title}: the engines best to worst](pictures/report/card.png)

Which database is quick at joining {rows:,} shipments with their invoices, and at what price elsewhere? I ran
{count} engines with `dbbench`, and drew three of them:

![Join 1, best to worst](pictures/report/invoices-{step}.png)

All of them, in every step, as multiples of the step's best figure (- where an engine has none):

```text
{table}
```

{checked}{lines}. Measured on {date}
({cpu}, {system}) with dbbench {version}. [The whole report](pictures/report/index.md) has versions, settings and
the method.

What the report notes:

{notes}

This post was made by [make.py](make.py), with these commands:

```sh
{commands}
```
"""


def main(out: Path, options: Sequence[str] = (), engines: Sequence[str] = ENGINES) -> None:
    """Run the engines, and write post.md with its pictures into a new folder."""
    out.mkdir(parents=True)
    steps = commands(options, engines)
    for command in steps:
        done = subprocess.run([sys.executable, "-m", *command], cwd=out, check=False)
        if done.returncode not in (0, 1):  # with 1 an engine was unsuccessful somewhere, and the report says where
            sys.exit(done.returncode)
    write(out, steps)


def commands(options: Sequence[str], engines: Sequence[str]) -> list[list[str]]:
    """What is run, in the post's folder."""
    asked = [f"--engine={name}" for name in engines]
    labels = [f"--label={name}={text}" for name, text in SHOWN.items()]
    chosen = [f"--engine={name}" for name in SHOWN]
    looks = ["--theme=dark", "--width=760", "--format=png,svg,md,card"]
    return [
        ["dbbench", "suite", "invoices", *asked, *options, "--format=csv", "--out=run"],
        ["dbbench", "report", "run", *chosen, *labels, f"--step={STEP}", f"--title={TITLE}", *looks, "--out=pictures"],
    ]


def write(out: Path, steps: Sequence[Sequence[str]]) -> None:
    """The text, from what the run found."""
    run = dbbench.open_run(out / "run")
    manifest = run.run.manifest
    notes = json.loads((out / "pictures" / "results.json").read_text("utf-8"))["notes"] or ["nothing"]
    text = POST.format(
        title=TITLE,
        step=STEP,
        count=len(measured(run)["title"].unique()),
        rows=manifest.datasets["invoices"]["rows"]["Shipment"],
        table=table(run),
        checked=checked(run),
        lines=lines(manifest.rounds),
        date=f"{manifest.created:%d %B %Y}",
        cpu=manifest.machine["cpu"],
        system=manifest.machine["system"],
        version=manifest.dbbench,
        notes="\n".join(f"- {note}" for note in notes),
        commands="\n".join(" ".join(map(quoted, command)) for command in steps),
    )
    (out / "post.md").write_text(text, encoding="utf-8")


def measured(run: dbbench.RunFrames) -> pd.DataFrame:
    """The rows with a figure, but the null engines'."""
    frame = run.summary()
    return frame[~frame["is_null"] & frame["value"].notna()]


def checked(run: dbbench.RunFrames) -> str:
    """What was checked of the figures that the table has."""
    doubtful = measured(run).loc[lambda rows: ~rows["verified"].fillna(value=False), "title"].unique()
    if len(doubtful) == 0:
        return "Every answer was checked"
    return f"Not every answer could be checked ({', '.join(doubtful)})"


def lines(rounds: int) -> str:
    """What the lines in the bars are."""
    if rounds == 1:
        return ", in one round, which gives no intervals"
    spread = "the intervals over" if rounds >= SURE_ROUNDS else "the least and the greatest of"
    return f", and the lines in the bars are {spread} {rounds} rounds"


def table(run: dbbench.RunFrames) -> str:
    """A row for each engine, the best by its geometric mean first; a column for each step that is timed."""
    frame = run.summary()
    timed = frame[~frame["is_null"] & (frame["unit"] != "B")]
    ratios = timed.pivot_table(index="title", columns="step", values="ratio", sort=False, dropna=False)
    ratios = ratios.loc[(ratios.product(axis="columns", skipna=False)).sort_values(na_position="last").index]
    ratios.index.name = ratios.columns.name = None
    return str(ratios.to_string(float_format="{:.2f}".format, na_rep="-"))


def quoted(word: str) -> str:
    """A word of a command with quotes where it has spaces."""
    return f'"{word}"' if " " in word else word


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
