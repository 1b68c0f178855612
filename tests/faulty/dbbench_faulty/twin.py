"""SQLite under another name: whatever tells it from `sqlite` is noise."""

from dbbench_plugins.sqlite import SQLite


class Twin(SQLite):
    name = "faulty-twin"
    title = "SQLite again (sqlite3)"
