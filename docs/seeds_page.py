"""Print what became of each published text, made of the suites, as a page: `python docs/seeds_page.py`.

Systems, steps and figures are those of the suites' published data; what became of each is said here once. A system
without an entry here is an error, and so is an entry without a system.
"""

from collections.abc import Iterator
from textwrap import fill

from dbbench.suite.loader import find_suite, load_suite
from dbbench.suite.model import Suite

#: Suite -> published system -> what became of it.
SYSTEMS: dict[str, dict[str, str]] = {
    "invoices": {
        "SQLite 3.3.7": "reproduced: `sqlite+library` with 3.3.7",
        "SQLite 3.3.7 (64 bit)": "reproduced: `sqlite+library`, `sqlite`",
        "Firebird 1.5.2 (embedded)": "reproduced: `firebird`; differs: Firebird 5, loaded by its batches",
        "Jet 4.0": "differs: `jet`, by OLE DB, on Windows only and not run yet; `access` has Jet's files",
        "SQL Server 2005 Express": "differs: `sqlserver`, a server of yours",
        "SQL Everywhere CTP": "cannot be had: its successor `sqlce` needs Windows",
        "VistaDB 2.1.7": "cannot be had: `vistadb` is commercial",
    },
    "esent": {"ESENT": "reproduced: `esent`, on Windows only"},
    "bplustree": {
        "Berkeley DB, with transactions": "reproduced: `berkeleydb`; differs: release 5.3, through Python's driver",
        "Berkeley DB": "reproduced: `berkeleydb+nontxn`; differs: release 5.3, through Python's driver",
        "BPlusTree": "reproduced: `bplustree`, a library that you bring; differs: its sources of 2014",
        "BPlusTree by four threads": "reproduced: `bplustree`; differs: four threads of Python",
        "STSdb": "differs: `stsdb` is STSdb 4.0.8 of 2015, another tree",
        "BplusDotNet": "reproduced: `bplusdotnet`, a library that you bring",
        "All others, on disk": "reproduced: `bplustree`, `raptordb1`, `bplusdotnet`, `berkeleydb+nontxn` beside `stsdb`",
    },
    "object-load": {
        "SQLite 3.7.9": "reproduced: `sqlite`; differs: Python's driver and layers, not ODB's C++",
        "SQLite, newer machine": "cannot be had: a machine of its day",
        "MySQL 5.5.17, local": "reproduced: `mysql` by a Unix socket; differs: MariaDB, or your MySQL by its URL",
        "MySQL, local, newer machine": "cannot be had: a machine of its day",
        "MySQL, remote": "differs: `mysql+tcp` on one machine; by `--url` on two",
        "PostgreSQL 9.1.2, local": "reproduced: `postgresql` by a Unix socket; differs: the release of today",
        "PostgreSQL, local, newer machine": "cannot be had: a machine of its day",
        "PostgreSQL, remote": "differs: `postgresql+tcp` on one machine; by `--url` on two",
        "SQL Server 2008 R2, local": "differs: `sqlserver`, a server of yours",
        "SQL Server, remote, Linux client": "differs: `sqlserver` by `--url`",
        "SQL Server, remote, Windows client": "cannot be had: clients of dbbench run on Linux",
    },
    "contention": {
        "MySQL 5.5.17, remote": "differs: `mysql`, a private MariaDB; by `--url` on two machines",
        "PostgreSQL 9.1.2, remote": "differs: `postgresql`, a private server; by `--url` on two machines",
        "SQL Server 2008 R2, remote": "differs: `sqlserver` by `--url`",
        "SQLite 3.7.9": "reproduced: `sqlite`; differs: a write-ahead log, not a rollback journal",
    },
    "virtual-file": {
        "CloudGraph": "differs: `virtualfile` is a counterpart in Python; its program was never published"
    },
}
#: Suite -> charts, settings and whatever else the text says -> what became of it.
REST: dict[str, dict[str, str]] = {
    "invoices": {
        "a bar chart for each test, best first": "reproduced: the charts `bars` and `size`",
        "withheld figures keep their places": "reproduced: with `--publish`",
        "tables, types, keys, indexes, numbers of rows": "reproduced: 297,450 rows",
        "CSV files": "cannot be had: lost; the suite has distributions",
        "ADO.NET providers, C#; System.Data.SQLite 1.0.32": "reproduced: `sqlite+ado`, with System.Data.SQLite 1.0.90 or Mono.Data.Sqlite; differs: other engines by Python's drivers",
        "the optimal import of each engine, in a transaction": "reproduced; differs: Jet, SQL Everywhere and VistaDB by prepared inserts",
        "ExecuteReader, Read to the end, one column read of each row": "reproduced: `read` in each query",
        "insert of one row, VistaDB's exception": "reproduced: 50 of them; an exception is an outcome",
        "SQL Server's log file of 219,264 kB": "differs: all files count, journals too",
        "machine: Athlon X2, Windows XP x64": "cannot be had: compare ratios",
    },
    "esent": {
        "elapsed seconds beside rates": "reproduced: the column `elapsed`",
        "1,000,000 records, key 8 bytes, value 32; one insert in a transaction": "reproduced",
        "the test program, attached": "cannot be had: it is not kept with the text",
        "log files of 16 MB, log buffer of 8 MB, circular logging": "reproduced: in `esent`",
        "lazy commits": "reproduced: the tier `memory`",
        "one thread; other settings at their defaults": "reproduced: a page cache larger than the data",
        "machine: laptop, 2 x 2.5 GHz, 7,200 rpm": "cannot be had: compare ratios",
    },
    "bplustree": {
        "MySQL, for comparison": "reproduced: `mysql`; its figure was in a chart that is lost",
        "RaptorDB 1.7, slow seeks, crashes and a hang": "differs: `raptordb1` is 1.8 and `raptordb` 2.3; reads, or deletes, by several threads are refused",
        "charts on a logarithmic axis: inserts, selects, updates, deletes": "reproduced: the chart `bars`; their figures are lost",
        "memory and disk, kilobytes for 1,000 records": "reproduced: `heap/1,000` by the collector, `disk/1,000`; their figures are lost",
        "worst average of the last 5 of 8 runs": "reproduced: `worst_of_last` beside the median",
        "records of 116 bytes, a Guid and 100 bytes": "reproduced",
        "number of records, order of keys, caches": "cannot be had: never published; 100,000, scattered, defaults",
        "one thread with affinity, and four threads": "reproduced: `affinity`; steps ending in -4",
        "BplusDotNet's selects below the others', BPlusTree's inserts, updates and deletes behind some": "reproduced: steps ending in -1; no figures were published",
        "threaded deletes of Berkeley DB crashed": "differs: `delete-4` runs; a crash would be an outcome",
        "data made before the run": "reproduced: keys and values are made outside the clock",
    },
    "object-load": {
        "tables of microseconds for an object": "reproduced: the chart `stacks`, with what each layer takes",
        "a couple of dozen members": "reproduced: objects of 13 members, as in the source, and of 24",
        "text of unknown length": "cannot be had: 2,000 characters here",
        "remote and local": "reproduced: sockets and TCP; differs: TCP on one machine, unless by `--url`",
        "Oracle, named without figures": "differs: `oracle`, a server of yours",
        "machine: two Opteron 265, remote clients that were faster": "cannot be had: compare ratios",
        "ODB and g++": "differs: layers of Python; docs/contention.md has ODB's program beside ours",
    },
    "contention": {
        "32 threads, 19,200 inserts, 6,400 updates, 19,200 deletes, 134,400 selects": "reproduced: all four rounds together",
        "one program, pools of 31, 16 and 8": "differs: 4 processes of 8 threads; the pool is shared out among them",
        "shared cache with unlock_notify": "differs: `--set sqlite.cache=shared`, where nothing waits for a locked table",
        "machine: two Opteron 265, all cores at 100 %": "cannot be had: compare ratios",
        "Oracle, better than all others, without figures": "differs: `oracle`, a server of yours",
        "clients on other machines": "differs: on the same one; `--cluster` has them on others",
    },
    "virtual-file": {
        "minimum and maximum": "reproduced: steps ending in -cold and -warm; the chart `spans`",
        "blocks of 512 bytes, 100,000 nodes": "reproduced; differs: a step writes 10,000 and reads 20,000 of them",
        "pages of 8,192 bytes, and their effect": "reproduced: `--sweep virtualfile.page_kib=2,4,8,16,32`",
        "1 and 128 threads": "reproduced; differs: 4 processes of 32 threads, where an engine can",
        "128 threads are not sequential together": "reproduced: each has a stretch of its own",
        "raw disk, write-through, no cache of the system": "reproduced: `rawfile+direct`, the tier `power`",
        "machine: Core i5 750, Windows 7, 7,200 rpm": "cannot be had: compare ratios",
    },
}
HEAD = """# The published texts, line by line

What became of everything in the five published texts that dbbench's suites follow: each system with its steps and
figures, each chart, each setting. One text has two suites, `object-load` and `contention`. The last line of each names
steps whose figures weren't published, or of dbbench's own. Figures of SQL Server and Oracle may not be published.
"""


