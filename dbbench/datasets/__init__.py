"""Datasets: drawn from a seed, streamed as Arrow batches, kept in the user's cache folder."""
