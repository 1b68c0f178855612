"""A history of runs: worded, drawn, and written for other programs."""
