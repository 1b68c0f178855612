"""What can be told of a statement by its text alone, without a parser: whether it returns rows, and its tables."""

import re
from functools import cache

_COMMENTS_AND_TEXTS = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^']|'')*'|\"[^\"]*\"", re.DOTALL)
#: A comment to every engine: `--1` and `/*! ... */` are none to MySQL, and some nest them.
_COMMENT = r"--(?:[ \t][^\n\r]*)?(?:\r?\n|\Z)|/\*(?!M?!)(?:(?!/\*|\*/).)*\*/"
_BEGINS_AS_SELECT = re.compile(rf"(?:[\s(]|{_COMMENT})*(?:SELECT|WITH)\b", re.IGNORECASE | re.DOTALL)
#: A statement whose quotes and comments all engines read alike: without `E'\''`, `$a$ ' $a$`, `['` and the like.
#: Each piece is read in one way only, so nothing is kept to go back to (`++`): that took 480 MiB for 4 of text.
_PLAIN = re.compile(
    rf"(?:(?<!\w)'[^'\\]*'|\"[^\"\\]*\"|`\w*`|\[\w*\]|{_COMMENT}|-(?!-)|/(?![/*])|[^'\"`\[\\$#/-]++)*+", re.DOTALL
)
_RETURNS_ROWS = frozenset({"SELECT", "VALUES", "TABLE", "SHOW", "EXPLAIN", "DESCRIBE"})
#: What is expected of a query.
ONE_SELECT = (
    "one SELECT, with no semicolon and no word that writes, like INTO or UPDATE (such a word may stand in a text if the "
    "statement has no \\, $, # or slice like [1:2]); `kind: statement` takes other SQL"
)
#: EXTRACT(YEAR FROM day), SUBSTRING(text FROM 2): a FROM that names no table.
_FROM_IN_A_CALL = r"\b(?:EXTRACT|SUBSTRING|TRIM|OVERLAY)\s*\([^()]*?\bFROM\b"
#: What makes a table or file, or changes rows; also a second statement, for SQL Server takes one without a semicolon.
#: Some engines have functions of these names; some read `1INTO` as 1 INTO.
_WRITING = re.compile(
    r"\b(?:\d\w*)?(?:INTO|UPDATE|EXEC|EXECUTE|(?:INSERT|DELETE|MERGE|REPLACE"
    r"|CREATE|ALTER|DROP|TRUNCATE|GRANT|REVOKE|SHUTDOWN|BACKUP|RESTORE|DBCC)\b(?!\s*\())\b",
    re.IGNORECASE,
)
_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE"})


def returns_rows(sql: str) -> bool:
    """Whether a statement is sure to return rows: by its first keyword, by RETURNING, and behind a WITH by the rest.

    SELECT ... INTO makes a table and returns none. Of what this can't know (CALL, PRAGMA) the driver tells at run time.
    """
    words = re.findall(r"\w+", _COMMENTS_AND_TEXTS.sub(" ", sql).upper())
    first = words[0] if words else ""
    if "RETURNING" in words:
        return True
    if first == "WITH":
        return not _WRITES & set(words)
    return first in _RETURNS_ROWS and not (first == "SELECT" and "INTO" in words)


def is_select(sql: str) -> bool:
    """Whether a statement is one SELECT to every engine: no second one follows, and none writes a table or file.

    What is a text to one engine may be SQL to another. So a semicolon always counts, and a word that writes counts
    unless all engines read the quotes and comments alike.
    """
    if ";" in sql.rstrip().removesuffix(";") or not _BEGINS_AS_SELECT.match(sql):
        return False
    return not _WRITING.search(sql) or bool(
        _PLAIN.fullmatch(sql) and not _WRITING.search(_COMMENTS_AND_TEXTS.sub("'", sql))
    )


def words_of(sql: str) -> set[str]:
    """Every word of a statement: names of tables wherever they stand, and more."""
    return set(re.findall(r"\w+", sql))


def tables_of(sql: str) -> list[str]:
    """The tables that a statement names after FROM, JOIN, INTO, UPDATE and TRUNCATE, without its own WITH names."""
    text = re.sub(r"'(?:[^']|'')*'", "''", sql)
    text = re.sub(rf"{_FROM_IN_A_CALL}|\bDISTINCT\s+FROM\b", "(", text, flags=re.IGNORECASE)
    if text.lstrip()[:8].upper() == "TRUNCATE":
        text = text.replace(",", " INTO ")
    text = re.sub(r"\bTRUNCATE(\s+TABLE\b)?(\s+IF\s+EXISTS\b|\s+ONLY\b)?", "INTO", text, flags=re.IGNORECASE)
    text = re.sub(r"[`\[]([A-Za-z_]\w*)[`\]]", r'"\1"', text)
    own = re.findall(r'(?:\bWITH\s+(?:RECURSIVE\s+)?|,\s*)"?(\w+)"?\s+AS\s*\(', text, re.IGNORECASE)
    # `ALTER TABLE name UPDATE column =` changes rows in ClickHouse.
    named = re.findall(r'\b(?:FROM|JOIN|INTO|UPDATE)\s+"?([A-Za-z_]\w*)\b(?!"?\s*=)', text, re.IGNORECASE)
    return [name for name in named if name not in own]


#: A text, a quoted name, a comment, a cast of PostgreSQL's, or a parameter.
_NAMED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?(?:\*/|\Z)|::|(?<![\w:]):([A-Za-z_]\w*)", re.DOTALL)


@cache
def split_parameters(sql: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The pieces of a statement between its `:name` parameters, and their names: one piece more than names."""
    pieces, names, start = [], [], 0
    for match in _NAMED.finditer(sql):
        if match[1]:
            pieces.append(sql[start : match.start()])
            names.append(match[1])
            start = match.end()
    return (*pieces, sql[start:]), tuple(names)


@cache
def inserted(sql: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """The table of an `INSERT INTO table (columns) VALUES (values)`, and each column with its value; else None."""
    match = re.match(
        r'\s*INSERT\s+INTO\s+"?(\w+)"?\s*\(([^()]*)\)\s*VALUES\s*\(([^()]*)\)\s*$', sql, re.IGNORECASE | re.DOTALL
    )
    if match is None:
        return None
    columns, values = ([part.strip().strip('"') for part in match[at].split(",")] for at in (2, 3))
    return (match[1], tuple(zip(columns, values, strict=True))) if len(columns) == len(values) else None


@cache
def compared(sql: str) -> tuple[tuple[str, str], ...]:
    """Each name that a statement compares with or sets to a parameter alone, and the parameter's name."""
    without_texts = re.sub(r"'(?:[^']|'')*'", "''", sql)
    found = re.findall(
        r'\b(\w+)"?\s*(?:=|<>|<=|>=|<|>)\s*:([A-Za-z_]\w*)\s*(?:$|[,);]|\b(?:AND|OR|WHERE|ORDER)\b)',
        without_texts,
        re.IGNORECASE,
    )
    return tuple(found)
