"""Retrievers that compare words: BM25 in three forms."""
