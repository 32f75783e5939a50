"""The base of every step: keys in and out, time limits, and checks of what plugins return."""
