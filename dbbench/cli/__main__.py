"""`python -m dbbench.cli`."""

from dbbench.cli import main

main()
