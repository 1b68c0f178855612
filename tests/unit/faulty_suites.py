"""Faults of a suite file: what is changed in a right one, and what the loader says of it.

Each is the text to replace, the new one, and what is said, which begins with line and column.
"""

from typing import get_args

from dbbench.suite.steps import AnyStep

PARENT = "datasets.things.tables.Parent"
CHILD = "datasets.things.tables.Child"
JOIN = "scenarios[0].steps[1]"
TYPES = "integer, bigint, real, double, decimal, currency, char, varchar, date, datetime, json"
STEPS = ", ".join(get_args(step.model_fields["kind"].annotation)[0] for step in get_args(get_args(AnyStep)[0]))
VERSION = "'dbbench: 1', the version of the suite format that this dbbench reads"
PATTERN = 'varchar(6), values: {kind: pattern, text: "N-####"}'
NAME_VALUES = '{kind: pattern, text: "N-####"}'
POINTS = "points: {0: 1, 1: 9}"
ARRAY = "{length: [0, 2], items: {type: integer, values: {kind: quantiles, points: {0: 1, 1: 9}}}}"
KEY = "\n        columns:\n          Id: {type: integer, values: {kind: sequence}}\n          Name: {type: "
NO_END = "at most 100,000 values in 40 levels"

KEYS_AND_SHAPES = {
    "unknown key": ("    seed: 7", "    sede: 7",
        "7:5: datasets.things.sede: expected one of the keys records, seed, tables, texts, vectors; did you mean 'seed'?"),
    "unknown key with nothing near": ("    seed: 7", "    colour: 7",
        "7:5: datasets.things.colour: expected one of the keys records, seed, tables, texts, vectors"),
    "unknown key in a step": ("name: load,", "name: load, tittle: x,",
        "28:34: scenarios[0].steps[0].tittle: expected one of the keys kind, name, note, share, title; did you mean 'title'?"),
    "an answer that is a list": ("        read: Amount", "        answer: [1]",
        f"33:17: {JOIN}.answer: expected a mapping"),
    "a key that is none, of documents with arrays": (f"primary_key: Id{KEY}{PATTERN}",
        f"primary_key: Idd{KEY}json, values: {{kind: document, fields: {{tags: {ARRAY}}}}}",
        f"11:22: {PARENT}.primary_key: 'Idd': expected one of its columns Id, Name; did you mean 'Id'?"),
    "missing key": ("        rows: 10\n        primary_key: Id\n", "        rows: 10\n",
        f"10:9: {PARENT}.primary_key: expected this key, which is missing"),
    "key twice": ("title: Small", "title: Small\ntitle: Again",
        "4:1: title: expected each key once (it stands in line 3 too)"),
    "name that is no plain name": ("      Child:", "      Child-1:",
        f"15:7: {CHILD}-1: expected a text that matches ^[A-Za-z][A-Za-z0-9_]{{0,62}}$"),
    "step name with a capital": ("name: main", "name: Main",
        "24:11: scenarios[0].name: 'Main': expected a text that matches ^[a-z0-9][a-z0-9-]{0,47}$"),
    "table named by a number": ("      Parent:", "      1:", "10:9: datasets.things.tables[1]: expected a text"),
    "number where a text is due": ("title: Small", "title: 12", "3:8: title: 12: expected a text"),
    "nothing where a text is due": ("title: Small", "title:", "3:1: title: expected a text"),
    "text where a number is due": ("rows: 10\n", "rows: ten\n",
        f"10:15: {PARENT}.rows: 'ten': expected a whole number"),
    "fraction where a whole number is due": ("rows: 10\n", "rows: 10.5\n",
        f"10:15: {PARENT}.rows: 10.5: expected a whole number"),
    "number out of range": ("seed: 7", "seed: -1",
        "7:11: datasets.things.seed: -1: expected greater than or equal to 0"),
    "list where a mapping is due": ("    seed: 7\n    tables:", "    seed: 7\n    tables: []\n  more:\n    tables:",
        "8:13: datasets.things.tables: expected a mapping"),
    "mapping where a list is due": ("charts:\n      - {kind: bars, steps: [join]}", "charts: {kind: bars}",
        "34:13: scenarios[0].charts: expected a list"),
    "empty list": ("        read: Amount", "        answer: {columns: {}, rows: []}",
        f"33:27: {JOIN}.answer.columns: expected 1 or more items"),
}  # fmt: skip

