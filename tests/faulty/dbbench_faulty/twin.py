"""SQLite under another name: whatever tells it from `sqlite` is noise."""

from dbbench_faulty.family import Faulty


class Twin(Faulty):
    """SQLite again (sqlite3)."""
