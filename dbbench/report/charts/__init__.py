"""Charts, drawn with matplotlib."""