VALUES = {
    "unknown type": ("integer, values: {kind: sequence}", "intger, values: {kind: sequence}",
        f"13:22: {PARENT}.columns.Id.type: 'intger': expected one of the types {TYPES}; did you mean 'integer'?"),
    "type without its argument": ("varchar(6)", "varchar",
        f"14:24: {PARENT}.columns.Name.type: 'varchar': expected 1 argument for varchar, like varchar(15)"),
    "unknown kind of values": ("kind: quantiles", "kind: quantile",
        f"22:51: {CHILD}.columns.Amount.values.kind: 'quantile': expected one of sequence, reference, quantiles, choice, pattern, days, moments, words, listed, computed, document; did you mean 'quantiles'?"),
    "unknown kind of step": ("kind: load", "kind: lod",
        f"28:16: scenarios[0].steps[0].kind: 'lod': expected one of {STEPS}; did you mean 'load'?"),
    "step without a kind": ("kind: load, ", "",
        "28:9: scenarios[0].steps[0].kind: expected this key, which is missing"),
    "unknown durability": ("    dataset: things", "    dataset: things\n    durability: powr",
        "27:17: scenarios[0].durability: 'powr': expected one of memory, process, power; did you mean 'power'?"),
    "type that the values don't fit": ("type: varchar(6)", "type: date",
        f"14:24: {PARENT}.columns.Name.type: 'date': expected a type that pattern values fit: char, varchar"),
    "text longer than its column": ("N-####", "N-#####",
        f"14:44: {PARENT}.columns.Name.values: expected texts of at most 6 characters, for varchar(6)"),
    "choice longer than its column": (NAME_VALUES, "{kind: choice, weights: {short: 1, longest: 1}}",
        f"14:44: {PARENT}.columns.Name.values: expected texts of at most 6 characters, for varchar(6)"),
    "weight of zero": (NAME_VALUES, "{kind: choice, weights: {a: 0}}",
        f"14:68: {PARENT}.columns.Name.values.weights: expected weights above 0"),
    "weight without end": (NAME_VALUES, "{kind: choice, weights: {a: .inf}}",
        f"14:72: {PARENT}.columns.Name.values.weights.a: inf: expected a finite number"),
    "point that is no number": (POINTS, "points: {0: 1, 1: .nan}",
        f"22:80: {CHILD}.columns.Amount.values.points[1]: nan: expected a finite number"),
    "shares that stop short": (POINTS, "points: {0: 1, 0.9: 9}",
        f"22:70: {CHILD}.columns.Amount.values.points: expected shares that ascend from 0 to 1, with values that ascend too"),
    "values that descend": (POINTS, "points: {0: 9, 1: 1}",
        f"22:70: {CHILD}.columns.Amount.values.points: expected shares that ascend from 0 to 1, with values that ascend too"),
    "one point alone": (POINTS, "points: {0: 1}",
        f"22:70: {CHILD}.columns.Amount.values.points: expected 2 or more items"),
    "points too far apart for the step": (POINTS, "points: {0: 0, 1: 30000000}",
        f"22:44: {CHILD}.columns.Amount.values: expected points less than 2,147,483,648 steps apart"),
    "point that the type can't hold": ("currency, values: {kind: quantiles, " + POINTS, '"decimal(3, 2)", values: {kind: quantiles, points: {0: 1, 1: 10}',
        f"22:87: {CHILD}.columns.Amount.values.points[1]: 10: expected a number that decimal(3, 2) can hold"),
    "step that the type can't hold": ("step: 0.01", "step: 0.00015",
        f"22:90: {CHILD}.columns.Amount.values.step: 0.00015: expected a step that currency can hold"),
    "step of computed numbers that the type can't hold": ("kind: quantiles, " + POINTS + ", step: 0.01", "kind: computed, text: Id, step: 0.00015",
        f"22:77: {CHILD}.columns.Amount.values.step: 0.00015: expected a step that currency can hold"),
    "step of days": ("currency, values: {kind: quantiles, " + POINTS + ", step: 0.01", "date, values: {kind: computed, text: Id, first: 2026-01-31, step: 7",
        f"22:92: {CHILD}.columns.Amount.values.step: 7: expected no step beside `first`: days or seconds in the expression itself"),
    "texts that are too long": (PATTERN, 'varchar(90000), values: {kind: pattern, text: "########", repeat: 9000}',
        f"14:48: {PARENT}.columns.Name.values: expected texts of at most 65535 characters, for varchar(90000)"),
    "step of zero": ("step: 0.01", "step: 0", f"22:90: {CHILD}.columns.Amount.values.step: 0: expected greater than 0"),
    "start that the type can't hold": ("start: 5", "start: 2147483600",
        f"20:63: {CHILD}.columns.Id.values.start: 2147483600: expected a start from which 100 rows fit integer"),
    "day that doesn't exist": (PATTERN, "date, values: {kind: days, first: 2004-02-30, last: 2005-01-01}",
        f"14:58: {PARENT}.columns.Name.values.first: day is out of range for month: expected text, a number, a date, true or false"),
    "text where a day is due": (PATTERN, "date, values: {kind: days, first: soon, last: 2005-01-01}",
        f"14:58: {PARENT}.columns.Name.values.first: 'soon': expected a date, like 2005-12-31"),
    "days that end before they start": (PATTERN, "date, values: {kind: days, first: 2004-02-28, last: 2003-01-01}",
        f"14:76: {PARENT}.columns.Name.values.last: 2003-01-01: expected a day that is not before the first"),
    "pattern beyond ASCII": ("N-####", "Né",
        f"14:66: {PARENT}.columns.Name.values.text: 'Né': expected a text that matches ^[\\x20-\\x7e]+$"),
}  # fmt: skip

