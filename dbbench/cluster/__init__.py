"""The clients of a step on several hosts, over Dask distributed: placing them, one start for all, and one result of all.

What measures is the same client processes as without a cluster. Dask's own processes carry words and watch over hosts.
"""
