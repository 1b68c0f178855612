"""dbbench: which database is faster, smaller or sturdier for this work, on this machine, and how sure are we?"""

__version__ = "0.1.0"
