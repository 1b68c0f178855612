"""From trial means to medians, intervals and ranks. No clock, no files, no engines."""