NAMES = {
    "primary key that is no column": ("primary_key: Id", "primary_key: Idd",
        f"11:22: {PARENT}.primary_key: 'Idd': expected one of its columns Id, Name; did you mean 'Id'?"),
    "index that is no column": ("[ParentId]", "[ParentID]",
        f"18:19: {CHILD}.indexes[0]: 'ParentID': expected one of its columns Id, ParentId, Amount; did you mean 'ParentId'?"),
    "reference to no table": ("table: Parent}", "table: Parnt}",
        f"21:70: {CHILD}.columns.ParentId.values.table: 'Parnt': expected one of the tables Parent, Child; did you mean 'Parent'?"),
    "reference to a table from a file": (f"rows: 10\n        primary_key: Id{KEY}{PATTERN}", f"rows: {{file: a.csv}}\n        primary_key: Id{KEY}varchar(6)",
        f"21:70: {CHILD}.columns.ParentId.values.table: 'Parent': expected a table whose rows are drawn, too"),
    "reference to keys that are no sequence": ("primary_key: Id", "primary_key: Name",
        f"21:70: {CHILD}.columns.ParentId.values.table: 'Parent': expected a table whose primary key is a sequence"),
    "scenario of no dataset": ("dataset: things", "dataset: thing",
        "26:14: scenarios[0].dataset: 'thing': expected one of the datasets things; did you mean 'things'?"),
    "unknown table in SQL": ("FROM Parent", "FROM Parents",
        f"32:14: {JOIN}.sql: 'SELECT P.Name, C.Amount FROM Parents P JOIN Child C ON P.Id = C.ParentId': expected tables of the dataset (Parent, Child), not 'Parents'"),
    "table in other letters in SQL": ("FROM Parent", "FROM parent",
        f"32:14: {JOIN}.sql: 'SELECT P.Name, C.Amount FROM parent P JOIN Child C ON P.Id = C.ParentId': expected tables of the dataset (Parent, Child), not 'parent' (write 'Parent')"),
    "unknown table in a dialect's SQL": ("        read:", "        dialects: {firebird: SELECT 1 FROM Nowhere}\n        read:",
        f"33:30: {JOIN}.dialects.firebird: 'SELECT 1 FROM Nowhere': expected tables of the dataset (Parent, Child), not 'Nowhere'"),
    "answer in the former form": ("        read: Amount", "        answer: {table: Parent, select: [Parent.Name]}",
        f"33:17: {JOIN}.answer: expected `answer` left out, for what the reference returns for the step's SQL, or `answer: {{sql: ...}}`"),
    "two steps of one name": ("name: load, title: Load}", "name: load, title: Load}\n      - {kind: size, name: load, title: Size}",
        f"29:28: {JOIN}.name: 'load': expected a name that no other has"),
    "chart of no step": ("steps: [join]", "steps: [jion]",
        "35:30: scenarios[0].charts[0].steps[0]: 'jion': expected one of the steps load, join; did you mean 'join'?"),
    "size chart of no step": ("{kind: bars, steps: [join]}", "{kind: size, step: sizes}",
        "35:28: scenarios[0].charts[0].step: 'sizes': expected one of the steps load, join"),
    "check of an unknown column": ("    charts:", "      - {kind: statement, name: s, title: S, sql: x, check: {sql: SELECT 1, columns: [Child.Amont], rows: []}}\n    charts:",
        "34:87: scenarios[0].steps[2].check.columns[0]: 'Child.Amont': expected a column of the dataset, as Table.Column; did you mean 'Child.Amount'?"),
    "a query as a statement": ("    charts:", "      - {kind: statement, name: s, title: S, sql: SELECT Id FROM Child}\n    charts:",
        "34:51: scenarios[0].steps[2].sql: 'SELECT Id FROM Child': expected a statement that returns no rows; use `kind: query` for one that does"),
    "rows added to no table": ("    charts:", "      - {kind: statement, name: s, title: S, sql: x, adds: {table: Kid}}\n    charts:",
        "34:68: scenarios[0].steps[2].adds.table: 'Kid': expected one of the tables Parent, Child"),
    "values of the key": ("    charts:", "      - {kind: statement, name: s, title: S, sql: x, adds: {table: Parent, values: {Id: 3}}}\n    charts:",
        "34:89: scenarios[0].steps[2].adds.values.Id: 3: expected a column of Parent other than its key"),
}  # fmt: skip

