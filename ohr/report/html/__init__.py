"""The report of runs as a page: one file that opens offline, or served from a folder of runs."""
