"""Image noise: distortions of page images."""
