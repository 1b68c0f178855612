"""Access layers that give objects, each written once and put on top of the engines whose tables they read."""
