"""Right engines over Python's sqlite3, and mutants of them, which name the clause that they break."""
