"""Retrievers that search with an engine of its own files: indexes on disk, or where the user names."""
