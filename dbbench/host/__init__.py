"""The machine: what it is, what its processes use, what disturbs them, and files written whole."""
