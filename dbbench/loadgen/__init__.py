"""Timed loops, clients in threads and processes, and what each call takes."""
