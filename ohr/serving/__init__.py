"""Servers: what `ohr view` and `ohr serve` have in common, and a finished run that answers questions."""