def page() -> str:
    """The page, in Markdown."""
    return HEAD + "".join(f"\n## {name}\n\n{''.join(_points(load_suite(find_suite(name))))}" for name in SYSTEMS)


def _points(suite: Suite) -> Iterator[str]:
    """A point of a list for each system and each thing besides."""
    assert suite.source is not None
    units = {step.name: step.unit for scenario in suite.scenarios for step in scenario.steps}
    #: System -> figure -> the steps that have it.
    published: dict[str, dict[str, list[str]]] = {}
    for figure in suite.source.figures:
        words = figure.note if figure.value is None else _words(figure.value, units[figure.step])
        published.setdefault(figure.engine, {}).setdefault(words, []).append(f"`{figure.step}`")
    for ratio in suite.source.ratios:
        words = f"{f'×{ratio.value:g}' if ratio.value else 'better'} to {ratio.than}"
        published.setdefault(ratio.engine, {}).setdefault(words, []).append(f"`{ratio.step}`")
    yield f"[The suite](catalogue.md#{suite.name}).\n\n"
    for system in {**published, **SYSTEMS[suite.name]}:
        figures = "; ".join(f"{', '.join(steps)} {words}" for words, steps in published.get(system, {}).items())
        figures = f" ({figures})" if figures else ""
        yield _wrapped(f"- **{system}**{figures}: {SYSTEMS[suite.name][system]}")
    for text, became in REST[suite.name].items():
        yield _wrapped(f"- **{text}**: {became}")
    named = {each.step for each in (*suite.source.figures, *suite.source.ratios)}
    if ours := [f"`{name}`" for name in units if name not in named]:
        yield _wrapped(f"- {', '.join(ours)}")


def _wrapped(point: str) -> str:
    return fill(point, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"


def _words(value: float, unit: str) -> str:
    """A figure as it was published, in seconds, bytes or a second, with no digit lost."""
    digits = f"{value:,.6f}".rstrip("0").rstrip(".")
    return f"{digits}{unit.removeprefix('1')}" if unit.startswith("1") else f"{digits} {unit}"


if __name__ == "__main__":
    print(page(), end="")
