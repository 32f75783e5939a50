"""Noise: image distortions and text perturbations."""