SYNTAX = {
    "tab to indent": ("    seed: 7", "\tseed: 7",
        "7:1: found character '\\t' that cannot start any token: expected spaces, not tabs, before and between words"),
    "tab before a value": ("seed: 7", "seed:\t7",
        "7:10: found character '\\t' that cannot start any token: expected spaces, not tabs, before and between words"),
    "bracket left open": ("title: Small", "title: [Small",
        "4:12: expected ',' or ']', but got ':': expected valid YAML 1.2"),
    "control character": ("title: Small", "title: Sm\x07all", "3:10: the character #x0007: expected printable text"),
    "unknown alias": ("title: Small", "title: *a", "3:8: found undefined alias 'a': expected valid YAML 1.2"),
    "alias that holds itself": ("  things:\n", "  things: &x\n    self: *x\n",
        f"6:11: it has no end: expected {NO_END}"),
    "list as a key": ("title: Small", "? [a, b]\n: c\ntitle: Small", "3:3: expected a plain text or number as the key"),
    "merge key": ("title: Small", "title: Small\n<<: {x: 1}", "4:1: expected a plain text or number as the key"),
    "Python object from a list": ("title: Small", "title: !!python/object/apply:os.system ['true']",
        "3:8: title: the tag !!python/object/apply:os.system: expected a value without a tag"),
    "tag on a value that would do": ("points: {0: 1, 1: 9}", "points: !!python/dict {0: 1, 1: 9}",
        f"22:70: {CHILD}.columns.Amount.values.points: the tag !!python/dict: expected a value without a tag"),
    "tag of one's own": ("title: Small", "title: !mine text",
        "3:8: title: the tag !mine: expected a value without a tag"),
    "bytes": ("title: Small", "title: !!binary aGVsbG8=",
        "3:8: title: the tag !!binary: expected a value without a tag"),
}  # fmt: skip

OF_ONE_VALUE = VALUES | NAMES | SYNTAX
