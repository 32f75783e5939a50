"""Executors: where steps run. Results are the same bytes from each of them, whatever the number of workers."""
