"""Calibration: the strength at which a noise reaches a target dose."""
