"""The built-in engines, one module each."""
