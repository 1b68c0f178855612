"""A static site of many runs: a page for each, and one that lists them all."""
