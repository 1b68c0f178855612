"""The right answers, computed without any engine under test, and how results are compared with them."""
