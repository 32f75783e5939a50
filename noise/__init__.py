"""Noise: distortions of page images, and perturbations of page texts."""
