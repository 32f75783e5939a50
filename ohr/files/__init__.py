"""Reading and writing documents: OHRBench's JSON, PDF, images, text."""

MOST_PAGES = 100_000
"""No document has more; a larger number is a mistake, or made to exhaust whoever reads the file."""
