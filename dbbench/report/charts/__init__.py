"""Charts: each kind makes a scene, which `svg` and `png` draw."""
