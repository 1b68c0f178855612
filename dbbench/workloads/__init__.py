"""One module for each kind of step. Each has `measure(step, bench)`, which holds the clock, and
`check(step, bench)`, which compares with what is known, outside it.
"""
