"""The clients of a step on several hosts, over Dask distributed: placing them, one start and one result for all.

What measures is the same client processes as without a cluster. Dask's own processes carry words and watch over hosts.
"""
