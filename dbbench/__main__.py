"""`python -m dbbench`: Python puts the current folder first on its path for -m, and nothing of it may be imported."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]

from dbbench.cli import main

main()
