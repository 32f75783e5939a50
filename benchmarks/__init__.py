"""Benchmarks: documents, page images, ground truth and questions."""
